//! What the API server says to an object.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use futures::{StreamExt, stream};
use http::{Method, Request};
use kube::Client;
use kube::core::Status;
use serde_json::{Value, json};
use thv_testbed::Space;

use crate::corpus::path::{join, leaves};
use crate::corpus::{Case, Cause, Defaulting};

/// Dry runs are cheap; this many at a time keep two cores busy.
const AT_ONCE: usize = 4;

/// Where the objects of one version of one kind are created.
#[derive(Clone)]
pub(crate) struct Endpoint {
    pub(crate) client: Client,
    pub(crate) namespace: String,
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) plural: String,
}

/// What became of an object.
#[derive(Debug)]
pub(crate) enum Verdict {
    Accepted(Value),
    Rejected(Vec<Cause>),
}

impl Endpoint {
    pub(crate) fn new(space: &Space, group: &str, version: &str, plural: &str) -> Self {
        let (group, version, plural) = (group.to_owned(), version.to_owned(), plural.to_owned());
        Self { client: space.client(), namespace: space.namespace().to_owned(), group, version, plural }
    }

    /// What the API server says to each case.
    pub(crate) async fn judge<'a>(
        &self,
        cases: impl IntoIterator<Item = &'a Case>,
    ) -> Result<Vec<(&'a Case, Verdict)>> {
        let cases: Vec<&Case> = cases.into_iter().collect();
        let hosts = self.hosts(&cases).await?;
        let answers = cases.into_iter().map(|case| {
            let host = hosts.get(&without_status(case).to_string()).cloned();
            async move { Ok((case, self.judge_one(case, host).await?)) }
        });
        stream::iter(answers).buffer_unordered(AT_ONCE).collect::<Vec<_>>().await.into_iter().collect()
    }

    /// A status is only looked at in an object that exists. So make one for each spec that a status comes with.
    async fn hosts(&self, cases: &[&Case]) -> Result<BTreeMap<String, String>> {
        let mut hosts = BTreeMap::new();
        for case in cases.iter().filter(|case| has_status(case)) {
            let object = without_status(case);
            let key = object.to_string();
            if hosts.contains_key(&key) {
                continue;
            }
            let body = self.named(&object, json!({"generateName": "host-"}), &case.kind);
            let made = self.send(Method::POST, "", "fieldValidation=Strict", &body).await?;
            let Verdict::Accepted(made) = made else {
                anyhow::bail!("{}: cannot make an object to put the status in: {made:?}", case.name);
            };
            let name = made["metadata"]["name"].as_str().context("the object has no name")?.to_owned();
            hosts.insert(key, name);
        }
        Ok(hosts)
    }

    async fn judge_one(&self, case: &Case, host: Option<String>) -> Result<Verdict> {
        let dry = "dryRun=All&fieldValidation=Strict";
        match host {
            Some(host) if has_status(case) => {
                let body = json!({"status": case.object["status"]});
                self.send(Method::PATCH, &format!("/{host}/status"), dry, &body).await
            }
            _ => {
                let body = self.named(&case.object, json!({"name": "case"}), &case.kind);
                self.send(Method::POST, "", dry, &body).await
            }
        }
    }

    fn named(&self, object: &Value, metadata: Value, kind: &str) -> Value {
        let mut body = object.clone();
        body["apiVersion"] = format!("{}/{}", self.group, self.version).into();
        body["kind"] = kind.into();
        body["metadata"] = metadata;
        body
    }

    async fn send(&self, method: Method, path: &str, query: &str, body: &Value) -> Result<Verdict> {
        let Self { namespace, group, version, plural, .. } = self;
        let uri = format!("/apis/{group}/{version}/namespaces/{namespace}/{plural}{path}?{query}");
        let content =
            if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
        let request = Request::builder().method(method).uri(&uri).header("Content-Type", content);
        match self.client.request(request.body(serde_json::to_vec(body)?)?).await {
            Ok(object) => Ok(Verdict::Accepted(object)),
            Err(kube::Error::Api(status)) if matches!(status.code, 400 | 422) => {
                Ok(Verdict::Rejected(causes(&status)))
            }
            Err(error) => Err(error).with_context(|| format!("{uri} failed")),
        }
    }
}

