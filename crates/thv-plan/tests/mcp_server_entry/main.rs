//! What is said of an `MCPServerEntry`: snapshots in, statuses out.

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use serde_json::{Value, json};
    use thv_api::kinds::{
        MCPExternalAuthConfig, MCPExternalAuthConfigSpec, MCPGroup, MCPGroupSpec, MCPServerEntry,
        MCPServerEntrySpec, MCPServerEntryStatus,
    };
    use thv_plan::{
        Children, Planned as _, Read, Reference, References, Referent, Refers as _, Settings, Snapshot,
    };

    /// An entry with these fields, in a group that exists.
    fn entry(fields: Value) -> Snapshot<MCPServerEntrySpec> {
        let mut spec = json!({
            "remoteUrl": "https://mcp.example.com/mcp", "transport": "streamable-http", "groupRef": {"name": "tools"},
        });
        spec.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let entry = json!({"metadata": {"name": "far", "namespace": "fleet", "generation": 3}, "spec": spec});
        let entry: MCPServerEntry = serde_json::from_value(entry).unwrap();
        let mut references = References::new();
        let group = MCPGroup::new("tools", MCPGroupSpec::default());
        references.insert(Reference::object::<MCPGroupSpec>("tools"), Read::Found(Referent::object(group)));
        Snapshot {
            owner: Arc::new(entry),
            references,
            live: (),
            requested: BTreeMap::new(),
            settings: Arc::new(Settings::default()),
            now: "2026-11-15T10:00:00Z".parse().unwrap(),
        }
    }

    fn auth(snapshot: &mut Snapshot<MCPServerEntrySpec>, spec: Value) {
        let object: MCPExternalAuthConfig =
            serde_json::from_value(json!({"metadata": {"name": "auth"}, "spec": spec})).unwrap();
        let found = Read::Found(Referent::object(object));
        snapshot.references.insert(Reference::object::<MCPExternalAuthConfigSpec>("auth"), found);
    }

    fn secret(snapshot: &mut Snapshot<MCPServerEntrySpec>, keys: &[(&str, &str)]) {
        let found = Read::Found(Referent::secret("uid", keys.iter().copied()));
        snapshot.references.insert(Reference::secret("keys"), found);
    }

    /// The status, with nothing else to do about an entry.
    fn status(snapshot: &Snapshot<MCPServerEntrySpec>) -> MCPServerEntryStatus {
        let plan = MCPServerEntrySpec::plan(snapshot);
        assert_eq!(plan.children, Children::Exactly(Vec::new()));
        assert_eq!(plan.status.observed_generation, Some(3));
        plan.status
    }

    fn condition(status: &MCPServerEntryStatus, type_: &str) -> Option<(String, String)> {
        let mut all = status.conditions.iter().flatten();
        all.find(|one| one.type_ == type_).map(|one| (one.status.clone(), one.reason.clone()))
    }

    #[track_caller]
    fn assert_fails(snapshot: &Snapshot<MCPServerEntrySpec>, type_: &str, reason: &str) {
        let status = status(snapshot);
        assert_eq!(condition(&status, type_), Some(("False".to_owned(), reason.to_owned())));
        assert_eq!(condition(&status, "Valid"), Some(("False".to_owned(), "ConfigInvalid".to_owned())));
        assert_eq!(status.phase.unwrap().as_str(), "Failed");
    }

    #[test]
    fn a_plain_entry_is_valid_and_says_what_it_does_without() {
        let status = status(&entry(json!({})));
        assert_eq!(status.phase.unwrap().as_str(), "Valid");
        for (type_, reason) in [
            ("Valid", "ConfigValid"),
            ("RemoteURLValidated", "RemoteURLValid"),
            ("GroupRefValidated", "GroupRefIsValid"),
            ("ExternalAuthConfigValidated", "AuthConfigNotConfigured"),
            ("CABundleRefValidated", "CABundleRefNotConfigured"),
        ] {
            assert_eq!(condition(&status, type_), Some(("True".to_owned(), reason.to_owned())), "{type_}");
        }
        assert_eq!(condition(&status, "HeaderSecretRefsValidated"), None);
    }

    #[test]
    fn a_url_that_leads_inside_is_refused_and_a_private_one_has_to_be_meant() {
        for url in [
            "http://127.0.0.1/",
            "http://169.254.169.254/",
            "https://kubernetes.default.svc/",
            "http://[::1]/",
        ] {
            let meant = entry(json!({"remoteUrl": url, "allowPrivateEndpoint": true}));
            assert_fails(&meant, "RemoteURLValidated", "RemoteURLInvalid");
        }
        let url = json!({"remoteUrl": "https://10.0.0.7/mcp"});
        assert_fails(&entry(url), "RemoteURLValidated", "RemoteURLInvalid");
        let meant = json!({"remoteUrl": "https://10.0.0.7/mcp", "allowPrivateEndpoint": true});
        assert_eq!(status(&entry(meant)).phase.unwrap().as_str(), "Valid");
    }

    #[test]
    fn a_group_that_is_missing_is_told() {
        assert_fails(&entry(json!({"groupRef": {"name": "gone"}})), "GroupRefValidated", "GroupRefNotFound");
    }

    #[test]
    fn settings_to_sign_in_have_to_be_there_complete_and_of_a_type_that_a_gateway_knows() {
        let mut snapshot = entry(json!({"externalAuthConfigRef": {"name": "auth"}}));
        let type_ = "ExternalAuthConfigValidated";
        assert_fails(&snapshot, type_, "AuthConfigNotFound");
        let key = json!({"name": "keys", "key": "k"});
        auth(&mut snapshot, json!({"type": "bearerToken", "bearerToken": {"tokenSecretRef": key}}));
        assert_fails(&snapshot, type_, "AuthConfigInvalid");
        auth(&mut snapshot, json!({"type": "obo", "obo": {}}));
        assert_fails(&snapshot, type_, "AuthConfigInvalid");
        let header = json!({"headerName": "X-Key", "valueSecretRef": key});
        auth(&mut snapshot, json!({"type": "headerInjection", "headerInjection": header}));
        let asked = MCPServerEntrySpec::refs(&snapshot.owner, &snapshot.references, &snapshot.settings);
        assert!(asked.contains(&Reference::secret("keys")), "{asked:?}");
        assert_fails(&snapshot, type_, "AuthConfigInvalid");
        secret(&mut snapshot, &[("k", "1")]);
        assert_eq!(
            condition(&status(&snapshot), type_),
            Some(("True".to_owned(), "AuthConfigValid".to_owned()))
        );
    }

    #[test]
    fn certificate_authorities_and_secrets_of_headers_have_to_be_there_with_their_keys() {
        let bundle = json!({"caBundleRef": {"configMapRef": {"name": "ca", "key": "ca.crt"}}});
        let mut snapshot = entry(bundle);
        assert_fails(&snapshot, "CABundleRefValidated", "CABundleRefNotFound");
        let data = |key: &str| {
            Read::Found(Referent::ConfigMap(Arc::new(BTreeMap::from([(key.to_owned(), String::new())]))))
        };
        snapshot.references.insert(Reference::config_map("ca"), data("other"));
        assert_fails(&snapshot, "CABundleRefValidated", "CABundleRefInvalid");
        snapshot.references.insert(Reference::config_map("ca"), data("ca.crt"));
        assert_eq!(status(&snapshot).phase.unwrap().as_str(), "Valid");

        let header = json!([{"headerName": "X-Key", "valueSecretRef": {"name": "keys", "key": "k"}}]);
        let mut snapshot = entry(json!({"headerForward": {"addHeadersFromSecret": header}}));
        assert_fails(&snapshot, "HeaderSecretRefsValidated", "HeaderSecretNotFound");
        secret(&mut snapshot, &[("other", "1")]);
        assert_fails(&snapshot, "HeaderSecretRefsValidated", "HeaderSecretNotFound");
        secret(&mut snapshot, &[("k", "hush")]);
        let fine = status(&snapshot);
        assert_eq!(fine.phase.unwrap().as_str(), "Valid");
        assert!(!format!("{fine:?}").contains("hush"));
        let plain = entry(json!({"headerForward": {"addPlaintextHeaders": {"Host": "h"}}}));
        assert_fails(&plain, "HeaderSecretRefsValidated", "HeaderForwardInvalid");
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let all = entry(json!({"remoteUrl": "http://localhost/", "groupRef": {"name": "gone"}}));
        let status = status(&all);
        let valid = status.conditions.iter().flatten().find(|one| one.type_ == "Valid").unwrap();
        assert!(
            valid.message.contains("spec.remoteUrl") && valid.message.contains("gone"),
            "{}",
            valid.message
        );
    }
}
