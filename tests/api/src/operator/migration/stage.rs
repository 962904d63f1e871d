//! A cluster of its own with an operator that looks after all of it and migrates stored objects, and a kind to migrate.

use std::time::Duration;

use anyhow::{Context, Result};
use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use serde_json::{Value, json};
use tests_fixture::{ACCOUNT, Reach, grant, install_kinds};
use thv_api::names::{GROUP, env, labels};
use thv_operator::rbac;
use thv_testbed::{Bed, Mark, Pattern, Recorder, Subject, SubjectBuilder, Verb, built_program, wait};
use tokio::time::timeout;

use super::super::alone::NAMESPACE;
use crate::fixture::{apply, resource_version, store_as, stored_versions};

/// The CRD of a kind that exists for these tests only, with the versions v1alpha1 and v1beta1.
pub(super) const RELICS: &str = "relics.toolhive.stacklok.dev";

/// Another, for the kind that does not opt in.
pub(super) const RUINS: &str = "ruins.toolhive.stacklok.dev";

/// What the operator is started with.
pub(super) const ON: (&str, &str) = (env::ENABLE_STORAGE_VERSION_MIGRATOR, "true");

/// How long the operator waits after a change of the storage version.
pub(super) const GRACE: Duration = Duration::from_secs(1);

/// A cluster, as an administrator sees it.
pub(super) struct Stage {
    pub(super) bed: Bed,
    pub(super) definitions: Api<CustomResourceDefinition>,
}

/// An operator behind a recorder.
pub(super) struct Operator {
    pub(super) recorder: Recorder,
    pub(super) subject: Subject,
}

impl Stage {
    /// All kinds, relics, and the rights that are shipped.
    pub(super) async fn new(bed: &Bed) -> Result<Self> {
        install_kinds(&bed.client()).await?;
        Box::pin(grant(&bed.client(), NAMESPACE, Reach::Cluster)).await?;
        let stage = Self { bed: bed.clone(), definitions: Api::all(bed.client()) };
        stage.grant_migrator(rbac::migrator_rules()).await?;
        stage.define("relics", "Relic", "true").await?;
        Ok(stage)
    }

    /// The same with so many relics, which are stored in v1alpha1, and an operator that has found nothing to migrate.
    pub(super) async fn with_relics(bed: &Bed, count: usize) -> Result<(Self, Operator)> {
        let stage = Self::new(bed).await?;
        stage.grant_test_kinds().await?;
        stage.make_relics(count).await?;
        let operator = stage.start(&[ON], &[]).await?;
        operator.recorder.seen(Mark::default(), &looks_at(RELICS)).await?;
        Ok((stage, operator))
    }

    /// Lets the migrator do the same with the kinds of these tests as with those that are shipped.
    pub(super) async fn grant_test_kinds(&self) -> Result<()> {
        let own = [
            json!({"apiGroups": [GROUP], "resources": ["relics", "ruins"], "verbs": ["get", "list", "patch"]}),
            json!({
                "apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions/status"],
                "resourceNames": [RELICS, RUINS], "verbs": ["patch"],
            }),
        ];
        self.grant_migrator([rbac::migrator_rules(), own.into()].concat()).await
    }

    /// Lets the migrator do this and nothing else.
    async fn grant_migrator(&self, rules: Vec<Value>) -> Result<()> {
        let (group, name) = ("rbac.authorization.k8s.io", rbac::MIGRATOR_ROLE);
        let object = |kind: &str| json!({"apiVersion": format!("{group}/v1"), "kind": kind, "metadata": {"name": name}});
        let mut role = object("ClusterRole");
        role["rules"] = json!(rules);
        apply::<ClusterRole>(&Api::all(self.bed.client()), name, "test", &role).await?;
        let mut binding = object("ClusterRoleBinding");
        binding["roleRef"] = json!({"apiGroup": group, "kind": "ClusterRole", "name": name});
        binding["subjects"] = json!([{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}]);
        apply::<ClusterRoleBinding>(&Api::all(self.bed.client()), name, "test", &binding).await?;
        Ok(())
    }

    /// Installs a kind that is stored in v1alpha1 and has this to say on whether it is to be migrated.
    pub(super) async fn define(&self, plural: &str, kind: &str, opts_in: &str) -> Result<()> {
        let version = |name: &str| {
            json!({
                "name": name, "served": true, "storage": name == "v1alpha1",
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                }}},
            })
        };
        let name = format!("{plural}.{GROUP}");
        let definition: CustomResourceDefinition = serde_json::from_value(json!({
            "metadata": {"name": name, "labels": {labels::AUTO_MIGRATE_STORAGE_VERSION: opts_in}},
            "spec": {
                "group": GROUP, "scope": "Namespaced",
                "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase()},
                "versions": [version("v1alpha1"), version("v1beta1")],
            },
        }))?;
        self.definitions.create(&PostParams::default(), &definition).await?;
        crate::crds::served(&self.definitions, &name).await
    }

    /// Relics as one version shows them.
    pub(super) fn relics(&self, version: &str) -> Api<DynamicObject> {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(GROUP, version, "Relic"));
        Api::namespaced_with(self.bed.client(), NAMESPACE, &resource)
    }

    pub(super) async fn make_relics(&self, count: usize) -> Result<()> {
        let api = self.relics("v1alpha1");
        let made = (0..count).map(async |number| {
            let name = relic(number);
            let body = json!({
                "apiVersion": format!("{GROUP}/v1alpha1"), "kind": "Relic",
                "metadata": {"name": name, "labels": {"number": number.to_string()}}, "spec": {"value": number},
            });
            apply(&api, &name, "user", &body).await.map(drop)
        });
        Ok(futures::stream::iter(made).buffer_unordered(8).try_collect().await?)
    }

    /// The resourceVersions of all relics, by the order of their names.
    pub(super) async fn versions(&self) -> Result<Vec<String>> {
        let list = self.relics("v1beta1").list(&ListParams::default()).await?;
        Ok(list.items.iter().map(resource_version).collect())
    }

    /// Has relics stored in this version from now on.
    pub(super) async fn store_relics_as(&self, version: &str) -> Result<()> {
        store_as(&self.definitions, RELICS, version).await.map(drop)
    }

    /// Has relics served in this version and no other, as a later release does.
    pub(super) async fn serve_relics_only_as(&self, version: &str) -> Result<()> {
        let mut versions = self.definitions.get(RELICS).await?.spec.versions;
        let former: Vec<_> = versions.extract_if(.., |served| served.name != version).collect();
        let removal = Patch::Merge(json!({"spec": {"versions": versions}}));
        self.definitions.patch(RELICS, &PatchParams::default(), &removal).await?;
        for former in former {
            let api = self.relics(&former.name);
            let asking = async {
                while api.list(&ListParams::default().limit(1)).await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            };
            timeout(wait::DEADLINE, asking).await.context("a former version is still served")?;
        }
        Ok(())
    }

    /// Starts an operator of the whole cluster with these environment variables and arguments.
    pub(super) async fn start(&self, environment: &[(&str, &str)], arguments: &[&str]) -> Result<Operator> {
        let recorder = Recorder::start(&self.bed).await?;
        let kubeconfig = recorder.kubeconfig_for(&self.bed.token_of(NAMESPACE, ACCOUNT).await?)?;
        let mut builder = SubjectBuilder::new(built_program("thv-operator")?)
            .args(["--health-probe-bind-address", "0", "--storage-migration-grace-period"])
            .args([format!("{}s", GRACE.as_secs())])
            .args(["--kubeconfig".into(), kubeconfig.into_os_string()])
            .args(arguments.iter().copied())
            .env(env::POD_NAMESPACE, NAMESPACE)
            .env(env::OPERATOR_OPENSHIFT, "false")
            .env("RUST_LOG", "info,thv_operator=debug");
        if !arguments.contains(&"--metrics-bind-address") {
            builder = builder.args(["--metrics-bind-address", "0"]);
        }
        for (name, value) in environment {
            builder = builder.env(name, *value);
        }
        Ok(Operator { recorder, subject: builder.start()? })
    }
}

