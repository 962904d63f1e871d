//! The running copies of a backend.

use std::net::SocketAddr;
use std::sync::Arc;

/// A pod of the backend whose container has been started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Its number in the StatefulSet, which it keeps when it is replaced.
    pub ordinal: u32,
    /// The uid of the pod.
    pub uid: Arc<str>,
    /// The id of the container. A container that was restarted has another, in the same pod at the same address.
    pub container: Arc<str>,
    /// Where it listens.
    pub address: SocketAddr,
    /// Whether it takes requests.
    pub ready: bool,
    /// Whether it is about to end.
    pub terminating: bool,
}

/// All instances, by their ordinals.
pub type Instances = Arc<[Instance]>;

impl Instance {
    /// What tells this run of this server from all others: ordinal, pod and container.
    pub fn key(&self) -> Arc<str> {
        format!("{}/{}/{}", self.ordinal, self.uid, self.container).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restarted_container_is_another_instance() {
        let first = Instance {
            ordinal: 2,
            uid: "u".into(),
            container: "containerd://a".into(),
            address: ([10, 0, 0, 1], 80).into(),
            ready: true,
            terminating: false,
        };
        let second = Instance { container: "containerd://b".into(), ..first.clone() };
        assert_eq!(&*first.key(), "2/u/containerd://a");
        assert_ne!(first.key(), second.key());
    }
}
