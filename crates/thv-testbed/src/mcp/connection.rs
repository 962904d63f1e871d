//! Connections: accepted, served, and ended when a test says so.

use std::io::ErrorKind;
use std::sync::Arc;

use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::route;
use super::state::State;

/// Serves until aborted, and then drops every connection.
pub(super) async fn accept(listener: TcpListener, state: Arc<State>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((socket, _)) => drop(connections.spawn(serve(socket, state.clone()))),
                // That client has gone again.
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                // There is no file descriptor left until a connection ends.
                Err(_) => drop(connections.join_next().await),
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(socket: TcpStream, state: Arc<State>) {
    let _open = Open::new(&state);
    let mut closing = state.closing();
    closing.mark_unchanged();
    let delay = state.controls().delay;
    let work = async {
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        // Small answers are not to wait for more.
        let _ = socket.set_nodelay(true);
        let service = service_fn(|request| route::handle(state.clone(), request));
        let connection = hyper::server::conn::http1::Builder::new();
        // Whatever goes wrong here, the client sees its connection end.
        let _ = connection.serve_connection(TokioIo::new(socket), service).await;
    };
    tokio::select! {
        () = work => {}
        _ = closing.changed() => {}
    }
}

/// Counts a connection for as long as it is open.
struct Open(Arc<State>);

impl Open {
    fn new(state: &Arc<State>) -> Self {
        state.count(|counts| {
            counts.connections += 1;
            counts.open_connections += 1;
        });
        Self(state.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.count(|counts| counts.open_connections -= 1);
    }
}
