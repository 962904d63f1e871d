//! The composite tools of a virtual server: those in its spec, and those that it refers to.

use std::collections::BTreeSet;

use thv_api::kinds::{CompositeToolRef, VirtualMCPCompositeToolDefinitionSpec, VmcpConfig};

#[cfg(feature = "workflows")]
use crate::invalid::Invalid;
use crate::invalid::InvalidList;
use crate::reference::{Read, References};
use crate::resolve::{Cause, Outcome, Unusable};

const INLINE: &str = "spec.config.compositeTools";
const REFS: &str = "spec.config.compositeToolRefs";

/// What became of composite tools.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CompositeTools<'a> {
    /// All that can be read, those of the spec first.
    pub(super) all: Vec<&'a VirtualMCPCompositeToolDefinitionSpec>,
    /// What is wrong with those of the spec, or with all of them together.
    pub(super) invalid: InvalidList,
    /// Whether those that are referred to can be used.
    pub(super) referenced: Outcome<()>,
}

/// Finds out what became of composite tools.
pub(super) fn resolve<'a>(config: Option<&'a VmcpConfig>, known: &'a References) -> CompositeTools<'a> {
    let inline = config.iter().flat_map(|config| config.composite_tools.iter().flatten());
    let refs: Vec<_> = config.iter().flat_map(|it| it.composite_tool_refs.iter().flatten()).collect();
    let mut all: Vec<_> = inline.collect();
    let mut invalid = InvalidList::default();
    for (index, tool) in all.iter().enumerate() {
        invalid.below(&format!("{INLINE}[{index}]"), validate(tool));
    }
    let mut first = None;
    for (index, CompositeToolRef { name }) in refs.iter().enumerate() {
        match referenced(&format!("{REFS}[{index}]"), name, known) {
            Ok(tool) => all.push(tool),
            Err(unusable) => first = first.or(Some(unusable)),
        }
    }
    let mut names = BTreeSet::new();
    for tool in &all {
        let message = format!("two composite tools are named {:?}: rename one of them", tool.name);
        invalid.unless(names.insert(&tool.name), INLINE, message);
    }
    let referenced = match first {
        Some(unusable) => Outcome::Unusable(unusable),
        None if refs.is_empty() => Outcome::NotReferenced,
        None => Outcome::Usable(()),
    };
    CompositeTools { all, invalid, referenced }
}

fn referenced<'a>(
    path: &str,
    name: &str,
    known: &'a References,
) -> Result<&'a VirtualMCPCompositeToolDefinitionSpec, Unusable> {
    let what = format!("the VirtualMCPCompositeToolDefinition {name:?}");
    match known.object::<VirtualMCPCompositeToolDefinitionSpec>(name) {
        Read::Found(found) => match validate(found.spec) {
            Ok(()) => Ok(found.spec),
            Err(invalid) => Err(Cause::Invalid.at(path, format!("{what} is not valid: {invalid}"))),
        },
        Read::Absent => {
            Err(Cause::Absent.at(path, format!("{what} does not exist: create it, or remove the reference")))
        }
        Read::Malformed(why) => Err(Cause::Invalid.at(path, format!("{what} cannot be read: {why}"))),
    }
}

/// What is wrong with a composite tool.
#[cfg(feature = "workflows")]
fn validate(tool: &VirtualMCPCompositeToolDefinitionSpec) -> Result<(), InvalidList> {
    let invalid = |found: Vec<thv_compose::Invalid>| found.into_iter().map(Invalid::from).collect();
    thv_compose::Workflow::new(tool).map(drop).map_err(invalid)
}

/// Whoever does without the parsers leaves it to those who run the tool.
#[cfg(not(feature = "workflows"))]
fn validate(_: &VirtualMCPCompositeToolDefinitionSpec) -> Result<(), InvalidList> {
    Ok(())
}
