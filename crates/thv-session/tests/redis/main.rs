//! Sessions in a real Redis.

mod leases;
mod outages;
mod records;
mod replicas;
mod support;
