//! Names of images.

/// When nodes pull an image: what the API server would choose for it. The API server chooses for the first image only
/// and keeps that for every later one, so what a server runs with would depend on its history.
pub fn pull_policy(image: &str) -> &'static str {
    let (name, digest) = image.split_once('@').map_or((image, None), |(name, digest)| (name, Some(digest)));
    let tag = name.rsplit('/').next().and_then(|last| last.split_once(':')).map(|(_, tag)| tag);
    match (tag, digest) {
        (Some("latest"), _) | (None, None) => "Always",
        (Some(_), _) | (None, Some(_)) => "IfNotPresent",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_move_is_always_pulled() {
        for (image, policy) in [
            ("a", "Always"),
            ("a:latest", "Always"),
            ("a:1", "IfNotPresent"),
            ("host:5000/a", "Always"),
            ("host:5000/a:1", "IfNotPresent"),
            ("a@sha256:0", "IfNotPresent"),
            ("a:latest@sha256:0", "Always"),
            ("", "Always"),
        ] {
            assert_eq!(pull_policy(image), policy, "{image}");
        }
    }
}
