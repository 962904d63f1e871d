//! From a snapshot of the cluster to a plan for it.
//!
//! Pure: no client, no clock, no randomness. What is wanted is expressed here and nowhere else; nothing in this
//! project compares a live object with a wanted one.

mod applied;
pub mod backends;
mod child;
#[cfg(feature = "workflows")]
mod composite_tool;
mod config_kinds;
mod contention;
mod deployed;
mod digest;
pub mod embedding_server;
mod env;
mod event_note;
mod health;
mod image;
mod invalid;
pub mod json;
mod lenient;
mod live;
pub mod managed_fields;
mod mcp_group;
pub mod mcp_registry;
mod mcp_remote_proxy;
pub mod mcp_server;
mod mcp_server_entry;
mod metadata;
mod overrides;
mod owner;
mod plan;
mod planned;
mod pod_defaults;
pub mod pod_template;
mod probe;
mod proxied;
mod proxy;
pub mod proxy_role;
mod pull_secrets;
mod quantity;
mod rbac;
mod reference;
mod reference_conditions;
mod referrers;
pub mod resolve;
mod revision;
mod rotation;
pub mod run_config;
pub mod security;
mod service;
mod settings;
mod snapshot;
pub mod strategic_merge;
mod syntax;
mod verdict;
mod virtual_mcp_server;
pub mod vmcp_role;
mod volumes;

pub use applied::{Applied, NotAMark, Token};
pub use child::{Child, ChildKind, Random};
pub use contention::{Backoff, Contention};
pub use deployed::LiveWorkload;
pub use digest::{canonical, digest, hex};
pub use env::{Env, EnvValue};
pub use event_note::event_note;
pub use image::pull_policy;
pub use invalid::{Invalid, InvalidList};
pub use lenient::named_targets;
pub use live::{
    ContainerFailure, Controller, Fixed, Identity, LiveDeployment, LivePod, LiveStatefulSet, Observe,
    PodHealth, PodMaker, PodSelector, Rollout,
};
pub use plan::{Children, Disruption, Plan, Scalable, Scaling};
pub use planned::{Deletion, Failure, Planned, Refers};
pub use reference::{AnyObject, Definition, Fingerprint, Read, Reference, References, Referent, Target};
pub use referrers::list as referrer_list;
pub use revision::{Decision, NotARevision, Records, Revision, decide};
pub use settings::{DefaultRedis, Platform, Settings};
pub use snapshot::Snapshot;
pub use volumes::{Mount, Taken, VolumeSource, Volumes};
