//! Who may call what. Pure: what comes out depends on the texts that go in.
//!
//! [`cedar::validate`] tells the operator what is wrong with the texts of Cedar policies and entities, and where. It
//! reads them with the functions that the proxy is to load them with, so that both accept the same.

pub mod cedar;
