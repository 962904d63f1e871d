//! `VirtualMCPCompositeToolDefinition`: whether virtual servers can use it, and which ones do. Nothing is made for it,
//! and nothing is written on those who refer to it: they validate it for themselves.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::Kind;
use thv_api::conditions::virtual_mcp_composite_tool_definition::{
    Ready, Referenced, WorkflowValidated, polarity,
};
use thv_api::conditions::{Observation, Polarity, Reason, set};
use thv_api::kinds::{
    ValidationStatus, VirtualMCPCompositeToolDefinition, VirtualMCPCompositeToolDefinitionSpec,
    VirtualMCPCompositeToolDefinitionStatus, VirtualMCPServerSpec,
};
use thv_compose::{Rule, Workflow};

use crate::invalid::{Invalid, InvalidList};
use crate::live::Observe;
use crate::plan::{Children, Plan};
use crate::planned::{Deletion, Failure, Planned, Refers};
use crate::reference::{Reference, References, Target};
use crate::referrers;
use crate::settings::Settings;
use crate::snapshot::Snapshot;

/// How many virtual servers are named.
const NAMED: usize = 500;

impl Refers for VirtualMCPCompositeToolDefinitionSpec {
    const REFERS_TO: &'static [&'static str] = &[];

    fn refs(tool: &VirtualMCPCompositeToolDefinition, _: &References, _: &Settings) -> BTreeSet<Reference> {
        [Reference::referred_by::<Self>(tool.metadata.name.as_deref().unwrap_or_default())].into()
    }
}

impl Planned for VirtualMCPCompositeToolDefinitionSpec {
    type Live = ();

    // The Go operator has none for this kind, so it could not take one of ours away after a way back.
    const FINALIZER: Option<&'static str> = None;
    // Virtual servers see for themselves that a tool of theirs goes.
    const DELETION: Deletion<Self> = Deletion::Nothing;

    fn live(_: &VirtualMCPCompositeToolDefinition, _: &mut dyn Observe) {}

    fn plan(snapshot: &Snapshot<Self>) -> Plan<Self> {
        let live = snapshot.owner.status.as_ref().map(Self::conditions).unwrap_or_default();
        let observe = Observation::new(snapshot.generation(), snapshot.now, live);
        let referrers = snapshot.references.referred_by::<Self>(snapshot.name());
        Plan::new(Children::Exactly(Vec::new()), status(&snapshot.owner.spec, &observe, referrers))
    }

    fn failing_status(
        before: Option<&VirtualMCPCompositeToolDefinitionStatus>,
        observation: &Observation<'_>,
        failure: &Failure,
    ) -> VirtualMCPCompositeToolDefinitionStatus {
        let mut status = before.cloned().unwrap_or_default();
        let conditions = match failure {
            // Nothing but the status is written, so what is refused says nothing about the steps.
            Failure::Unknown(message) | Failure::Refused(message) => [
                observation.unknown(WorkflowValidated::Failed, message),
                observation.unknown(Ready::NotReady, message),
            ],
            Failure::Malformed(message) => {
                status.validation_status = Some(ValidationStatus::Invalid);
                status.validation_errors = Some(vec![message.clone()]);
                status.observed_generation = Some(observation.generation());
                [
                    observation.condition(WorkflowValidated::Failed, message),
                    observation.condition(Ready::NotReady, NOT_VALID),
                ]
            }
        };
        for condition in conditions {
            set(status.conditions.get_or_insert_default(), condition);
        }
        status
    }

    fn conditions(status: &VirtualMCPCompositeToolDefinitionStatus) -> &[Condition] {
        status.conditions.as_deref().unwrap_or_default()
    }

    fn conditions_mut(status: &mut VirtualMCPCompositeToolDefinitionStatus) -> &mut Option<Vec<Condition>> {
        &mut status.conditions
    }

    fn polarity(type_: &str) -> Polarity {
        polarity(type_)
    }

    /// Who refers to a tool changes with every one of them.
    fn urgent(status: &VirtualMCPCompositeToolDefinitionStatus) -> VirtualMCPCompositeToolDefinitionStatus {
        let VirtualMCPCompositeToolDefinitionStatus {
            mut conditions,
            observed_generation,
            validation_status,
            validation_errors,
            referencing_virtual_servers: _,
        } = status.clone();
        if let Some(conditions) = &mut conditions {
            conditions.retain(|condition| condition.type_ != Referenced::TYPE);
        }
        VirtualMCPCompositeToolDefinitionStatus {
            conditions,
            observed_generation,
            validation_status,
            validation_errors,
            referencing_virtual_servers: None,
        }
    }
}

