//! What becomes of a `VirtualMCPServer`.

mod auth;
mod children;
mod document;
mod status;
mod support;