impl Operator {
    /// Waits until the CRD says that objects are stored in this version only.
    pub(super) async fn trims(&self, stage: &Stage, crd: &str, version: &str) -> Result<()> {
        let is_trimmed = |definition: &CustomResourceDefinition| stored_versions(definition) == [version];
        let trimmed = wait::until(&stage.definitions, crd, "the former version is trimmed", is_trimmed).await;
        trimmed.map(drop).with_context(|| format!("the operator wrote:\n{}", self.subject.output()))
    }

    /// Waits until the operator has trimmed the versions of a CRD and has looked at it again, and so has nothing left to
    /// do about it.
    pub(super) async fn rests(&self, mark: Mark, crd: &str) -> Result<()> {
        let about = Pattern::any().of("customresourcedefinitions").named(crd);
        let looked = self.recorder.until(mark, &about, |log| {
            let told: Vec<_> = log.iter().filter(|request| request.told == Some(200)).collect();
            let trim = told.iter().rposition(|request| request.verb == Verb::MergePatch)?;
            told.iter().skip(trim).any(|request| request.verb == Verb::Get).then_some(())
        });
        looked.await.with_context(|| format!("the operator wrote:\n{}", self.subject.output()))
    }

    /// Waits until an Event with this reason was published, and returns it.
    pub(super) async fn event(&self, mark: Mark, reason: &str) -> Result<Value> {
        let published = Pattern::verb(Verb::Create).of("events");
        let found = self.recorder.until(mark, &published, |log| {
            let mut bodies =
                log.iter().filter(|request| request.told == Some(201)).filter_map(|it| it.body.clone());
            bodies.find(|event| event["reason"] == reason)
        });
        found.await.with_context(|| format!("the operator wrote:\n{}", self.subject.output()))
    }

    /// What the operator was told when it had a relic stored anew, one after the other.
    pub(super) fn rewrites(&self, mark: Mark, name: &str) -> Vec<Option<u16>> {
        let log = self.recorder.since(mark).only(&rewrites().named(name));
        log.iter().map(|request| request.told).collect()
    }
}

/// The name of a relic. Names are in the order of their numbers.
pub(super) fn relic(number: usize) -> String {
    format!("relic-{number:03}")
}

/// Relics that are stored anew.
pub(super) fn rewrites() -> Pattern {
    Pattern::verb(Verb::MergePatch).of("relics")
}

/// A live look at a CRD, with which every attempt to migrate begins.
pub(super) fn looks_at(crd: &str) -> Pattern {
    Pattern::verb(Verb::Get).of("customresourcedefinitions").named(crd)
}

/// The patch that trims the stored versions.
pub(super) fn trimming(crd: &str) -> Pattern {
    Pattern::verb(Verb::MergePatch).of("customresourcedefinitions").named(crd).subresource("status")
}
