//! The members of a group as the backends of a gateway.
//!
//! What becomes of a member follows from what users say, not from how it does: a backend that is down for a while is
//! still a backend, and nothing is restarted for it. The operator and the gateway itself call the same function.

use std::collections::BTreeMap;

use k8s_openapi::jiff::Timestamp;
use thv_api::Kind;
use thv_api::kinds::{MCPGroupSpec, MCPRemoteProxySpec, MCPServerEntrySpec, MCPServerSpec};
use thv_api::shared::{ExternalAuthConfigRef, HttpTransport};

use crate::reference::{Definition, Read, Reference, References};
use crate::resolve::CaBundle;
use crate::{mcp_remote_proxy, mcp_server, mcp_server_entry};

/// A member of a group that a gateway can offer.
#[derive(Clone, Debug, PartialEq)]
pub struct Backend<'a> {
    /// The name that the gateway knows it by: that of the object.
    pub name: &'a str,
    /// What it is.
    pub member: Member<'a>,
    /// Its address.
    pub url: String,
    /// What it speaks.
    pub transport: HttpTransport,
    /// The certificate authorities that vouch for it, if it names some that are there.
    pub ca_bundle: Option<CaBundle>,
}

/// A member of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Member<'a> {
    /// An `MCPServer`.
    Server(&'a MCPServerSpec),
    /// An `MCPRemoteProxy`.
    RemoteProxy(&'a MCPRemoteProxySpec),
    /// An `MCPServerEntry`.
    Entry(&'a MCPServerEntrySpec),
}

impl<'a> Member<'a> {
    /// The kind of the object.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Server(_) => MCPServerSpec::KIND,
            Self::RemoteProxy(_) => MCPRemoteProxySpec::KIND,
            Self::Entry(_) => MCPServerEntrySpec::KIND,
        }
    }

    /// How it wants a gateway to sign in.
    pub const fn auth(self) -> Option<&'a ExternalAuthConfigRef> {
        match self {
            Self::Server(spec) => spec.external_auth_config_ref.as_ref(),
            Self::RemoteProxy(spec) => spec.external_auth_config_ref.as_ref(),
            Self::Entry(spec) => spec.external_auth_config_ref.as_ref(),
        }
    }
}

/// A member that a gateway cannot offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its kind.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// Why, and what to do about it.
    pub why: String,
}

/// What becomes of the members of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Backends<'a> {
    /// Those that can be offered, by name.
    pub usable: Vec<Backend<'a>>,
    /// Those that cannot.
    pub left_out: Vec<LeftOut>,
}

/// What has to be read to know the members of a group.
pub fn references(group: &str) -> [Reference; 3] {
    [
        Reference::members::<MCPServerSpec>(group),
        Reference::members::<MCPRemoteProxySpec>(group),
        Reference::members::<MCPServerEntrySpec>(group),
    ]
}

/// How many members a gateway offers at most.
const MOST: usize = 1_000;
/// How many bytes the addresses and names of all of them may have: they go into one ConfigMap, with much else.
const MOST_BYTES: usize = 256 * 1024;

/// The members of a group that are not being deleted and can be read, those of one kind after those of another.
pub(crate) fn members<'a>(group: &str, known: &'a References) -> Vec<(&'a str, Member<'a>)> {
    all(group, known).into_iter().filter_map(|one| Some((one.name, one.read.found()?))).collect()
}

/// The backends of a gateway that offers a group of this namespace.
///
/// Clients know tools by the name of the backend, and settings name it, so there can only be one of a name. The oldest has
/// it: whoever comes later must not take over what was meant for somebody else. Of one age, an `MCPServer` comes before
/// an `MCPRemoteProxy`, and that before an `MCPServerEntry`. One that goes or cannot be read keeps its name meanwhile.
pub fn backends<'a>(namespace: &str, group: &str, known: &'a References) -> Backends<'a> {
    let mut members = all(group, known);
    members.sort_by_key(|one| one.created);
    let mut taken: BTreeMap<&str, &'static str> = BTreeMap::new();
    let (mut backends, mut bytes) = (Backends::default(), 0);
    for Listed { kind, name, created: _, read } in members {
        let made = match (read, taken.get(name)) {
            (Read::Found(_), Some(other)) => {
                Err(format!("the {other} of the same name was there first: rename one of them"))
            }
            (Read::Found(member), None) => backend(namespace, name, member, known),
            (Read::Malformed(why), _) => Err(format!("it cannot be read: {why}")),
            (Read::Absent, _) => {
                taken.entry(name).or_insert(kind);
                continue;
            }
        };
        taken.entry(name).or_insert(kind);
        let made = made.and_then(|backend| {
            bytes += backend.name.len() + backend.url.len();
            if backends.usable.len() < MOST && bytes <= MOST_BYTES {
                Ok(backend)
            } else {
                Err(format!("a gateway offers {MOST} members at most: make another group"))
            }
        });
        match made {
            Ok(backend) => backends.usable.push(backend),
            Err(why) => backends.left_out.push(LeftOut { kind, name: name.to_owned(), why }),
        }
    }
    backends.usable.sort_by_key(|backend| backend.name);
    backends
}

