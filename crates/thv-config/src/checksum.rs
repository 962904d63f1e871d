//! Digests by which a configuration is recognised.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use sha2::{Digest, Sha256};

/// A SHA-256 digest in lower-case hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Checksum(String);

impl Checksum {
    /// The checksum of a document: of its bytes and of nothing else.
    ///
    /// The operator puts it on the pod; the proxy compares it with that of the file that it reads, and so
    /// knows whether the file is the one that the pod was made for.
    pub fn of(document: &[u8]) -> Self {
        Self::finish(Sha256::new_with_prefix(document))
    }

    /// The checksum that the Go operator puts on a ConfigMap: over the data, the labels and all annotations
    /// but `own`, the one that holds the checksum. It is here to recognise objects of the Go operator.
    pub fn of_content(
        data: &BTreeMap<String, String>,
        labels: &BTreeMap<String, String>,
        annotations: &BTreeMap<String, String>,
        own: &str,
    ) -> Self {
        let annotations = annotations.iter().filter(|(key, _)| *key != own);
        let mut hash = Sha256::new();
        for (key, value) in data.iter().chain(labels).chain(annotations) {
            hash.update(key);
            hash.update(value);
        }
        Self::finish(hash)
    }

    /// The digest in hexadecimal.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn finish(hash: Sha256) -> Self {
        let mut hex = String::with_capacity(64);
        for byte in hash.finalize() {
            // Writing to a String cannot fail.
            let _ = write!(hex, "{byte:02x}");
        }
        Self(hex)
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PartialEq<str> for Checksum {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
        entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_document_is_digested_alone() {
        let digest = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
        assert_eq!(Checksum::of(b"{}").as_str(), digest);
        assert_eq!(Checksum::of(b"{}"), *digest);
    }

    #[test]
    fn content_is_digested_as_the_go_operator_does() {
        let data = map(&[("runconfig.json", "{}")]);
        let labels = map(&[
            ("toolhive.stacklok.io/component", "run-config"),
            ("toolhive.stacklok.io/managed-by", "toolhive-operator"),
            ("toolhive.stacklok.io/mcp-server", "demo"),
        ]);
        let own = "toolhive.stacklok.dev/content-checksum";
        let expected = "629ef49eff6b38d45cc8de1b032a9911a14b78196596b1a64f733a85fc80bfe1";
        assert_eq!(Checksum::of_content(&data, &labels, &map(&[]), own), *expected);
        assert_eq!(Checksum::of_content(&data, &labels, &map(&[(own, "x")]), own), *expected);
        assert_ne!(Checksum::of_content(&data, &labels, &map(&[("a", "x")]), own), *expected);
    }
}
