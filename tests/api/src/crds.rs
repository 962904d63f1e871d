//! The custom resource definitions under test.

use std::path::Path;
use std::time::Duration;
use std::{env, fs};

use anyhow::{Context, Result};
use http::Request;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::client::Body;
use kube::{Api, ResourceExt};
use serde_json::json;
use thv_testbed::{Space, in_namespace, wait};
use tokio::sync::Mutex;
use tokio::time::timeout;

/// Names a folder of CRDs to test instead of ours: another implementation's, to see whether it judges alike.
const OTHERS: &str = "THV_CORPUS_CRDS";

/// Definitions in their own group, shared by all tests of the process. Who comes first installs them, who leaves last
/// removes those that were not there before.
struct Shared {
    definitions: fn() -> Result<Vec<CustomResourceDefinition>>,
    users: Mutex<Users>,
}

struct Users {
    count: usize,
    ours: Vec<String>,
}

impl Shared {
    const fn new(definitions: fn() -> Result<Vec<CustomResourceDefinition>>) -> Self {
        Self { definitions, users: Mutex::const_new(Users { count: 0, ours: Vec::new() }) }
    }

    /// Has them served from here to the end of the test.
    async fn install(&'static self, space: &Space) -> Result<()> {
        let api: Api<CustomResourceDefinition> = Api::all(space.client());
        let mut users = self.users.lock().await;
        if users.count == 0 {
            let mut new = Vec::new();
            if let Err(error) = install_all(&api, &(self.definitions)()?, &mut new).await {
                remove(&api, &new).await?;
                return Err(error);
            }
            users.ours = new;
        }
        users.count += 1;
        drop(users);
        space.finally(async move {
            let mut users = self.users.lock().await;
            users.count -= 1;
            if users.count == 0 {
                remove(&api, &std::mem::take(&mut users.ours)).await?;
            }
            Ok(())
        });
        Ok(())
    }
}

static API: Shared = Shared::new(definitions);
static TEST_KINDS: Shared = Shared::new(|| Ok(tests_kinds::crds()));

/// Whether definitions other than ours are tested.
pub(crate) fn are_from_elsewhere() -> bool {
    env::var_os(OTHERS).is_some()
}

/// All definitions.
pub(crate) fn definitions() -> Result<Vec<CustomResourceDefinition>> {
    match env::var_os(OTHERS) {
        None => Ok(thv_api::crds()),
        Some(folder) => read(Path::new(&folder)),
    }
}

/// The definition of one kind.
pub(crate) fn definition(kind: &str) -> Result<CustomResourceDefinition> {
    let mut all = definitions()?.into_iter();
    all.find(|definition| definition.spec.names.kind == kind).with_context(|| format!("no CRD of {kind}"))
}

fn read(folder: &Path) -> Result<Vec<CustomResourceDefinition>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let file = entry?.path();
        let definition = serde_saphyr::from_str(&fs::read_to_string(&file)?);
        found.push(definition.with_context(|| format!("{} is not a CRD", file.display()))?);
    }
    Ok(found)
}

/// Installs a definition of the test's own, and has it removed with the test.
pub(crate) async fn install_own(space: &Space, definition: &CustomResourceDefinition) -> Result<()> {
    let api: Api<CustomResourceDefinition> = Api::all(space.client());
    let name = definition.name_any();
    let made = api.create(&PostParams::default(), definition).await;
    made.with_context(|| format!("cannot install {name}"))?;
    let (removal, removed) = (api.clone(), name.clone());
    space.finally(async move { remove(&removal, &[removed]).await });
    served(&api, &name).await
}

/// Has all definitions served, in their own group, from here to the end of the test.
pub(crate) async fn install(space: &Space) -> Result<()> {
    API.install(space).await
}

/// The same for the kinds that exist for tests only.
pub(crate) async fn install_test_kinds(space: &Space) -> Result<()> {
    TEST_KINDS.install(space).await
}

/// `new` gets the names of the definitions that were not there.
async fn install_all(
    api: &Api<CustomResourceDefinition>,
    all: &[CustomResourceDefinition],
    new: &mut Vec<String>,
) -> Result<()> {
    for definition in all {
        let name = definition.name_any();
        let known = api.get_metadata_opt(&name).await?.is_some();
        let manager = PatchParams::apply("tests-api").force();
        let applied = api.patch(&name, &manager, &Patch::Apply(definition)).await;
        applied.with_context(|| format!("cannot install {name}"))?;
        if !known {
            new.push(name);
        }
    }
    for definition in all {
        served(api, &definition.name_any()).await?;
    }
    Ok(())
}

/// Waits until the API server serves all versions of the kind.
pub(crate) async fn served(api: &Api<CustomResourceDefinition>, name: &str) -> Result<()> {
    let established =
        |definition: &CustomResourceDefinition| wait::has_condition(definition, "Established", "True");
    let definition = wait::until(api, name, "the kind is served", established).await?.spec;
    let plural = definition.names.plural;
    for version in definition.versions {
        // The part of the API server that serves it learns of the condition on its own, a moment later.
        let uri = format!("/apis/{}/{}/{plural}?limit=1", definition.group, version.name);
        let asking = async {
            while let Err(kube::Error::Api(status)) =
                api.clone().into_client().request_text(Request::get(&uri).body(Vec::new())?).await
                && status.code == 404
            {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            anyhow::Ok(())
        };
        timeout(wait::DEADLINE, asking).await.with_context(|| format!("{uri} is not served"))??;
    }
    Ok(())
}

/// Deletes definitions and waits until they are gone.
async fn remove(api: &Api<CustomResourceDefinition>, names: &[String]) -> Result<()> {
    for name in names {
        api.delete(name, &DeleteParams::default()).await.with_context(|| format!("cannot delete {name}"))?;
    }
    for name in names {
        wait::gone(api, name).await?;
    }
    Ok(())
}

#[tokio::test]
async fn all_are_installed_without_a_warning() {
    in_namespace(async |space| {
        for definition in definitions()? {
            let name = definition.name_any();
            let definition = serde_json::to_vec(&json!({
                "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": definition.metadata, "spec": definition.spec,
            }))?;
            let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
            let query = "fieldManager=tests-api&force=true&fieldValidation=Strict&dryRun=All";
            let request = Request::patch(format!("{path}/{name}?{query}"))
                .header("Content-Type", "application/apply-patch+yaml")
                .body(Body::from(definition))?;
            let answer = space.client().send(request).await?;
            let warnings: Vec<_> = answer.headers().get_all("Warning").iter().collect();
            assert!(answer.status().is_success(), "{name}: {}", answer.status());
            assert!(warnings.is_empty(), "{name}: {warnings:?}");
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn all_are_served_by_their_names() {
    in_namespace(async |space| {
        install(&space).await?;
        let api: Api<CustomResourceDefinition> = Api::all(space.client());
        for definition in definitions()? {
            let served = api.get(&definition.name_any()).await?;
            assert!(wait::has_condition(&served, "NamesAccepted", "True"), "{:?}", served.status);
            assert!(!wait::has_condition(&served, "NonStructuralSchema", "True"), "{:?}", served.status);
        }
        Ok(())
    })
    .await;
}
