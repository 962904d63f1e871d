//! A proxy in front of servers of this test, and clients that look closely.

mod client;
mod relay;
mod rig;
mod stub;

pub(crate) use client::{Reply, Streaming, connect_raw, delete, get, json, open, post, send};
pub(crate) use relay::Relay;
pub(crate) use rig::{Rig, RigBuilder, instance};
pub(crate) use stub::{Stub, cut, respond};

use serde_json::{Value, json as json_of};

/// An `initialize` for the last legacy revision.
pub(crate) fn initialize() -> Value {
    let params = json_of!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    });
    request("initialize", params)
}

pub(crate) fn request(method: &str, params: Value) -> Value {
    json_of!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
}

pub(crate) fn tool(name: &str, arguments: Value) -> Value {
    request("tools/call", json_of!({"name": name, "arguments": arguments}))
}

pub(crate) fn initialized() -> Value {
    json_of!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

/// A request of the modern era.
pub(crate) fn modern(method: &str, mut params: Value) -> Value {
    params["_meta"] = json_of!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    request(method, params)
}
