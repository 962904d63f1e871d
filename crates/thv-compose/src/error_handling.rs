//! What a step does when it fails.

use std::time::Duration;

use thv_api::kinds::{StepErrorAction, StepErrorHandling};
use thv_api::value::GoDuration;

use crate::findings::Findings;
use crate::limits::{DEFAULT_RETRY_DELAY, MAX_RETRIES};

/// What to do when a step fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// The workflow fails.
    Abort,
    /// The workflow goes on with the default results of the step.
    Continue,
    /// The step is tried again, and then the workflow fails.
    Retry {
        /// How often, from 1 to [`MAX_RETRIES`].
        count: u32,
        /// How long to wait before the first time.
        delay: Duration,
    },
}

pub(crate) fn on_error(findings: &mut Findings, path: &str, handling: Option<&StepErrorHandling>) -> OnError {
    let Some(StepErrorHandling { action, retry_count, retry_delay }) = handling else {
        return OnError::Abort;
    };
    let count = retry_count.unwrap_or_default();
    let delay = duration(findings, &format!("{path}.retryDelay"), retry_delay.as_ref());
    match action {
        StepErrorAction::Retry => {
            let count_path = format!("{path}.retryCount");
            findings.unless(
                count >= 1,
                &count_path,
                "has to be 1 at least, so that there is another attempt",
            );
            if count > i64::from(MAX_RETRIES) {
                findings.note(&count_path, format!("no more than {MAX_RETRIES} further attempts are made"));
            }
            let count = u32::try_from(count).unwrap_or(MAX_RETRIES).clamp(1, MAX_RETRIES);
            OnError::Retry { count, delay: delay.unwrap_or(DEFAULT_RETRY_DELAY) }
        }
        StepErrorAction::Abort | StepErrorAction::Continue => {
            if retry_count.is_some_and(|count| count != 0) || delay.is_some() {
                findings.note(path, "retryCount and retryDelay have no effect unless action is retry");
            }
            if *action == StepErrorAction::Abort { OnError::Abort } else { OnError::Continue }
        }
    }
}

/// A duration that is set. None at all is what 0 means.
pub(crate) fn duration(findings: &mut Findings, path: &str, value: Option<&GoDuration>) -> Option<Duration> {
    let value = value?;
    findings.unless(value.as_nanos() >= 0, path, "is negative: leave it out, or set it to 0 or more");
    value.to_std().filter(|duration| !duration.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(action: StepErrorAction, retry_count: Option<i64>, delay: Option<&str>) -> (OnError, Findings) {
        let mut findings = Findings::default();
        let retry_delay = delay.map(|delay| delay.parse().unwrap());
        let handling = StepErrorHandling { action, retry_count, retry_delay };
        (on_error(&mut findings, "onError", Some(&handling)), findings)
    }

    #[test]
    fn attempts_are_bounded_and_delayed() {
        let (read, findings) = read(StepErrorAction::Retry, Some(3), None);
        assert_eq!(read, OnError::Retry { count: 3, delay: Duration::from_secs(1) });
        assert_eq!(findings.finish(), Ok(Vec::new()));
    }

    #[test]
    fn more_attempts_than_are_made_are_told() {
        let (read, findings) = read(StepErrorAction::Retry, Some(i64::MAX), Some("500ms"));
        assert_eq!(read, OnError::Retry { count: MAX_RETRIES, delay: Duration::from_millis(500) });
        assert_eq!(findings.finish().unwrap()[0].path, "onError.retryCount");
    }

    #[test]
    fn a_retry_needs_a_count_and_no_delay_is_negative() {
        let (_, findings) = read(StepErrorAction::Retry, None, Some("-1s"));
        let paths: Vec<_> = findings.finish().unwrap_err().into_iter().map(|error| error.path).collect();
        assert_eq!(paths, ["onError.retryDelay", "onError.retryCount"]);
    }

    #[test]
    fn a_count_without_a_retry_is_told() {
        let (read, findings) = read(StepErrorAction::Continue, Some(3), None);
        assert_eq!(read, OnError::Continue);
        assert_eq!(findings.finish().unwrap().len(), 1);
    }
}
