//! A real Kubernetes for tests.
//!
//! Two halves. [`Cluster`] starts one, and belongs to `cargo xtask`, which keeps it for a test run or for a
//! person. [`Bed`] is what a test sees of it: a client, a [namespace of its own](in_namespace), a
//! [recording endpoint with faults](Recorder) to put between the API server and a [program under
//! test](Subject), and [waits](wait) that watch.
//!
//! [`mcp`] is an MCP server to put behind a proxy.
//!
//! There are two tiers. `api` is etcd, kube-apiserver and kube-controller-manager on loopback: everything about
//! objects, ownership, defaulting, generations and rollouts, but no pods. `full` adds a node that runs pods.

mod archive;
mod assets;
mod bed;
mod closure;
mod cluster;
mod control_plane;
mod image;
mod inventory;
pub mod mcp;
mod node;
mod pki;
mod process;
mod recorder;
mod redis;
mod space;
mod subject;
pub mod usage;
pub mod wait;

pub use assets::{
    Assets, COREDNS, KUBERNETES, PACKAGES, PROGRAMS, Package, Program, Tier, cache_folder, missing_packages,
};
pub use bed::{Bed, ENVIRONMENT};
pub use cluster::{Cluster, Description, Leftovers, Owner, keeper};
pub use control_plane::client_for;
pub use image::{Image, import};
pub use process::{Process, free_port};
pub use recorder::{
    Breakpoint, Exchange, Fault, Mark, Moment, Pattern, Recorder, RequestLog, StaleLists, Verb, WatchGate,
};
pub use redis::Redis;
pub use space::{Space, in_namespace, on_cluster};
pub use subject::{Subject, SubjectBuilder, built_program};
