//! Tests of whole programs that need no cluster.
#![cfg(test)]

mod churn;
