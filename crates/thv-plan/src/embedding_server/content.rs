//! What an embedding server becomes.

use serde_json::{Value, json};
use thv_api::kinds::{EmbeddingServerSpec, ModelCache};
use thv_api::names::children::embedding_server;
use thv_api::names::{containers, labels};

use super::claims::{self, Claims};
use super::overrides::Overrides;
use super::pod::Pod;
use super::stateful_set_of;
use crate::child::{Child, ChildKind};
use crate::invalid::Invalid;
use crate::live::Fixed;
use crate::metadata::{Metadata, OnClaims, OnPods, OnService, OnStatefulSet, Pairs};
use crate::overrides::IgnoredOverrides;
use crate::owner::Owner;
use crate::pod_template;
use crate::pull_secrets::PullSecrets;
use crate::service;
use crate::snapshot::Snapshot;

/// What an embedding server becomes.
#[derive(Debug)]
pub(super) struct Content {
    /// The children, in the order in which they are applied.
    pub(super) children: Vec<Child>,
    /// The overrides that are ignored.
    pub(super) ignored: IgnoredOverrides,
    /// What cannot be changed and stays, a sentence each.
    pub(super) kept: Vec<String>,
}

/// What an embedding server becomes, or what is wrong with its pod template.
pub(super) fn content(snapshot: &Snapshot<EmbeddingServerSpec>) -> Result<Content, Invalid> {
    let (name, spec) = (snapshot.name(), &snapshot.owner.spec);
    let owner = Owner::from(snapshot.owner.as_ref());
    let labels = labels::embedding_server(name);
    let overrides = Overrides::new(spec.resource_overrides.as_ref());
    let live = stateful_set_of(snapshot).and_then(|live| live.fixed.as_deref());
    let mut ignored = IgnoredOverrides::default();

    let on_claims =
        Metadata::<OnClaims>::new(labels.clone(), Pairs::new()).with(&overrides.claims, &mut ignored);
    let cache = spec.model_cache.as_ref().filter(|ModelCache { enabled, .. }| *enabled);
    let claims = claims::claims(cache.map(|cache| claims::template(cache, &on_claims)), live);
    let fixed = Place::of(name, &labels, live);

    let pod = Pod {
        spec,
        metadata: Metadata::<OnPods>::new(fixed.labels.clone(), Pairs::new())
            .with(&overrides.pods, &mut ignored),
        pull_secrets: PullSecrets::new([], &snapshot.settings).all().to_vec(),
        has_cache: cache.is_some() && claims.has_cache(),
    };
    let template = pod.template(&mut ignored);
    let user = spec.pod_template_spec.as_ref();
    let template = pod_template::apply(template, user, containers::EMBEDDING, &fixed.labels, &mut ignored)?;

    let on_service =
        Metadata::<OnService>::new(labels.clone(), Pairs::new()).with(&overrides.service, &mut ignored);
    let body = json!({ "metadata": on_service.render(), "spec": service::spec(&labels, spec.port) });
    let service = owner.child(ChildKind::Service, &embedding_server::service(name), body, labels.clone());

    let on_set = Metadata::<OnStatefulSet>::new(labels.clone(), Pairs::new())
        .with(&overrides.stateful_set, &mut ignored);
    let Claims { templates, kept } = claims;
    let body = json!({
        "metadata": on_set.render(),
        "spec": set_spec(spec.replicas, &fixed, template, templates),
    });
    let set = owner.child(ChildKind::StatefulSet, &embedding_server::stateful_set(name), body, labels);
    let kept = kept.into_iter().chain(fixed.kept).collect();
    Ok(Content { children: vec![service, set], ignored, kept })
}

fn set_spec(replicas: i32, place: &Place, template: Value, claims: Vec<Value>) -> Value {
    let mut spec = json!({
        "replicas": replicas,
        "serviceName": place.service,
        "selector": place.selector,
        "template": template,
    });
    if let Some(spec) = spec.as_object_mut().filter(|_| !claims.is_empty()) {
        spec.insert("volumeClaimTemplates".to_owned(), claims.into());
    }
    spec
}

/// How the pods are found. Nobody can change that in a StatefulSet that is there. The Go operator has put labels of the
/// user's into the selector, and pods without them would not be its own.
struct Place {
    service: String,
    selector: Value,
    /// The labels that pods have to have.
    labels: Pairs,
    kept: Vec<String>,
}

impl Place {
    fn of(name: &str, ours: &Pairs, live: Option<&Fixed>) -> Self {
        let (service, selector) = (embedding_server::service(name), json!({ "matchLabels": ours }));
        let mut place = Self { service, selector, labels: ours.clone(), kept: Vec::new() };
        let Some(Fixed { service_name, selector, volume_claim_templates: _ }) = live else { return place };
        if *service_name != place.service {
            place.kept.push(format!("serviceName of the StatefulSet stays {service_name:?}"));
            place.service.clone_from(service_name);
        }
        if *selector != place.selector {
            let pairs = selector.get("matchLabels").and_then(Value::as_object).into_iter().flatten();
            let pairs = pairs.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
            place.labels.extend(pairs);
            place.kept.push(format!("the selector of the StatefulSet stays {selector}"));
            place.selector = selector.clone();
        }
        place
    }
}
