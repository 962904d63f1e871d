//! Container images made from local files, without a registry and without Docker.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tar::{Builder, Header};
use tokio::io::AsyncWriteExt;

use crate::archive::{Bytes, Entry, Layer};
use crate::closure;
use crate::node::ctr;

/// The user that programs run as, unless told otherwise: nobody in particular, and not root.
const USER: u32 = 65_532;

/// An image in the making.
#[derive(Clone, Debug)]
pub struct Image {
    name: String,
    layer: Layer,
    entrypoint: Vec<String>,
    env: BTreeMap<String, String>,
    user: u32,
    folder: String,
}

impl Image {
    /// An image with nothing in it but what programs take for granted: a writable `/tmp`, a user, a host file.
    ///
    /// A name with no registry gets `localhost/`, and one with no tag `:latest`, as the kubelet will look
    /// for it.
    pub fn new(name: &str) -> Self {
        let mut layer = Layer::default();
        let text = |text: String| Entry::File { bytes: Bytes::Given(text.into_bytes()), mode: 0o644 };
        layer.put(Path::new("/tmp"), Entry::Folder { mode: 0o1777 });
        layer.put(
            Path::new("/etc/passwd"),
            text(format!("root:x:0:0:root:/:/bin/false\nuser:x:{USER}:{USER}:user:/tmp:/bin/false\n")),
        );
        layer.put(Path::new("/etc/group"), text(format!("root:x:0:\nuser:x:{USER}:\n")));
        layer.put(Path::new("/etc/nsswitch.conf"), text("hosts: files dns\n".to_owned()));
        Self {
            name: full_name(name),
            layer,
            entrypoint: Vec::new(),
            env: BTreeMap::from([("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())]),
            user: USER,
            folder: "/".to_owned(),
        }
    }

    /// The name under which the image is found, with registry and tag.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds a program at `path`, with the libraries it needs where it looks for them.
    pub fn binary(mut self, source: &Path, path: &str) -> Result<Self> {
        absolute(path)?;
        self.layer.copy(source, Path::new(path))?;
        self.add_libraries(source)?;
        Ok(self)
    }

    /// Adds a folder at `path`, with the libraries that programs and modules in it need.
    pub fn tree(mut self, source: &Path, path: &str) -> Result<Self> {
        absolute(path)?;
        let mut files = Vec::new();
        self.layer.copy_tree(source, Path::new(path), &mut |file| {
            files.push(file.to_owned());
            Ok(())
        })?;
        let may_need_libraries = |file: &PathBuf| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            name.contains(".so") || !name.contains('.')
        };
        for file in files.iter().filter(|file| may_need_libraries(file)) {
            self.add_libraries(file)?;
        }
        Ok(self)
    }

    /// Adds a text file.
    #[must_use]
    pub fn file(mut self, path: &str, text: &str) -> Self {
        let bytes = Bytes::Given(text.as_bytes().to_vec());
        self.layer.put(Path::new(path), Entry::File { bytes, mode: 0o644 });
        self
    }

    /// What runs when a container says nothing else.
    #[must_use]
    pub fn entrypoint(mut self, words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.entrypoint = words.into_iter().map(Into::into).collect();
        self
    }

    /// An environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The id of the user that it runs as.
    #[must_use]
    pub fn user(mut self, id: u32) -> Self {
        self.user = id;
        self
    }

    /// The folder that it starts in.
    #[must_use]
    pub fn folder(mut self, path: &str) -> Self {
        path.clone_into(&mut self.folder);
        self
    }

    fn add_libraries(&mut self, file: &Path) -> Result<()> {
        for library in closure::libraries(file)? {
            self.layer.copy(&library, &library)?;
        }
        Ok(())
    }

    /// The image as an OCI layout in a tar file. The same content gives the same bytes.
    pub fn archive(&self) -> Result<Vec<u8>> {
        ensure!(
            !self.entrypoint.is_empty(),
            "the image {} has no entrypoint, so nothing would run",
            self.name
        );
        let layer = self.layer.tar()?;
        let layer_digest = digest(&layer);
        let config = serde_json::to_vec(&json!({
            "architecture": architecture()?,
            "os": "linux",
            "config": {
                "Entrypoint": self.entrypoint,
                "Env": self.env.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>(),
                "User": format!("{0}:{0}", self.user),
                "WorkingDir": self.folder,
            },
            "rootfs": {"type": "layers", "diff_ids": [layer_digest]},
        }))?;
        let manifest = serde_json::to_vec(&json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": descriptor("application/vnd.oci.image.config.v1+json", &config),
            "layers": [descriptor("application/vnd.oci.image.layer.v1.tar", &layer)],
        }))?;
        let mut entry = descriptor("application/vnd.oci.image.manifest.v1+json", &manifest);
        if let Some(fields) = entry.as_object_mut() {
            fields.insert("annotations".to_owned(), json!({"io.containerd.image.name": self.name}));
        }
        let index = serde_json::to_vec(&json!({"schemaVersion": 2, "manifests": [entry]}))?;

        let mut tar = Builder::new(Vec::new());
        let mut put = |path: &str, bytes: &[u8]| {
            let mut header = Header::new_gnu();
            header.set_mode(0o644);
            header.set_mtime(0);
            header.set_size(bytes.len() as u64);
            tar.append_data(&mut header, path, bytes)
        };
        put("oci-layout", br#"{"imageLayoutVersion": "1.0.0"}"#)?;
        put("index.json", &index)?;
        for blob in [&layer, &config, &manifest] {
            put(&format!("blobs/{}", digest(blob).replace(':', "/")), blob)?;
        }
        Ok(tar.into_inner()?)
    }
}

/// Makes `image` available to the node whose containerd has this socket.
pub async fn import(socket: &Path, image: &Image) -> Result<()> {
    let archive = image.archive()?;
    let mut command = ctr(socket);
    command
        .args(["images", "import", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().context("cannot run ctr")?;
    let mut stdin = child.stdin.take().context("ctr has no input")?;
    // ctr says more about what is wrong than a broken pipe does, so its own error comes first.
    let written = stdin.write_all(&archive).await;
    drop(stdin);
    let output = child.wait_with_output().await?;
    if !output.status.success() {
        bail!("cannot import {}: {}", image.name, String::from_utf8_lossy(&output.stderr).trim());
    }
    written.with_context(|| format!("cannot hand {} to ctr", image.name))
}

fn full_name(name: &str) -> String {
    let registry = if name.contains('/') { "" } else { "localhost/" };
    let tag = if name.rsplit('/').next().is_some_and(|last| last.contains(':')) { "" } else { ":latest" };
    format!("{registry}{name}{tag}")
}

fn absolute(path: &str) -> Result<()> {
    ensure!(path.starts_with('/'), "the path {path:?} inside the image must start with a slash");
    Ok(())
}

fn descriptor(media_type: &str, bytes: &[u8]) -> Value {
    json!({"mediaType": media_type, "digest": digest(bytes), "size": bytes.len()})
}

fn digest(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.iter().fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

/// This machine's architecture, as images name it.
fn architecture() -> Result<&'static str> {
    match std::env::consts::ARCH {
        "x86_64" => Ok("amd64"),
        "aarch64" => Ok("arm64"),
        other => bail!("no image name is known for the architecture {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_completed_as_the_kubelet_does() {
        assert_eq!(full_name("echo"), "localhost/echo:latest");
        assert_eq!(full_name("echo:2"), "localhost/echo:2");
        assert_eq!(full_name("localhost:5000/echo"), "localhost:5000/echo:latest");
        assert_eq!(full_name("quay.io/team/echo:2"), "quay.io/team/echo:2");
    }

    #[test]
    fn the_same_content_gives_the_same_bytes() {
        let image = || {
            let program = std::env::current_exe().unwrap();
            Image::new("x").binary(&program, "/x").unwrap().file("/etc/y", "y").entrypoint(["/x"])
        };
        assert_eq!(digest(&image().archive().unwrap()), digest(&image().archive().unwrap()));
    }

    #[test]
    fn an_image_that_would_run_nothing_is_refused() {
        assert!(Image::new("x").archive().unwrap_err().to_string().contains("entrypoint"));
    }
}
