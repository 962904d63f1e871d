use super::*;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn a_new_condition_starts_now() {
    let now = at("2026-01-02T03:04:05Z");
    let made =
        Observation::new(7, now, &[]).condition(mcp_server::StdioReplicaCapped::CapAt1, "one of three runs");
    assert_eq!(made.type_, "StdioReplicaCapped");
    assert_eq!(made.status, "True");
    assert_eq!(made.reason, "StdioTransportCapAt1");
    assert_eq!(made.message, "one of three runs");
    assert_eq!(made.observed_generation, Some(7));
    assert_eq!(made.last_transition_time.0, now);
}

#[test]
fn the_time_moves_only_when_the_status_flips() {
    use mcp_server::SessionStorageWarning::{Configured, Missing, NotApplicable};
    let (first, second) = (at("2026-01-01T00:00:00Z"), at("2026-01-02T00:00:00Z"));

    let live = [Observation::new(1, first, &[]).condition(Configured, "")];
    let same = Observation::new(2, second, &live).condition(NotApplicable, "another reason");
    assert_eq!(same.last_transition_time.0, first, "False to False");
    assert_eq!(
        (same.reason.as_str(), same.observed_generation),
        ("SessionStorageWarningNotApplicable", Some(2))
    );

    let flipped = Observation::new(2, second, &live).condition(Missing, "");
    assert_eq!(flipped.last_transition_time.0, second, "False to True");

    let unknown = Observation::new(2, second, &live).unknown(Configured, "");
    assert_eq!((unknown.status.as_str(), unknown.last_transition_time.0), ("Unknown", second));
}

#[test]
fn other_conditions_do_not_matter() {
    let (first, second) = (at("2026-01-01T00:00:00Z"), at("2026-01-02T00:00:00Z"));
    let live = [Observation::new(1, first, &[]).condition(mcp_server::Ready::NotReady, "")];
    let made = Observation::new(1, second, &live).condition(mcp_server::StdioReplicaCapped::NotActive, "");
    assert_eq!(made.last_transition_time.0, second);
}

#[test]
fn conditions_about_something_have_it_in_their_type() {
    let (first, second) = (at("2026-01-01T00:00:00Z"), at("2026-01-02T00:00:00Z"));
    let reason = virtual_mcp_server::BackendAuthConfig::Succeeded;
    let live = [Observation::new(1, first, &[]).about("fetch", reason, "")];
    assert_eq!(live[0].type_, "BackendAuthConfig-fetch");
    assert_eq!(Observation::new(1, second, &live).about("fetch", reason, "").last_transition_time.0, first);
    assert_eq!(Observation::new(1, second, &live).about("git", reason, "").last_transition_time.0, second);
}

#[test]
fn long_messages_are_cut_at_a_character() {
    let made = Observation::new(1, at("2026-01-01T00:00:00Z"), &[])
        .condition(mcp_server::Ready::NotReady, "\u{e9}".repeat(MAX_MESSAGE + 1));
    assert_eq!(made.message.chars().count(), MAX_MESSAGE);
}

#[test]
fn lookups_tell_absent_from_false() {
    let now = at("2026-01-01T00:00:00Z");
    let live = [Observation::new(1, now, &[]).condition(mcp_server::Ready::NotReady, "")];
    assert!(is_false(&live, "Ready") && !is_true(&live, "Ready"));
    assert!(!is_false(&live, "Valid") && !is_true(&live, "Valid"));
}

/// The API server refuses a status with any other reason.
#[test]
fn reasons_are_words() {
    fn check<R: Reason>(reasons: &[R]) {
        for reason in reasons {
            let text = reason.as_str();
            assert!(!text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric()), "{text}");
            assert!(text.starts_with(|c: char| c.is_ascii_alphabetic()), "{text}");
            assert_ne!(reason.status(), Status::Unknown, "{text}");
        }
    }
    check(mcp_server::Ready::ALL);
    check(mcp_server::ExternalAuthConfigValidated::ALL);
    check(mcp_server::RateLimitConfigValid::ALL);
    check(mcp_remote_proxy::ConfigurationValid::ALL);
    check(mcp_remote_proxy::ToolConfigValidated::ALL);
    check(mcp_server_entry::ExternalAuthConfigValidated::ALL);
    check(mcp_group::MCPServersChecked::ALL);
    check(mcp_registry::Ready::ALL);
    check(embedding_server::ModelReady::ALL);
    check(virtual_mcp_composite_tool_definition::WorkflowValidated::ALL);
    check(virtual_mcp_server::Ready::ALL);
    check(virtual_mcp_server::AuthServerConfigValidated::ALL);
    check(virtual_mcp_server::DiscoveredAuthConfig::ALL);
    check(config::DeletionBlocked::ALL);
    check(config::external_auth::Valid::ALL);
}
