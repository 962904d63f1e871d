//! The programs that are operators, and what they need.

use std::collections::BTreeMap;

use anyhow::Result;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::json;
use tests_fixture::{ACCOUNT, Reach};
use tests_kinds::Depot;
use thv_testbed::{Recorder, Space, SubjectBuilder, built_program};

use super::rules::CASES;
use crate::crds;
use crate::fixture::apply;

/// A program that is an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Program {
    /// The one that is shipped.
    Shipped,
    /// The same, with two kinds more.
    WithTestKinds,
}

impl Program {
    const fn name(self) -> &'static str {
        match self {
            Self::Shipped => "thv-operator",
            Self::WithTestKinds => "thv-operator-with-test-kinds",
        }
    }

    /// Has everything there that it needs, from here to the end of the test.
    pub(crate) async fn prepare(self, space: &Space) -> Result<()> {
        crds::install(space).await?;
        grant(space).await?;
        let own = CASES.iter().filter(|case| case.program <= self);
        let mut kinds = own.map(|case| case.api(space)).collect::<Result<Vec<_>>>()?;
        if self == Self::WithTestKinds {
            crds::install_test_kinds(space).await?;
            grant_test_kinds(space).await?;
            kinds.push(Api::namespaced_with(
                space.client(),
                space.namespace(),
                &ApiResource::erase::<Depot>(&()),
            ));
        }
        for objects in kinds {
            space.finally(release(objects));
        }
        Ok(())
    }

    /// How to start it behind a recorder.
    pub(super) async fn builder(
        self,
        space: &Space,
        recorder: &Recorder,
        environment: &BTreeMap<&str, &str>,
        arguments: &[&str],
    ) -> Result<SubjectBuilder> {
        let kubeconfig = recorder.kubeconfig_for(&space.token_of(ACCOUNT).await?)?;
        let mut builder = SubjectBuilder::new(built_program(self.name())?)
            .args(["--kubeconfig".into(), kubeconfig.into_os_string()])
            .env("WATCH_NAMESPACE", space.namespace())
            .env("POD_NAMESPACE", space.namespace())
            .env("OPERATOR_OPENSHIFT", "false")
            .env("RUST_LOG", "info,thv_operator=debug");
        // Nothing is served unless the test says where. Rules edit what servers refer to by the hundred, and each edit is
        // a rollout that nobody asked for. What a status says is waited for.
        for (flag, value) in [
            ("--metrics-bind-address", "0"),
            ("--health-probe-bind-address", "0"),
            ("--max-rollouts-per-second", "1000"),
            ("--status-interval", "0s"),
        ] {
            if !arguments.contains(&flag) {
                builder = builder.args([flag, value]);
            }
        }
        for (name, value) in environment {
            builder = builder.env(name, *value);
        }
        Ok(builder.args(arguments.iter().copied()))
    }
}

/// The operator is gone by then, and a finalizer that nobody removes would keep the namespace.
pub(super) async fn release(objects: Api<DynamicObject>) -> Result<()> {
    let none = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    for object in objects.list_metadata(&ListParams::default()).await?.items {
        objects.patch_metadata(&object.name_any(), &PatchParams::default(), &none).await?;
    }
    Ok(())
}

/// The operator's account, with the rights of its own table and no others.
async fn grant(space: &Space) -> Result<()> {
    Box::pin(tests_fixture::grant(&space.client(), space.namespace(), Reach::Namespace)).await
}

/// What an operator of two kinds more may do in addition.
async fn grant_test_kinds(space: &Space) -> Result<()> {
    const NAME: &str = "test-kinds";
    let version = "rbac.authorization.k8s.io/v1";
    let role = json!({
        "apiVersion": version, "kind": "Role", "metadata": {"name": NAME}, "rules": tests_kinds::rules(),
    });
    apply(&space.api::<Role>(), NAME, "test", &role).await?;
    let binding = json!({
        "apiVersion": version, "kind": "RoleBinding", "metadata": {"name": NAME},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": NAME},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": space.namespace()}],
    });
    apply(&space.api::<RoleBinding>(), NAME, "test", &binding).await?;
    Ok(())
}
