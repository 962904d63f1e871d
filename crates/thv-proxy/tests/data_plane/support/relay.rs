//! A way to a server that can be cut.

use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

/// Passes connections on until it is dropped, and all of them with it.
pub(crate) struct Relay {
    pub(crate) address: SocketAddr,
    listening: JoinHandle<()>,
}

impl Relay {
    /// From an address, port 0 for any, to a server.
    pub(crate) async fn start(from: SocketAddr, to: String) -> Self {
        let listener = TcpListener::bind(from).await.unwrap();
        let address = listener.local_addr().unwrap();
        let listening = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((mut here, _)) = listener.accept().await {
                let to = to.clone();
                connections.spawn(async move {
                    if let Ok(mut there) = TcpStream::connect(to).await {
                        drop(tokio::io::copy_bidirectional(&mut here, &mut there).await);
                    }
                });
            }
        });
        Self { address, listening }
    }

    /// Cuts it, and waits until nobody listens any more.
    pub(crate) async fn cut(mut self) -> SocketAddr {
        self.listening.abort();
        drop((&mut self.listening).await);
        self.address
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.listening.abort();
    }
}
