//! What a proxy was made with, and keeps for as long as it lives.

use thv_plan::Token;

/// What a pod of the proxy was made with. None of it ever changes, unlike the configuration file, which is refreshed
/// under a running pod.
#[derive(Clone, PartialEq, Eq)]
pub struct Birth {
    /// The image of the backend, from the command line.
    pub image: String,
    /// Changes to the pods of the backend, from the command line. Without any, those of the configuration count.
    pub pod_patch: Option<String>,
    /// The server and the revision that the pod was rendered for. Absent in pods of the Go operator.
    pub token: Option<Token>,
    /// The digest of the configuration that the pod was rendered with. Absent in pods of the Go operator.
    pub checksum: Option<String>,
}

impl std::fmt::Debug for Birth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A patch can hold what is not for everybody's eyes.
        let Self { image, pod_patch, token, checksum } = self;
        f.debug_struct("Birth")
            .field("image", image)
            .field("pod_patch", &pod_patch.as_ref().map(|_| "…"))
            .field("token", token)
            .field("checksum", checksum)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_patch_is_not_shown() {
        let birth =
            Birth { image: "i".to_owned(), pod_patch: Some("hush".to_owned()), token: None, checksum: None };
        assert!(!format!("{birth:?}").contains("hush"));
    }
}
