//! Tests against a real cluster with real pods.
#![cfg(test)]
#![allow(clippy::large_futures, reason = "a test is one future, which is made once and never moved")]

mod backend_loss;
mod client;
mod fence;
mod fixture;
mod images;
mod node;
mod recovery;
mod rollout;
mod virtual_server;
