//! Whom to trust when the collector is reached by TLS.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

/// Why nobody can be trusted.
#[derive(Debug, thiserror::Error)]
pub enum BadTrust {
    /// The configured file.
    #[error("certificate authorities in {path}: {reason}")]
    File {
        /// Its path.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// What comes with the system.
    #[error("the system has no certificate authorities: set caCertPath, or insecure")]
    System,
    /// The library does not take it.
    #[error("TLS cannot be set up: {0}")]
    Setup(#[from] rustls::Error),
}

/// With the authorities of a file, or of the system if no file is named.
pub(super) fn client_config(file: &str) -> Result<Arc<ClientConfig>, BadTrust> {
    let roots = if file.is_empty() { system()? } else { listed(file)? };
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

fn listed(path: &str) -> Result<RootCertStore, BadTrust> {
    let bad = |reason: String| BadTrust::File { path: path.to_owned(), reason };
    let mut roots = RootCertStore::empty();
    for certificate in
        CertificateDer::pem_file_iter(Path::new(path)).map_err(|error| bad(error.to_string()))?
    {
        let certificate = certificate.map_err(|error| bad(error.to_string()))?;
        roots.add(certificate).map_err(|error| bad(error.to_string()))?;
    }
    if roots.is_empty() { Err(bad("there are none".to_owned())) } else { Ok(roots) }
}

fn system() -> Result<RootCertStore, BadTrust> {
    let mut roots = RootCertStore::empty();
    // Systems have old certificates that cannot be read; the others are enough.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() { Err(BadTrust::System) } else { Ok(roots) }
}
