//! Backends, brought up by proxies that run in the process of the test, under the role that proxies get, each behind a
//! recorder of its own.

mod fence;
mod gate;
mod keeping;
mod ownership;
mod pods;
mod proxy;
mod replicas;
mod stage;
mod takeover;