const NOT_VALID: &str = "the definition is not valid: WorkflowValidated says why";

/// What is said of a tool to which these refer.
fn status(
    spec: &VirtualMCPCompositeToolDefinitionSpec,
    observe: &Observation<'_>,
    referrers: &[Target],
) -> VirtualMCPCompositeToolDefinitionStatus {
    let (validated, ready, errors) = match Workflow::new(spec) {
        Ok(workflow) => (
            observe.condition(WorkflowValidated::Success, usable(&workflow)),
            observe.condition(Ready::Ready, "virtual servers can use it"),
            None,
        ),
        Err(found) => {
            let reason = reason(found.iter().map(|error| error.rule));
            let mut all = InvalidList::default();
            all.below("spec", Err(found.into_iter().map(Invalid::from).collect()));
            let errors: Vec<String> = all.iter().map(ToString::to_string).collect();
            (
                observe.condition(reason, all.to_string()),
                observe.condition(Ready::NotReady, NOT_VALID),
                Some(errors),
            )
        }
    };
    let servers = referrers.iter().filter(|one| one.kind == VirtualMCPServerSpec::KIND);
    let servers: Vec<String> = servers.map(|one| one.name.clone()).take(NAMED).collect();
    VirtualMCPCompositeToolDefinitionStatus {
        conditions: Some(vec![validated, ready, referrers::condition(referrers, observe)]),
        observed_generation: Some(observe.generation()),
        validation_status: Some(match errors {
            None => ValidationStatus::Valid,
            Some(_) => ValidationStatus::Invalid,
        }),
        validation_errors: errors,
        // The API server makes nothing of a set whose last member is taken back, so nothing is what we ask for.
        referencing_virtual_servers: (!servers.is_empty()).then_some(servers),
    }
}

/// That a workflow can be used, and what to know about it.
fn usable(workflow: &Workflow) -> String {
    let steps = match workflow.steps().len() {
        1 => "the workflow of one step can be used".to_owned(),
        count => format!("the workflow of {count} steps can be used"),
    };
    let notes = workflow.notes().iter().map(|note| format!("spec.{note}"));
    [steps].into_iter().chain(notes).collect::<Vec<_>>().join("; ")
}

