//! What a document must fulfil before it is written, and before a virtual server runs by it.

mod auth_server;
mod incoming;
mod limits;
mod operation;
mod strategies;
mod tools;

use super::VmcpConfig;
use super::problem::{Invalid, Report};

impl VmcpConfig {
    /// Checks a document that has been [normalised](Self::normalise), and reports everything that is wrong
    /// with it. Whether its composite tools make sense, and its policies, is for others to say.
    pub fn validate(&self) -> Result<(), Invalid> {
        // Names every key, so that a new one is checked or passed over on purpose.
        let Self {
            name,
            group_ref,
            backends,
            incoming_auth,
            outgoing_auth,
            aggregation,
            composite_tools,
            composite_tool_refs,
            operational,
            metadata: _,
            telemetry,
            audit,
            optimizer,
            code_mode,
            session_storage,
            rate_limiting,
            passthrough_headers,
            auth_server,
        } = self;
        let mut report = Report::default();
        report.required(name, "name");
        report.required(group_ref, "groupRef");
        tools::check_backends(backends, outgoing_auth.source, &mut report);
        incoming::check(incoming_auth, &mut report);
        for (path, strategy) in outgoing_auth.strategies() {
            strategies::check(&path, strategy, &mut report);
        }
        tools::check_aggregation(aggregation, &mut report);
        tools::check_composites(composite_tools, composite_tool_refs, &mut report);
        operation::check_operational(operational, &mut report);
        if let Some(telemetry) = telemetry {
            operation::check_telemetry(telemetry, &mut report);
        }
        if let Some(audit) = audit {
            operation::check_audit(audit, &mut report);
        }
        if let Some(optimizer) = optimizer {
            operation::check_optimizer(optimizer, &mut report);
        }
        if let Some(code_mode) = code_mode {
            operation::check_code_mode(code_mode, &mut report);
        }
        if let Some(storage) = session_storage {
            limits::check_storage(storage, &mut report);
        }
        if let Some(limits) = rate_limiting {
            limits::check(limits, session_storage.as_ref(), &incoming_auth.callers, &mut report);
        }
        tools::check_passthrough(passthrough_headers, &mut report);
        auth_server::check(auth_server.as_ref(), incoming_auth, outgoing_auth, &mut report);
        report.finish()
    }
}

/// The number that a text of decimal digits stands for, such as `0.5`, `.5` or `1`.
fn decimal(text: &str) -> Option<f64> {
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    let (whole, fraction) = text.split_once('.').unwrap_or(("", text));
    let is_decimal = digits(whole) && digits(fraction) && !fraction.is_empty();
    is_decimal.then(|| text.parse().ok()).flatten()
}

/// What is wrong with the path of a file, which others have put where it is.
fn path_error(path: &str) -> Option<&'static str> {
    if !path.starts_with('/') {
        Some("is not an absolute path: begin it with /")
    } else if path.contains('\0') || path.split('/').any(|part| part == "..") {
        Some("is not a plain path: write it without .. and without control characters")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_have_digits_and_at_most_one_point() {
        for (text, number) in [("0", 0.0), ("1", 1.0), ("0.5", 0.5), (".25", 0.25), ("01.50", 1.5)] {
            assert_eq!(decimal(text), Some(number), "{text}");
        }
        for text in ["", ".", "1.", "-1", "+1", "1e3", "1.2.3", "NaN", "inf", " 1", "٣"] {
            assert_eq!(decimal(text), None, "{text}");
        }
    }

    #[test]
    fn paths_are_absolute_and_lead_nowhere_else() {
        assert_eq!(path_error("/etc/toolhive/ca-bundles/a..b/ca.crt"), None);
        for path in ["", "etc/ca.crt", "/etc/../root", "/a\0b", "/.."] {
            assert!(path_error(path).is_some(), "{path}");
        }
    }
}
