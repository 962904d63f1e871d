//! Tests against a real API server, with its controllers and without pods.
#![cfg(test)]

mod cleanup;
mod corpus;
mod crds;
mod facts;
mod facts_custom;
mod facts_fence;
mod fixture;
mod operator;
mod recorder;
mod recorder_watch;
mod redis;
mod subject;
mod waiting;
