//! Tests against a real API server, with its controllers and without pods.
#![cfg(test)]
#![allow(clippy::large_futures, reason = "a test is one future, which is made once and never moved")]

mod backend;
mod cleanup;
mod corpus;
mod crds;
mod facts;
mod facts_custom;
mod facts_fence;
mod facts_stored;
mod fixture;
mod operator;
mod recorder;
mod recorder_watch;
mod redis;
mod runner;
mod subject;
mod waiting;
