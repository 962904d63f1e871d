//! A server elsewhere: its address, TLS, and the HTTP proxy on the way to it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::link::{Link, prepare};

/// The longest head of an answer to CONNECT.
const TUNNEL_HEAD: usize = 8 << 10;

/// Why a remote server cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// The URL cannot be used. It is not shown, since it may hold a key.
    #[error("the remote URL cannot be used: {0}")]
    Url(&'static str),
    /// There is nothing to check certificates with.
    #[error("no certificate authorities to trust were found on this machine{0}")]
    Roots(String),
    /// TLS cannot be set up.
    #[error("TLS cannot be set up")]
    Tls(#[source] rustls::Error),
    /// The proxy of the environment speaks something else than HTTP.
    #[error("the proxy that the environment names for {0} must be an http:// one")]
    Proxy(String),
}

/// A server elsewhere.
pub(in crate::http) struct Remote {
    scheme: Scheme,
    authority: Authority,
    host: HeaderValue,
    target: PathAndQuery,
    dial: Dial,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    patience: Duration,
}

/// Whom to connect to.
enum Dial {
    Direct {
        host: String,
        port: u16,
    },
    /// For https: through a tunnel to the server.
    Tunnel {
        proxy: (String, u16),
        credentials: Option<HeaderValue>,
    },
    /// For http: the proxy takes requests for anybody.
    Relay {
        proxy: (String, u16),
        credentials: Option<HeaderValue>,
    },
}

impl Remote {
    /// `environment` says which proxies to use; `patience` is for one TCP connection.
    pub(in crate::http) fn new(
        url: &str,
        environment: &Matcher,
        patience: Duration,
    ) -> Result<Self, RemoteError> {
        let url: Uri = url.parse().map_err(|_| RemoteError::Url("it is malformed"))?;
        let parts = url.clone().into_parts();
        let scheme = parts.scheme.ok_or(RemoteError::Url("it has no scheme"))?;
        let authority = parts.authority.ok_or(RemoteError::Url("it has no host"))?;
        if authority.as_str().contains('@') {
            return Err(RemoteError::Url("it has a user in it"));
        }
        let secure = match scheme.as_str() {
            "https" => true,
            "http" => false,
            _ => return Err(RemoteError::Url("it is neither http nor https")),
        };
        let bare = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let host = HeaderValue::from_str(authority.as_str())
            .map_err(|_| RemoteError::Url("its host is malformed"))?;
        let port = authority.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let dial = match environment.intercept(&url) {
            None => Dial::Direct { host: bare.clone(), port },
            Some(proxy) => via(&proxy, secure, authority.host())?,
        };
        let tls = if secure { Some(tls(bare)?) } else { None };
        let target = parts.path_and_query.unwrap_or_else(|| PathAndQuery::from_static("/"));
        Ok(Self { scheme, authority, host, target, dial, tls, patience })
    }

    pub(in crate::http) fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// Value for the Host header.
    pub(in crate::http) const fn host(&self) -> &HeaderValue {
        &self.host
    }

    /// `scheme://host`, which is what records of sessions hold.
    pub(in crate::http) fn origin(&self) -> String {
        format!("{}://{}", self.scheme, self.authority)
    }

    /// Path of the URL, unless it is the root, which stands for "whatever the client asks for".
    pub(in crate::http) fn path(&self) -> Option<&str> {
        Some(self.target.path()).filter(|path| !path.is_empty() && *path != "/")
    }

    pub(in crate::http) fn query(&self) -> Option<&str> {
        self.target.query()
    }

    /// What stands in the first line of a request: a path, or everything for a proxy that takes requests for
    /// anybody; and the credentials for such a proxy.
    pub(in crate::http) fn address(&self, target: PathAndQuery) -> (Uri, Option<HeaderValue>) {
        let Dial::Relay { credentials, .. } = &self.dial else { return (Uri::from(target), None) };
        let mut parts = http::uri::Parts::default();
        parts.scheme = Some(self.scheme.clone());
        parts.authority = Some(self.authority.clone());
        parts.path_and_query = Some(target);
        (Uri::from_parts(parts).unwrap_or_default(), credentials.clone())
    }

    pub(super) async fn connect(&self) -> io::Result<Link> {
        let stream = match &self.dial {
            Dial::Direct { host, port } | Dial::Relay { proxy: (host, port), .. } => {
                self.reach(host, *port).await?
            }
            Dial::Tunnel { proxy: (host, port), credentials } => {
                let mut stream = self.reach(host, *port).await?;
                self.tunnel(&mut stream, credentials.as_ref()).await?;
                stream
            }
        };
        match &self.tls {
            None => Ok(Link::Plain(stream)),
            Some((tls, name)) => Ok(Link::Secure(Box::new(tls.connect(name.clone(), stream).await?))),
        }
    }

    async fn reach(&self, host: &str, port: u16) -> io::Result<TcpStream> {
        let stream = timeout(self.patience, TcpStream::connect((host, port))).await??;
        prepare(&stream)?;
        Ok(stream)
    }

    async fn tunnel(&self, stream: &mut TcpStream, credentials: Option<&HeaderValue>) -> io::Result<()> {
        let port = self.authority.port_u16().unwrap_or(443);
        let to = format!("{}:{port}", self.authority.host());
        let mut request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n").into_bytes();
        if let Some(credentials) = credentials {
            request.extend_from_slice(b"Proxy-Authorization: ");
            request.extend_from_slice(credentials.as_bytes());
            request.extend_from_slice(b"\r\n");
        }
        request.extend_from_slice(b"\r\n");
        stream.write_all(&request).await?;
        // Byte by byte: what follows the head belongs to the server behind the proxy.
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            if head.len() == TUNNEL_HEAD {
                return Err(io::Error::other("the proxy's answer to CONNECT has no end"));
            }
            head.push(stream.read_u8().await?);
        }
        let status = head.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
        if status != b"200" {
            let status = String::from_utf8_lossy(status).into_owned();
            return Err(io::Error::other(format!("the proxy refused CONNECT with {status}")));
        }
        Ok(())
    }
}

fn via(proxy: &Intercept, secure: bool, host: &str) -> Result<Dial, RemoteError> {
    let refused = || RemoteError::Proxy(host.to_owned());
    let uri = proxy.uri();
    let address = uri.host().ok_or_else(refused)?;
    if uri.scheme_str() != Some("http") {
        return Err(refused());
    }
    let address = address.trim_start_matches('[').trim_end_matches(']').to_owned();
    let proxy = ((address, uri.port_u16().unwrap_or(80)), proxy.basic_auth().cloned());
    let (proxy, credentials) = proxy;
    Ok(if secure { Dial::Tunnel { proxy, credentials } } else { Dial::Relay { proxy, credentials } })
}

/// Loaded only for a server elsewhere: the certificate authorities of the machine take memory.
fn tls(host: String) -> Result<(TlsConnector, ServerName<'static>), RemoteError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (usable, _) = roots.add_parsable_certificates(found.certs);
    if usable == 0 {
        let why = found.errors.first().map(|error| format!(": {error}")).unwrap_or_default();
        return Err(RemoteError::Roots(why));
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(RemoteError::Tls)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let name = ServerName::try_from(host).map_err(|_| RemoteError::Url("its host is malformed"))?;
    Ok((TlsConnector::from(Arc::new(config)), name))
}
