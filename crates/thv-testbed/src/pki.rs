//! Keys and certificates of one cluster: a CA, the servers, an administrator, ServiceAccount tokens.

use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};

/// A certificate and its key, as files.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// The files that the components of a cluster are started with.
#[derive(Clone, Debug)]
pub(crate) struct Pki {
    /// The certificate of the CA that signed everything here.
    pub(crate) ca: PathBuf,
    /// What kube-apiserver serves with.
    pub(crate) server: Pair,
    /// What a recording endpoint serves with.
    pub(crate) recorder: Pair,
    /// How kube-apiserver introduces itself to a kubelet.
    pub(crate) kubelet_client: Pair,
    /// The key that signs ServiceAccount tokens.
    pub(crate) token_key: PathBuf,
    /// The public half of it.
    pub(crate) token_public_key: PathBuf,
}

impl Pki {
    /// Makes everything anew in `folder`. `server` and `recorder` are the names and addresses of those two.
    pub(crate) fn create(folder: &Path, server: &[String], recorder: &[String]) -> Result<Self> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.distinguished_name.push(DnType::CommonName, "toolhive-rs test CA");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let ca = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;

        let issue = |name: &str, organization: Option<&str>, subjects: &[String]| -> Result<Pair> {
            let mut params = CertificateParams::new(subjects)?;
            params.distinguished_name.push(DnType::CommonName, name);
            if let Some(organization) = organization {
                params.distinguished_name.push(DnType::OrganizationName, organization);
            }
            params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
            params.extended_key_usages =
                vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
            let key = KeyPair::generate()?;
            let certificate = params.signed_by(&key, &ca)?;
            let pair = Pair {
                certificate: folder.join(format!("{name}.crt")),
                key: folder.join(format!("{name}.key")),
            };
            write(&pair.certificate, &certificate.pem())?;
            write(&pair.key, &key.serialize_pem())?;
            Ok(pair)
        };

        let pki = Self {
            ca: folder.join("ca.crt"),
            server: issue("kube-apiserver", None, server)?,
            recorder: issue("recorder", None, recorder)?,
            kubelet_client: issue("kubelet-client", Some("system:masters"), &[])?,
            token_key: folder.join("token.key"),
            token_public_key: folder.join("token.pub"),
        };
        write(&pki.ca, &ca.pem())?;
        let token_key = KeyPair::generate()?;
        write(&pki.token_key, &token_key.serialize_pem())?;
        write(&pki.token_public_key, &token_key.public_key_pem())?;
        Ok(pki)
    }
}

/// Writes a file that only its owner can read.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    use std::io::Write;
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(path).with_context(|| format!("cannot write {}", path.display()))?;
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}
