//! `MCPRemoteProxy`: a proxy in front of a server that runs elsewhere.
//!
//! It is a kind with a proxy, and its plan is that of all of those. Here is what it has of its own: which URLs are
//! allowed (`checks`), and conditions that no other kind has. `planned` has what the engine wants to know of the kind.

mod checks;
mod conditions;
mod planned;
mod proxied;
