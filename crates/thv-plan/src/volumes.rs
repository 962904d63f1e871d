//! Volumes by name and mounts by path: there cannot be two of either.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The rights that the API server gives to files of ConfigMaps and Secrets unless told otherwise.
const DEFAULT_MODE: i32 = 0o644;

/// Where the content of a volume comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VolumeSource {
    /// A ConfigMap: all of its keys, or some under other names.
    ConfigMap {
        /// Its name.
        name: String,
        /// Keys, and the files that they become. Empty for all keys under their own names.
        items: BTreeMap<String, String>,
    },
    /// A Secret: all of its keys, or some under other names.
    Secret {
        /// Its name.
        name: String,
        /// Keys, and the files that they become. Empty for all keys under their own names.
        items: BTreeMap<String, String>,
        /// The rights of the files, if not the usual ones.
        mode: Option<i32>,
    },
    /// A directory of the node.
    HostPath(String),
}

impl VolumeSource {
    /// The entry of a pod's `volumes`, with everything in it that the API server would default: what nobody owns
    /// would stay behind when a volume changes its source.
    fn render(&self, volume: &str) -> Value {
        match self {
            Self::ConfigMap { name, items } => {
                let mut source = json!({ "name": name, "defaultMode": DEFAULT_MODE });
                with_items(&mut source, items);
                json!({ "name": volume, "configMap": source })
            }
            Self::Secret { name, items, mode } => {
                let mut source = json!({ "secretName": name, "defaultMode": mode.unwrap_or(DEFAULT_MODE) });
                with_items(&mut source, items);
                json!({ "name": volume, "secret": source })
            }
            Self::HostPath(path) => json!({ "name": volume, "hostPath": { "path": path, "type": "" } }),
        }
    }
}

fn with_items(source: &mut Value, items: &BTreeMap<String, String>) {
    if let Some(source) = source.as_object_mut().filter(|_| !items.is_empty()) {
        let items: Vec<Value> = items.iter().map(|(key, path)| json!({ "key": key, "path": path })).collect();
        source.insert("items".to_owned(), items.into());
    }
}

/// Where a container sees a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The path in the container.
    pub path: String,
    /// The file of the volume that is mounted there, if not all of it.
    pub sub_path: Option<String>,
    /// Whether the container may only read it.
    pub read_only: bool,
}

impl Mount {
    /// All of a volume, for reading.
    pub fn read_only(path: impl Into<String>) -> Self {
        Self { path: path.into(), sub_path: None, read_only: true }
    }

    fn render(&self, volume: &str) -> Value {
        let Self { path, sub_path, read_only } = self;
        let mut mount = json!({ "name": volume, "mountPath": path });
        if let Some(mount) = mount.as_object_mut() {
            if let Some(sub_path) = sub_path {
                mount.insert("subPath".to_owned(), sub_path.as_str().into());
            }
            if *read_only {
                mount.insert("readOnly".to_owned(), true.into());
            }
        }
        mount
    }
}

/// Why a volume was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// There is another volume of this name.
    Name,
    /// There is another mount at this path.
    Path,
}

/// The volumes of a pod with one container, and where that sees them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Volumes {
    sources: BTreeMap<String, VolumeSource>,
    /// By path without slashes at its end, which make no difference to where something is.
    mounts: BTreeMap<String, (String, Mount)>,
}

impl Volumes {
    /// Adds a volume that is seen in one place. If its name or its place is taken, nothing is added.
    pub fn add(&mut self, name: impl Into<String>, source: VolumeSource, mount: Mount) -> Result<(), Taken> {
        let (name, place) = (name.into(), mount.path.trim_end_matches('/').to_owned());
        if self.sources.contains_key(&name) {
            return Err(Taken::Name);
        }
        if self.mounts.contains_key(&place) {
            return Err(Taken::Path);
        }
        self.sources.insert(name.clone(), source);
        self.mounts.insert(place, (name, mount));
        Ok(())
    }

    /// The `volumes` of the pod.
    pub fn render(&self) -> Value {
        self.sources.iter().map(|(name, source)| source.render(name)).collect()
    }

    /// The `volumeMounts` of its container.
    pub fn render_mounts(&self) -> Value {
        self.mounts.values().map(|(name, mount)| mount.render(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(path: &str) -> VolumeSource {
        VolumeSource::HostPath(path.to_owned())
    }

    #[test]
    fn sources_are_explicit_about_what_the_api_server_would_default() {
        let mut volumes = Volumes::default();
        let items = BTreeMap::from([("k".to_owned(), "f".to_owned())]);
        let config = VolumeSource::ConfigMap { name: "c".to_owned(), items: BTreeMap::new() };
        let secret = VolumeSource::Secret { name: "s".to_owned(), items, mode: Some(0o400) };
        volumes.add("one", config, Mount::read_only("/one")).unwrap();
        let file = Mount { path: "/two/f".to_owned(), sub_path: Some("f".to_owned()), read_only: true };
        volumes.add("two", secret, file).unwrap();
        let writable = Mount { path: "/data".to_owned(), sub_path: None, read_only: false };
        volumes.add("data", host("/srv"), writable).unwrap();
        let expected = json!([
            {"name": "data", "hostPath": {"path": "/srv", "type": ""}},
            {"name": "one", "configMap": {"name": "c", "defaultMode": 420}},
            {"name": "two", "secret": {
                "secretName": "s", "defaultMode": 256, "items": [{"key": "k", "path": "f"}],
            }},
        ]);
        assert_eq!(volumes.render(), expected);
        let expected = json!([
            {"name": "data", "mountPath": "/data"},
            {"name": "one", "mountPath": "/one", "readOnly": true},
            {"name": "two", "mountPath": "/two/f", "subPath": "f", "readOnly": true},
        ]);
        assert_eq!(volumes.render_mounts(), expected);
    }

    #[test]
    fn names_and_places_are_taken_once() {
        let mut volumes = Volumes::default();
        assert_eq!(volumes.add("a", host("/1"), Mount::read_only("/x")), Ok(()));
        assert_eq!(volumes.add("a", host("/2"), Mount::read_only("/y")), Err(Taken::Name));
        assert_eq!(volumes.add("b", host("/2"), Mount::read_only("/x/")), Err(Taken::Path));
        assert_eq!(volumes.render(), json!([{"name": "a", "hostPath": {"path": "/1", "type": ""}}]));
    }
}
