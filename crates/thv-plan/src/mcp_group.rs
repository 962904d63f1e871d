//! `MCPGroup`: who its members are. Nothing is made for a group, and nothing is written on its members: each of them says
//! itself whether its group can be used.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::Kind;
use thv_api::conditions::mcp_group::{MCPServersChecked, Referenced, polarity};
use thv_api::conditions::{Observation, Polarity, Reason, set};
use thv_api::kinds::{
    MCPGroup, MCPGroupPhase, MCPGroupSpec, MCPGroupStatus, MCPRemoteProxySpec, MCPServerEntrySpec,
    MCPServerSpec,
};
use thv_api::names::finalizers;

use crate::live::Observe;
use crate::plan::{Children, Plan};
use crate::planned::{Deletion, Failure, Planned, Refers};
use crate::reference::{Reference, References, Target};
use crate::referrers;
use crate::settings::Settings;
use crate::snapshot::Snapshot;

/// How many members of each kind are named. All of them are counted.
const NAMED: usize = 500;

impl Refers for MCPGroupSpec {
    const REFERS_TO: &'static [&'static str] = &[];

    fn refs(group: &MCPGroup, _: &References, _: &Settings) -> BTreeSet<Reference> {
        [Reference::referred_by::<Self>(group.metadata.name.as_deref().unwrap_or_default())].into()
    }
}

impl Planned for MCPGroupSpec {
    type Live = ();

    const FINALIZER: Option<&'static str> = Some(finalizers::MCP_GROUP);
    // Members see for themselves that their group goes.
    const DELETION: Deletion<Self> = Deletion::Nothing;

    fn live(_: &MCPGroup, _: &mut dyn Observe) {}

    fn plan(snapshot: &Snapshot<Self>) -> Plan<Self> {
        let live = snapshot.owner.status.as_ref().map(Self::conditions).unwrap_or_default();
        let observe = Observation::new(snapshot.generation(), snapshot.now, live);
        let referrers = snapshot.references.referred_by::<Self>(snapshot.name());
        Plan::new(Children::Exactly(Vec::new()), status(&observe, referrers))
    }

    fn failing_status(
        before: Option<&MCPGroupStatus>,
        observation: &Observation<'_>,
        failure: &Failure,
    ) -> MCPGroupStatus {
        let mut status = before.cloned().unwrap_or_default();
        let checked = match failure {
            Failure::Unknown(message) => observation.unknown(MCPServersChecked::Failed, message),
            Failure::Refused(message) | Failure::Malformed(message) => {
                status.phase = Some(MCPGroupPhase::Failed);
                status.observed_generation = Some(observation.generation());
                observation.condition(MCPServersChecked::Failed, message)
            }
        };
        set(status.conditions.get_or_insert_default(), checked);
        status
    }

    fn conditions(status: &MCPGroupStatus) -> &[Condition] {
        status.conditions.as_deref().unwrap_or_default()
    }

    fn conditions_mut(status: &mut MCPGroupStatus) -> &mut Option<Vec<Condition>> {
        &mut status.conditions
    }

    fn polarity(type_: &str) -> Polarity {
        polarity(type_)
    }

    /// Who belongs to a group changes with every member.
    fn urgent(status: &MCPGroupStatus) -> MCPGroupStatus {
        let MCPGroupStatus {
            conditions,
            observed_generation,
            phase,
            servers: _,
            server_count: _,
            remote_proxies: _,
            remote_proxy_count: _,
            entries: _,
            entry_count: _,
        } = status.clone();
        let is_urgent = |condition: &Condition| condition.type_ != Referenced::TYPE;
        // That the members are known is urgent. The message counts them.
        let without_message = |condition: Condition| Condition { message: String::new(), ..condition };
        let conditions =
            conditions.map(|all| all.into_iter().filter(is_urgent).map(without_message).collect());
        MCPGroupStatus { conditions, observed_generation, phase, ..MCPGroupStatus::default() }
    }
}