/// A member as a backend, or why it cannot be one.
fn backend<'a>(
    namespace: &str,
    name: &'a str,
    member: Member<'a>,
    known: &References,
) -> Result<Backend<'a>, String> {
    let (url, transport, ca_bundle) = match member {
        Member::Server(spec) => {
            (mcp_server::url(namespace, name, spec), mcp_server::client_transport(spec), None)
        }
        Member::RemoteProxy(spec) => (mcp_remote_proxy::url(namespace, name, spec), spec.transport, None),
        Member::Entry(spec) => {
            (spec.remote_url.clone(), spec.transport, mcp_server_entry::usable(spec, known)?)
        }
    };
    // What follows `#` is for programs that show the address to people.
    let url = url.split_once('#').map_or(url.as_str(), |(url, _)| url).to_owned();
    Ok(Backend { name, member, url, transport, ca_bundle })
}

/// A member as it was found. One that is being deleted is absent.
struct Listed<'a> {
    kind: &'static str,
    name: &'a str,
    created: Option<Timestamp>,
    read: Read<Member<'a>>,
}

/// All members of a group.
fn all<'a>(group: &str, known: &'a References) -> Vec<Listed<'a>> {
    let servers = of_kind::<MCPServerSpec>(group, known, Member::Server);
    let proxies = of_kind::<MCPRemoteProxySpec>(group, known, Member::RemoteProxy);
    let entries = of_kind::<MCPServerEntrySpec>(group, known, Member::Entry);
    servers.chain(proxies).chain(entries).collect()
}