/// The reason for these: their own where they are of one sort.
fn reason(rules: impl Iterator<Item = Rule>) -> WorkflowValidated {
    let rules: BTreeSet<Rule> = rules.collect();
    match (rules.first(), rules.len()) {
        (Some(Rule::Schema), 1) => WorkflowValidated::SchemaInvalid,
        (Some(Rule::Template), 1) => WorkflowValidated::TemplateInvalid,
        (Some(Rule::Cycle), 1) => WorkflowValidated::DependencyCycle,
        _ => WorkflowValidated::Failed,
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::Timestamp;
    use serde_json::{Value, json};
    use thv_api::conditions::find;

    use super::*;

    fn spec(steps: Value) -> VirtualMCPCompositeToolDefinitionSpec {
        serde_json::from_value(json!({"name": "tool", "description": "Does it", "steps": steps})).unwrap()
    }

    fn target(kind: &'static str, name: &str) -> Target {
        Target { kind, name: name.to_owned() }
    }

    fn status_of(steps: Value, referrers: &[Target]) -> VirtualMCPCompositeToolDefinitionStatus {
        status(&spec(steps), &Observation::new(2, Timestamp::UNIX_EPOCH, &[]), referrers)
    }

    /// Reason and status of a condition.
    fn says<'a>(status: &'a VirtualMCPCompositeToolDefinitionStatus, type_: &str) -> (&'a str, &'a str) {
        let condition = find(status.conditions.as_deref().unwrap(), type_).unwrap();
        (&condition.reason, &condition.status)
    }

    #[test]
    fn a_valid_definition_is_ready_and_names_its_virtual_servers() {
        let referrers = [target("VirtualMCPServer", "a"), target("VirtualMCPServer", "b")];
        let status = status_of(json!([{"id": "a", "tool": "t"}]), &referrers);
        assert_eq!(status.validation_status, Some(ValidationStatus::Valid));
        assert_eq!(status.validation_errors, None);
        assert_eq!(status.observed_generation, Some(2));
        assert_eq!(status.referencing_virtual_servers, Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(says(&status, "WorkflowValidated"), ("ValidationSuccess", "True"));
        assert_eq!(says(&status, "Ready"), ("WorkflowReady", "True"));
        assert_eq!(says(&status, "Referenced"), ("Referenced", "True"));
        let conditions = status.conditions.unwrap();
        assert_eq!(conditions[0].message, "the workflow of one step can be used");
        assert_eq!(conditions[2].message, "VirtualMCPServer a, b");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_path_and_the_reason_of_its_sort() {
        let waits = |id: &str, other: &str| json!({"id": id, "tool": "t", "dependsOn": [other]});
        for (steps, reason, errors) in [
            (json!([]), "ValidationFailed", vec!["spec.steps"]),
            (
                json!([{"id": "a", "tool": "t", "arguments": {"q": "{{"}}]),
                "TemplateInvalid",
                vec!["spec.steps[0].arguments.q"],
            ),
            (
                json!([waits("a", "b"), waits("b", "a")]),
                "DependencyCycle",
                vec!["spec.steps[1].dependsOn[0]"],
            ),
            (
                json!([{"id": "a", "type": "elicitation", "message": "m", "schema": {"type": 1}}]),
                "SchemaInvalid",
                vec!["spec.steps[0].schema.type"],
            ),
            (
                json!([{"id": "a", "tool": "", "condition": "{{"}]),
                "ValidationFailed",
                vec!["spec.steps[0].condition", "spec.steps[0].tool"],
            ),
        ] {
            let status = status_of(steps, &[]);
            assert_eq!(status.validation_status, Some(ValidationStatus::Invalid));
            assert_eq!(says(&status, "WorkflowValidated"), (reason, "False"));
            assert_eq!(says(&status, "Ready"), ("WorkflowNotReady", "False"));
            let told = status.validation_errors.unwrap();
            let paths: Vec<_> = told.iter().map(|error| error.split(": ").next().unwrap()).collect();
            assert_eq!(paths, errors);
            assert_eq!(status.conditions.unwrap()[0].message, told.join("; "));
        }
    }

    #[test]
    fn what_is_probably_not_meant_is_told_with_the_good_news() {
        let status = status_of(json!([{"id": "a", "tool": "t", "message": "m"}]), &[]);
        assert_eq!(status.validation_status, Some(ValidationStatus::Valid));
        let message = &status.conditions.as_ref().unwrap()[0].message;
        assert!(
            message.ends_with("; spec.steps[0].message: has no effect on a step of type tool"),
            "{message}"
        );
    }

    #[test]
    fn who_refers_to_a_tool_is_not_urgent_and_its_validity_is() {
        type Spec = VirtualMCPCompositeToolDefinitionSpec;
        let fine = || json!([{"id": "a", "tool": "t"}]);
        let (none, one) = (status_of(fine(), &[]), status_of(fine(), &[target("VirtualMCPServer", "v")]));
        assert_ne!(none, one);
        assert_eq!(Spec::urgent(&none), Spec::urgent(&one));
        assert_ne!(Spec::urgent(&none), Spec::urgent(&status_of(json!([]), &[])));
    }

    #[test]
    fn a_failed_pass_makes_the_validity_unknown_and_a_malformed_object_is_invalid() {
        type Spec = VirtualMCPCompositeToolDefinitionSpec;
        let before = status_of(json!([{"id": "a", "tool": "t"}]), &[]);
        let observe = Observation::new(3, Timestamp::UNIX_EPOCH, &[]);
        let failing = |failure| Spec::failing_status(Some(&before), &observe, &failure);
        let unknown = failing(Failure::Unknown("no answer".to_owned()));
        assert_eq!(says(&unknown, "WorkflowValidated"), ("ValidationFailed", "Unknown"));
        assert_eq!(says(&unknown, "Ready"), ("WorkflowNotReady", "Unknown"));
        assert_eq!(unknown.observed_generation, Some(2));
        let malformed = failing(Failure::Malformed("spec.steps: missing".to_owned()));
        assert_eq!(malformed.validation_status, Some(ValidationStatus::Invalid));
        assert_eq!(malformed.validation_errors, Some(vec!["spec.steps: missing".to_owned()]));
        assert_eq!((says(&malformed, "Ready").1, malformed.observed_generation), ("False", Some(3)));
    }
}
