//! Events, as the API server takes them.

use std::collections::BTreeMap;

use anyhow::Context;
use k8s_openapi::api::core::v1::Event;
use kube::api::ListParams;
use serde_json::json;
use thv_api::conditions::mcp_server::SpecValid;
use thv_api::conditions::{Reason, find};
use thv_testbed::{Pattern, Verb, in_namespace};

use super::{Operator, minimal};

/// The longest note that the API server takes.
const LONGEST: usize = 1024;

#[tokio::test]
async fn an_event_whose_note_is_too_long_for_the_api_server_arrives_cut_short() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        operator.server("s", minimal()).await?;
        let mark = operator.recorder.mark();
        // Each is told with its place, so that together they are longer than any note.
        let labels: BTreeMap<_, _> = (0..40).map(|count| (format!("schlüssel {count}"), "x")).collect();
        let overrides = json!({"resourceOverrides": {"proxyService": {"labels": labels}}});
        let server = operator.edit("s", json!({"spec": overrides})).await?;
        let conditions = server.status.and_then(|status| status.conditions).unwrap_or_default();
        let message = find(&conditions, SpecValid::TYPE).context("no condition")?.message.clone();
        assert!(message.len() > LONGEST, "{message}");

        let sent = operator.recorder.seen(mark, &Pattern::verb(Verb::Create).of("events")).await?;
        assert_eq!((sent.answered, sent.told), (Some(201), Some(201)), "{sent}");
        let about = format!("involvedObject.name=s,reason={}", SpecValid::Invalid.as_str());
        let events = space.api::<Event>().list(&ListParams::default().fields(&about)).await?.items;
        assert_eq!(events.len(), 1, "{events:?}");
        let note = events[0].message.as_deref().context("no note")?;
        assert!(note.len() <= LONGEST, "{}: {note}", note.len());
        let kept = note.strip_suffix('…').context("nothing says that it is cut")?;
        assert!(message.starts_with(kept), "{kept}");
        Ok(())
    })
    .await;
}
