//! Tests against a real API server, with its controllers and without pods.
#![cfg(test)]

mod cleanup;
mod corpus;
mod corpus_coverage;
mod corpus_judge;
mod corpus_kinds;
mod corpus_mutation;
mod corpus_path;
mod corpus_schema;
mod corpus_words;
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
