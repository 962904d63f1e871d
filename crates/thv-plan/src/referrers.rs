//! Who refers to an object, in words.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::Observation;
use thv_api::conditions::config::Referenced;

use crate::reference::Target;

/// How many are named. A message is for people, and changes with everybody whom it names.
const NAMED: usize = 10;

/// Whether somebody refers to an object, and who.
pub(crate) fn condition(referrers: &[Target], observe: &Observation<'_>) -> Condition {
    if referrers.is_empty() {
        observe.condition(Referenced::NotReferenced, "nobody refers to it")
    } else {
        observe.condition(Referenced::Referenced, list(referrers))
    }
}

/// The names of referrers, by kind: the first ones, and how many more there are.
pub fn list(referrers: &[Target]) -> String {
    let mut sorted: Vec<&Target> = referrers.iter().collect();
    sorted.sort_unstable();
    let mut by_kind: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for Target { kind, name } in sorted.iter().take(NAMED) {
        by_kind.entry(kind).or_default().push(name);
    }
    let named: Vec<String> =
        by_kind.iter().map(|(kind, names)| format!("{kind} {}", names.join(", "))).collect();
    match sorted.len().saturating_sub(NAMED) {
        0 => named.join("; "),
        more => format!("{}; and {more} more", named.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(kind: &'static str, name: &str) -> Target {
        Target { kind, name: name.to_owned() }
    }

    #[test]
    fn names_are_sorted_by_kind_and_bounded() {
        let mut all =
            vec![target("VirtualMCPServer", "v"), target("MCPServer", "b"), target("MCPServer", "a")];
        assert_eq!(list(&all), "MCPServer a, b; VirtualMCPServer v");
        all.extend((0..20).map(|number| target("MCPServer", &format!("s{number:02}"))));
        assert!(list(&all).ends_with("; and 13 more"), "{}", list(&all));
    }
}
