//! The volumes of the proxy, and where it sees them.

use std::collections::BTreeMap;

use thv_api::names::volumes;

use crate::overrides::{IgnoredOverrides, RESERVED};
use crate::run_config::VolumeWiring;
use crate::volumes::{Mount, Taken, VolumeSource, Volumes};

/// Where the proxy finds its configuration.
const RUN_CONFIG_PATH: &str = "/etc/runconfig";

/// The volume with the configuration of a proxy, which is in this ConfigMap.
pub(crate) fn run_config_volume(config_map: &str) -> VolumeWiring {
    VolumeWiring {
        name: volumes::RUN_CONFIG.to_owned(),
        source: VolumeSource::ConfigMap { name: config_map.to_owned(), items: BTreeMap::new() },
        mount: Mount::read_only(RUN_CONFIG_PATH),
    }
}

/// The volumes of a pod: its configuration, what references cause, and the user's.
pub(crate) fn mounts(
    config: VolumeWiring,
    wired: Vec<VolumeWiring>,
    users: Vec<VolumeWiring>,
    ignored: &mut IgnoredOverrides,
) -> Volumes {
    let mut all = Volumes::default();
    for VolumeWiring { name, source, mount } in [config].into_iter().chain(wired).chain(users) {
        match all.add(name.as_str(), source, mount) {
            Ok(()) => {}
            Err(Taken::Name) => ignored.ignore(format!("spec.volumes[{name}]"), RESERVED),
            Err(Taken::Path) => {
                ignored.ignore(format!("spec.volumes[{name}].mountPath"), "another volume is mounted there");
            }
        }
    }
    all
}
