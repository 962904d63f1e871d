//! Bodies: whole ones, passed-through ones, and watches whose events can be held and lost.

use std::convert::Infallible;

use bytes::{Bytes, BytesMut};
use futures::channel::mpsc;
use futures::{SinkExt, StreamExt};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, BodyStream, Full, StreamBody};
use hyper::body::Frame;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use kube::client::Body as KubeBody;
use serde_json::json;
use tokio::sync::watch::Receiver;

use super::fault::{Cuts, WatchGate};

pub(super) type Body = BoxBody<Bytes, anyhow::Error>;

/// A body that is known to its end.
pub(super) fn whole(bytes: Bytes) -> Body {
    Full::new(bytes).map_err(|never: Infallible| match never {}).boxed()
}

/// A body as it comes.
pub(super) fn through(body: KubeBody) -> Body {
    watch(body, Vec::new())
}

/// A body of lines, each an event, which arrive as `gates` allow.
pub(super) fn watch(body: KubeBody, gates: Vec<WatchGate>) -> Body {
    let (mut events, received) = mpsc::channel(1);
    tokio::spawn(async move {
        let cuts: Vec<_> = gates.iter().map(WatchGate::cuts).collect();
        let is_expiry = tokio::select! {
            // An event that is held is lost with the watch, even if it is released at the same time.
            biased;
            is_expiry = cut(cuts) => is_expiry,
            () = pump(body, &gates, events.clone()) => false,
        };
        if is_expiry {
            // Whether the client is still there to hear it is its own affair.
            let _ = events.send(expired()).await;
        }
    });
    let frames = received.map(|bytes| anyhow::Ok(Frame::data(bytes)));
    // A channel's receiver can be polled from one place at a time, which is what a body is for.
    BodyExt::boxed(StreamBody::new(frames))
}

/// Waits until one of the gates is cut; then whether it is for having expired.
async fn cut(mut cuts: Vec<Receiver<Cuts>>) -> bool {
    if cuts.is_empty() {
        return std::future::pending().await;
    }
    let waits = cuts.iter_mut().map(|cut| Box::pin(cut.changed()));
    let (_, index, _) = futures::future::select_all(waits).await;
    cuts.get(index).is_some_and(|cut| cut.borrow().is_expiry)
}

/// The event that tells a client that the API server does not know any more where its watch was.
fn expired() -> Bytes {
    let status = json!({
        "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
        "code": 410, "reason": "Expired", "message": "too old resource version",
    });
    let mut line = json!({"type": "ERROR", "object": status}).to_string();
    line.push('\n');
    line.into()
}

/// Passes events on until the body or the client ends.
async fn pump(body: KubeBody, gates: &[WatchGate], mut events: mpsc::Sender<Bytes>) {
    let mut frames = BodyStream::new(body);
    let mut buffer = BytesMut::new();
    while let Some(Ok(frame)) = frames.next().await {
        let Ok(data) = frame.into_data() else { continue };
        if gates.is_empty() {
            if events.send(data).await.is_err() {
                return;
            }
            continue;
        }
        buffer.extend_from_slice(&data);
        while let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
            let event = buffer.split_to(end + 1).freeze();
            let mut passes = true;
            for gate in gates {
                passes &= gate.passes(&event).await;
            }
            if passes && events.send(event).await.is_err() {
                return;
            }
        }
    }
}

/// Connects two upgraded connections, as for attach and exec.
pub(super) async fn tunnel(ours: OnUpgrade, theirs: OnUpgrade) {
    let (Ok(ours), Ok(theirs)) = tokio::join!(ours, theirs) else { return };
    let (mut ours, mut theirs) = (TokioIo::new(ours), TokioIo::new(theirs));
    // Either end closing is how an attachment ends.
    let _ = tokio::io::copy_bidirectional(&mut ours, &mut theirs).await;
}
