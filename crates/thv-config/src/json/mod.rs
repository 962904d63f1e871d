//! JSON as it stands in a document: keys in their order, none of them twice.

mod decode;
mod pretty;
mod tree;

pub use decode::{Decoded, Malformed};
pub use tree::Json;

pub(crate) use decode::decode_at;
pub(crate) use pretty::to_pretty;
