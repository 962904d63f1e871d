//! The way of a request through the endpoint.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH, HOST, RETRY_AFTER, TRANSFER_ENCODING};
use http::{Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use kube::client::Body as KubeBody;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::State;
use super::exchange::{Exchange, Verb};
use super::fault::{ANSWER, Fault, Moment};
use super::stream::{self, Body};

/// The largest request and answer that are read whole.
const LIMIT: usize = 256 * 1024 * 1024;

/// TLS with the recorder's certificate, and HTTP/1.1 only: one request after the other is easier to reason about.
pub(super) fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor> {
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_file(key)?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// A client with no credentials of its own.
pub(super) fn upstream(server: &str, ca: &Path) -> Result<kube::Client> {
    let mut config = kube::Config::new(server.parse::<Uri>()?);
    let chain = CertificateDer::pem_file_iter(ca)?.collect::<Result<Vec<_>, _>>()?;
    config.root_cert = Some(chain.iter().map(|certificate| certificate.to_vec()).collect());
    config.default_retry = false;
    config.read_timeout = None;
    config.write_timeout = None;
    Ok(kube::Client::try_from(config)?)
}

/// Serves until aborted, and then drops every connection.
pub(super) async fn serve(listener: TcpListener, acceptor: TlsAcceptor, state: Arc<State>) {
    let mut connections = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        let (acceptor, state) = (acceptor.clone(), state.clone());
        connections.spawn(async move {
            // Whatever goes wrong here, the client sees its connection end, and the test sees the log.
            let Ok(socket) = acceptor.accept(socket).await else { return };
            let service = service_fn(move |request| handle(state.clone(), request));
            let connection = hyper::server::conn::http1::Builder::new();
            let _ = connection.serve_connection(TokioIo::new(socket), service).with_upgrades().await;
        });
        while connections.try_join_next().is_some() {}
    }
}

/// An error ends the connection with no answer.
async fn handle(state: Arc<State>, request: Request<Incoming>) -> Result<Response<Body>> {
    let (mut head, body) = request.into_parts();
    #[expect(clippy::disallowed_methods, reason = "limited")]
    let body = Limited::new(body, LIMIT).collect().await.map_err(|error| anyhow!(error))?.to_bytes();
    let mut exchange = Exchange::read(&head, &body);
    state.record(&mut exchange);

    pause(&state, &exchange, Moment::Before).await?;
    let fault = state.rules().faults.iter().find_map(|rule| rule.strike(&exchange));
    match fault {
        Some(Fault::Cut) => return Err(anyhow!("cut by a test")),
        Some(Fault::Answer(code)) => return refuse(&state, exchange, code),
        Some(Fault::CommitThenAnswer(_) | Fault::CommitThenCut) | None => {}
    }
    let remembered = state.rules().stale.iter().find_map(|stale| stale.remembered(&exchange));
    if let Some(body) = remembered {
        let answer = Response::builder().header(http::header::CONTENT_TYPE, "application/json");
        return Ok(told(&state, exchange, answer.body(stream::whole(body))?));
    }

    // Both a name for the host and an encoding are a matter of this connection, not of the next.
    for header in [HOST, ACCEPT_ENCODING, TRANSFER_ENCODING] {
        head.headers.remove(header);
    }
    let upgrade = head.extensions.remove::<hyper::upgrade::OnUpgrade>();
    // A task of its own: the client may go away while the API server carries the request out.
    let forward =
        tokio::spawn(forward(state.clone(), exchange, Request::from_parts(head, KubeBody::from(body))));
    let (exchange, mut answer) = forward.await??;

    pause(&state, &exchange, Moment::AfterCommit).await?;
    match fault {
        Some(Fault::CommitThenCut) => return Err(anyhow!("cut by a test")),
        Some(Fault::CommitThenAnswer(code)) => return refuse(&state, exchange, code),
        Some(Fault::Cut | Fault::Answer(_)) | None => {}
    }
    if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
        let theirs = hyper::upgrade::on(&mut answer);
        let ours = upgrade.context("the API server changes the protocol of a request that did not ask")?;
        tokio::spawn(stream::tunnel(ours, theirs));
        return Ok(told(&state, exchange, answer.map(|_| stream::whole(Bytes::new()))));
    }
    let answer = match exchange.verb {
        Verb::Watch => {
            let gates = state.rules().gates.iter().filter(|gate| gate.matches(&exchange)).cloned().collect();
            answer.map(|body| stream::watch(body, gates))
        }
        _ if exchange.is_stream() => answer.map(stream::through),
        _ => whole(&state, &exchange, answer).await?,
    };
    Ok(told(&state, exchange, answer))
}

async fn forward(
    state: Arc<State>,
    mut exchange: Exchange,
    request: Request<KubeBody>,
) -> Result<(Exchange, Response<KubeBody>)> {
    let answer = tokio::time::timeout(ANSWER, state.upstream.send(request)).await;
    let answer = answer.context("the API server did not answer")??;
    exchange.answered = Some(answer.status().as_u16());
    state.update(&exchange);
    Ok((exchange, answer))
}

/// Reads an answer to its end, and lets stale lists remember it.
async fn whole(state: &State, exchange: &Exchange, answer: Response<KubeBody>) -> Result<Response<Body>> {
    let (mut head, body) = answer.into_parts();
    #[expect(clippy::disallowed_methods, reason = "limited")]
    let body = Limited::new(body, LIMIT).collect().await.map_err(|error| anyhow!(error))?.to_bytes();
    if exchange.verb == Verb::List && head.status.is_success() {
        for stale in &state.rules().stale {
            stale.remember(exchange, &body);
        }
    }
    head.headers.remove(TRANSFER_ENCODING);
    head.headers.insert(CONTENT_LENGTH, body.len().into());
    Ok(Response::from_parts(head, stream::whole(body)))
}

/// Holds the request if a breakpoint says so; an error if it does not go on.
async fn pause(state: &State, exchange: &Exchange, moment: Moment) -> Result<()> {
    let hold = state.rules().breakpoints.iter().find_map(|rule| rule.take(exchange, moment));
    if let Some(hold) = hold
        && !hold.wait(exchange).await
    {
        return Err(anyhow!("discarded at a breakpoint"));
    }
    Ok(())
}

fn told(state: &State, mut exchange: Exchange, answer: Response<Body>) -> Response<Body> {
    exchange.told = Some(answer.status().as_u16());
    state.update(&exchange);
    answer
}

/// Answers with a refusal in the API server's own form. No two have the same words.
fn refuse(state: &State, exchange: Exchange, code: u16) -> Result<Response<Body>> {
    let reason = match code {
        403 => "Forbidden",
        404 => "NotFound",
        409 => "Conflict",
        422 => "Invalid",
        429 => "TooManyRequests",
        503 => "ServiceUnavailable",
        504 => "Timeout",
        _ => "InternalError",
    };
    let status = json!({
        "apiVersion": "v1", "kind": "Status", "status": "Failure",
        "code": code, "reason": reason, "message": format!("request {} was refused by a test", exchange.number),
    });
    let mut answer = Response::builder().status(code).header(http::header::CONTENT_TYPE, "application/json");
    if code == 429 {
        answer = answer.header(RETRY_AFTER, "1");
    }
    let answer = answer.body(stream::whole(serde_json::to_vec(&status)?.into()))?;
    Ok(told(state, exchange, answer))
}