fn has_status(case: &Case) -> bool {
    case.object.get("status").is_some()
}

fn without_status(case: &Case) -> Value {
    let mut object = case.object.clone();
    object.as_object_mut().expect("an object").remove("status");
    object
}

/// The reasons of a rejection, each with the path of a field.
fn causes(status: &Status) -> Vec<Cause> {
    // Unknown fields are found while the object is decoded, and are only named in the message.
    if let Some((_, fields)) = status.message.split_once("strict decoding error: ") {
        let unknown = fields.split(", ").map(|text| Cause {
            field: text.trim_start_matches("unknown field ").trim_matches('"').to_owned(),
            message: text.to_owned(),
        });
        return unknown.collect();
    }
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let causes = causes.filter(|cause| !cause.message.contains("some validation rules were not checked"));
    let cause = |cause: &kube::core::response::StatusCause| {
        // The formats of numbers are checked for the object as a whole, or for its status as a whole.
        let field = match cause.message.split_once(" with format int32 in ") {
            Some((_, inner)) => join(cause.field.trim_start_matches("<nil>"), inner),
            None => cause.field.clone(),
        };
        Cause { field, message: cause.message.clone() }
    };
    causes.map(cause).collect()
}

/// What is wrong with a verdict, if anything.
pub(crate) fn complaint(case: &Case, verdict: &Verdict) -> Option<String> {
    match verdict {
        Verdict::Accepted(object) if case.causes.is_empty() => {
            let got = leaves(object);
            let lost = leaves(&case.object).into_iter().find(|(path, value)| {
                // What was empty may have been filled with defaults.
                let empty = value.as_object().is_some_and(serde_json::Map::is_empty);
                !empty && got.get(path) != Some(value)
            });
            lost.map(|(path, value)| format!("accepted, but {path} was not kept as {value}"))
        }
        Verdict::Accepted(_) => Some(format!("accepted, instead of rejected for {}", list(&case.causes))),
        Verdict::Rejected(causes) if case.causes.is_empty() => Some(format!("rejected for {}", list(causes))),
        Verdict::Rejected(causes) => (!same(&case.causes, causes))
            .then(|| format!("rejected for {}, instead of {}", list(causes), list(&case.causes))),
    }
}

/// Each reason that was expected was given, and no other.
fn same(expected: &[Cause], given: &[Cause]) -> bool {
    let fits = |expected: &Cause, given: &Cause| {
        expected.field == given.field && given.message.contains(&expected.message)
    };
    expected.len() == given.len()
        && expected.iter().all(|expected| given.iter().any(|given| fits(expected, given)))
        && given.iter().all(|given| expected.iter().any(|expected| fits(expected, given)))
}

fn list(causes: &[Cause]) -> String {
    let causes = causes.iter().map(|cause| format!("`{}`: {}", cause.field, cause.message));
    causes.collect::<Vec<_>>().join(" and ")
}

/// How the additions to an object differ from those that it should have got.
pub(crate) fn wrong_additions(defaulting: &Defaulting, verdict: &Verdict) -> Vec<String> {
    let Verdict::Accepted(object) = verdict else { return vec![format!("{verdict:?}")] };
    let sent = leaves(&defaulting.case.object);
    let mut added = leaves(object);
    added.retain(|path, _| {
        let ours = ["apiVersion", "kind", "metadata"].iter().any(|field| path.starts_with(field));
        !ours && !sent.contains_key(path) && path.starts_with(&defaulting.at)
    });
    let missing = defaulting.adds.iter().filter(|(path, value)| added.get(*path) != Some(value));
    let extra = added.iter().filter(|(path, value)| defaulting.adds.get(*path) != Some(value));
    let missing = missing.map(|(path, value)| format!("{path} did not become {value}"));
    missing.chain(extra.map(|(path, value)| format!("{path} became {value}"))).collect()
}