fn of_kind<'a, S: Kind>(
    group: &str,
    known: &'a References,
    member: fn(&'a S) -> Member<'a>,
) -> impl Iterator<Item = Listed<'a>> {
    known.referrers::<S, MCPGroupSpec>(group).into_iter().map(move |(name, read)| {
        let (created, read) = match read {
            Read::Found(Definition { spec: _, is_terminating: true, created }) => (created, Read::Absent),
            Read::Found(Definition { spec, is_terminating: false, created }) => {
                (created, Read::Found(member(spec)))
            }
            Read::Absent => (None, Read::Absent),
            Read::Malformed(why) => (None, Read::Malformed(why)),
        };
        Listed { kind: S::KIND, name, created, read }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use serde_json::{Value, json};
    use thv_api::Object;

    use super::*;
    use crate::reference::{AnyObject, Referent};

    fn object<S: Kind>(name: &str, spec: Value) -> (String, Read<Arc<dyn AnyObject>>) {
        let mut object = Object::<S>::new(name, serde_json::from_value(spec).unwrap());
        object.metadata.namespace = Some("ns".to_owned());
        (name.to_owned(), Read::Found(Arc::new(object)))
    }

    fn members_of<S: Kind>(known: &mut References, members: Vec<(String, Read<Arc<dyn AnyObject>>)>) {
        known.insert(Reference::members::<S>("g"), Read::Found(Referent::Objects(members)));
    }

    fn entry(name: &str, url: &str) -> (String, Read<Arc<dyn AnyObject>>) {
        let spec = json!({"groupRef": {"name": "g"}, "transport": "streamable-http", "remoteUrl": url});
        object::<MCPServerEntrySpec>(name, spec)
    }

    #[test]
    fn members_of_every_kind_become_backends_by_name() {
        let mut known = References::new();
        members_of::<MCPServerSpec>(
            &mut known,
            vec![
                object::<MCPServerSpec>("old", json!({"image": "i", "transport": "sse"})),
                object::<MCPServerSpec>("web", json!({"image": "i", "proxyPort": 9000})),
            ],
        );
        let proxy = json!({"remoteUrl": "https://mcp.example.com/x"});
        members_of::<MCPRemoteProxySpec>(&mut known, vec![object::<MCPRemoteProxySpec>("far", proxy)]);
        members_of::<MCPServerEntrySpec>(&mut known, vec![entry("ctx", "https://mcp.example.com/y")]);
        let Backends { usable, left_out } = backends("ns", "g", &known);
        assert_eq!(left_out, []);
        let found: Vec<_> =
            usable.iter().map(|one| (one.name, one.member.kind(), one.url.as_str())).collect();
        assert_eq!(
            found,
            [
                ("ctx", "MCPServerEntry", "https://mcp.example.com/y"),
                ("far", "MCPRemoteProxy", "http://mcp-far-remote-proxy.ns.svc.cluster.local:8080"),
                ("old", "MCPServer", "http://mcp-old-proxy.ns.svc.cluster.local:8080/sse"),
                ("web", "MCPServer", "http://mcp-web-proxy.ns.svc.cluster.local:9000/mcp"),
            ]
        );
    }

    #[test]
    fn of_two_members_of_one_name_the_first_kind_wins_and_the_other_is_told() {
        let mut known = References::new();
        let server = object::<MCPServerSpec>("x", json!({"image": "i"}));
        members_of::<MCPServerSpec>(&mut known, vec![server]);
        members_of::<MCPServerEntrySpec>(&mut known, vec![entry("x", "https://mcp.example.com")]);
        let Backends { usable, left_out } = backends("ns", "g", &known);
        assert_eq!(usable.iter().map(|one| one.member.kind()).collect::<Vec<_>>(), ["MCPServer"]);
        let [LeftOut { kind, name, why }] = left_out.as_slice() else { panic!("{left_out:?}") };
        assert_eq!((*kind, name.as_str()), ("MCPServerEntry", "x"));
        assert!(why.contains("the MCPServer of the same name was there first"), "{why}");
    }

    #[test]
    fn whoever_comes_later_does_not_take_a_name_over_and_one_that_goes_keeps_it() {
        let dated = |object: &mut (String, Read<Arc<dyn AnyObject>>), created: Timestamp, goes: bool| {
            let Read::Found(found) = &object.1 else { panic!() };
            let any: &dyn std::any::Any = found.as_ref();
            let mut entry = any.downcast_ref::<Object<MCPServerEntrySpec>>().unwrap().clone();
            entry.metadata.creation_timestamp = Some(Time(created));
            entry.metadata.deletion_timestamp = goes.then_some(Time(created));
            object.1 = Read::Found(Arc::new(entry));
        };
        for (goes, expected) in [(false, vec!["MCPServerEntry"]), (true, Vec::new())] {
            let mut first = entry("github", "https://mcp.example.com");
            dated(&mut first, Timestamp::UNIX_EPOCH, goes);
            let mut later = Object::<MCPServerSpec>::new(
                "github",
                serde_json::from_value(json!({"image": "i"})).unwrap(),
            );
            later.metadata.creation_timestamp = Some(Time(Timestamp::from_second(9).unwrap()));
            let mut known = References::new();
            members_of::<MCPServerEntrySpec>(&mut known, vec![first]);
            members_of::<MCPServerSpec>(
                &mut known,
                vec![("github".to_owned(), Read::Found(Arc::new(later)))],
            );
            let Backends { usable, left_out } = backends("ns", "g", &known);
            assert_eq!(usable.iter().map(|one| one.member.kind()).collect::<Vec<_>>(), expected);
            assert_eq!(left_out.len(), 1);
        }
    }

    #[test]
    fn a_gateway_offers_so_many_members_and_no_more() {
        let mut known = References::new();
        let all =
            (0..1_200).map(|number| entry(&format!("e{number:04}"), "https://mcp.example.com")).collect();
        members_of::<MCPServerEntrySpec>(&mut known, all);
        let Backends { usable, left_out } = backends("ns", "g", &known);
        assert_eq!((usable.len(), left_out.len()), (MOST, 200));
    }

    #[test]
    fn what_cannot_be_used_or_read_is_left_out_alone() {
        let mut known = References::new();
        let malformed = ("bad".to_owned(), Read::Malformed("spec.image is missing".to_owned()));
        members_of::<MCPServerSpec>(&mut known, vec![malformed]);
        members_of::<MCPServerEntrySpec>(
            &mut known,
            vec![entry("inside", "https://169.254.169.254"), entry("out", "https://mcp.example.com")],
        );
        let Backends { usable, left_out } = backends("ns", "g", &known);
        assert_eq!(usable.iter().map(|one| one.name).collect::<Vec<_>>(), ["out"]);
        assert_eq!(left_out.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["bad", "inside"]);
    }
}