/// What is said of a group to which these refer. Members need not be healthy, and a group needs none.
fn status(observe: &Observation<'_>, referrers: &[Target]) -> MCPGroupStatus {
    let of_kind = |kind: &str| -> Vec<String> {
        referrers.iter().filter(|one| one.kind == kind).map(|one| one.name.clone()).collect()
    };
    let members = [MCPServerSpec::KIND, MCPRemoteProxySpec::KIND, MCPServerEntrySpec::KIND];
    let [servers, remote_proxies, entries] = members.map(of_kind);
    let others: Vec<Target> = referrers.iter().filter(|one| !members.contains(&one.kind)).cloned().collect();
    let message = match servers.len() + remote_proxies.len() + entries.len() {
        0 => "nobody belongs to the group: name it in the groupRef of a server".to_owned(),
        1 => "the group has one member".to_owned(),
        count if [&servers, &remote_proxies, &entries].iter().any(|names| names.len() > NAMED) => {
            format!("the group has {count} members; the first {NAMED} of each kind are named")
        }
        count => format!("the group has {count} members"),
    };
    let count = |names: &[String]| i32::try_from(names.len()).ok();
    // The API server makes nothing of a set whose last member is taken back, so nothing is what we ask for.
    // And every name is there twice, once as ours: those of all members of a big group would not fit.
    let named = |names: Vec<String>| (!names.is_empty()).then(|| names.into_iter().take(NAMED).collect());
    MCPGroupStatus {
        conditions: Some(vec![
            observe.condition(MCPServersChecked::Succeeded, message),
            referrers::condition(&others, observe),
        ]),
        observed_generation: Some(observe.generation()),
        phase: Some(MCPGroupPhase::Ready),
        server_count: count(&servers),
        remote_proxy_count: count(&remote_proxies),
        entry_count: count(&entries),
        servers: named(servers),
        remote_proxies: named(remote_proxies),
        entries: named(entries),
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::Timestamp;

    use super::*;

    fn target(kind: &'static str, name: &str) -> Target {
        Target { kind, name: name.to_owned() }
    }

    #[test]
    fn members_are_counted_by_kind_and_a_virtual_server_is_none() {
        let observe = Observation::new(2, Timestamp::UNIX_EPOCH, &[]);
        let referrers = [
            target("MCPRemoteProxy", "p"),
            target("MCPServer", "a"),
            target("MCPServer", "b"),
            target("VirtualMCPServer", "v"),
        ];
        let status = status(&observe, &referrers);
        assert_eq!(status.servers, Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(
            (status.server_count, status.remote_proxy_count, status.entry_count),
            (Some(2), Some(1), Some(0))
        );
        let conditions = status.conditions.unwrap();
        assert_eq!(conditions[0].message, "the group has 3 members");
        assert_eq!(conditions[1].message, "VirtualMCPServer v");
    }

    #[test]
    fn all_members_of_a_big_group_are_counted_and_the_first_ones_named() {
        let observe = Observation::new(2, Timestamp::UNIX_EPOCH, &[]);
        let referrers: Vec<_> =
            (0..5_000).map(|number| target("MCPServer", &format!("s{number:04}"))).collect();
        let status = status(&observe, &referrers);
        assert_eq!((status.server_count, status.servers.unwrap().len()), (Some(5_000), NAMED));
        assert!(status.conditions.unwrap()[0].message.contains("5000 members"));
    }

    #[test]
    fn who_belongs_to_a_group_is_not_urgent_and_its_phase_is() {
        let observe = Observation::new(2, Timestamp::UNIX_EPOCH, &[]);
        let (none, one) = (status(&observe, &[]), status(&observe, &[target("MCPServer", "a")]));
        assert_ne!(none, one);
        assert_eq!(MCPGroupSpec::urgent(&none), MCPGroupSpec::urgent(&one));
        let failed = MCPGroupStatus { phase: Some(MCPGroupPhase::Failed), ..none.clone() };
        assert_ne!(MCPGroupSpec::urgent(&none), MCPGroupSpec::urgent(&failed));
    }
}
