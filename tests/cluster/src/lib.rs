//! Tests against a real cluster with real pods.
#![cfg(test)]

mod fixture;
mod images;
mod node;
