//! `MCPServerEntry`: what it refers to.

use std::collections::BTreeSet;

use thv_api::Kind;
use thv_api::kinds::{MCPExternalAuthConfigSpec, MCPGroupSpec, MCPServerEntry, MCPServerEntrySpec};

use crate::planned::Refers;
use crate::reference::{Reference, References};
use crate::resolve::{external_auth, group};
use crate::settings::Settings;

impl Refers for MCPServerEntrySpec {
    const REFERS_TO: &'static [&'static str] = &[MCPExternalAuthConfigSpec::KIND, MCPGroupSpec::KIND];

    /// The objects of the API that an entry refers to. Every field is here, so that a new one cannot be forgotten.
    fn refs(entry: &MCPServerEntry, known: &References, _: &Settings) -> BTreeSet<Reference> {
        let Self {
            remote_url: _,
            allow_private_endpoint: _,
            transport: _,
            group_ref,
            external_auth_config_ref,
            header_forward: _,
            ca_bundle_ref: _,
        } = &entry.spec;
        let auth = external_auth_config_ref.as_ref().map(|it| external_auth::references(&it.name, known));
        group::references(group_ref).into_iter().chain(auth.into_iter().flatten()).collect()
    }
}
