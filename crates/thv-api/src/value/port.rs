//! TCP port numbers.

use std::fmt;
use std::num::NonZeroU16;

use schemars::json_schema;
use serde::{Deserialize, Serialize};

use crate::schema::fixed_schema;

/// A TCP port from 1 to 65535.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "u16")]
pub struct Port(NonZeroU16);

/// Why a number is not a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not a port: it has to be from 1 to 65535")]
pub struct PortError(i64);

impl Port {
    /// The port that proxies and HTTP servers use unless told otherwise: 8080.
    pub const HTTP: Self = Self(NonZeroU16::MIN.saturating_add(8079));

    /// The port of virtual servers: 4483.
    pub const VMCP: Self = Self(NonZeroU16::MIN.saturating_add(4482));

    /// The number.
    pub const fn get(self) -> u16 {
        self.0.get()
    }
}

impl TryFrom<i64> for Port {
    type Error = PortError;

    fn try_from(number: i64) -> Result<Self, PortError> {
        u16::try_from(number).ok().and_then(NonZeroU16::new).map(Self).ok_or(PortError(number))
    }
}

impl From<Port> for u16 {
    fn from(port: Port) -> Self {
        port.get()
    }
}

impl From<Port> for i32 {
    fn from(port: Port) -> Self {
        Self::from(port.get())
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

fixed_schema!(Port, json_schema!({ "type": "integer", "format": "int32", "minimum": 1, "maximum": 65535 }));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_exactly_the_tcp_range() {
        for (number, ok) in [(-1, false), (0, false), (1, true), (8080, true), (65535, true), (65536, false)]
        {
            assert_eq!(Port::try_from(number).is_ok(), ok, "{number}");
        }
        assert_eq!(Port::HTTP.get(), 8080);
    }

    #[test]
    fn is_a_plain_number_in_json() {
        assert_eq!(serde_json::from_str::<Port>("4483").unwrap().get(), 4483);
        assert_eq!(serde_json::to_string(&Port::HTTP).unwrap(), "8080");
        assert!(serde_json::from_str::<Port>("0").is_err());
    }
}
