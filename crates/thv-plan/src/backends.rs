//! The members of a group as the backends of a gateway.
//!
//! What becomes of a member follows from what users say, not from how it does: a backend that is down for a while is
//! still a backend, and nothing is restarted for it. The operator and the gateway itself call the same function.

use std::collections::BTreeMap;

use thv_api::Kind;
use thv_api::kinds::{MCPGroupSpec, MCPRemoteProxySpec, MCPServerEntrySpec, MCPServerSpec};
use thv_api::shared::{ExternalAuthConfigRef, HttpTransport};

use crate::reference::{Definition, Read, Reference, References};
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

/// The members of a group that are not being deleted and can be read, those of one kind after those of another.
pub(crate) fn members<'a>(group: &str, known: &'a References) -> Vec<(&'a str, Member<'a>)> {
    all(group, known).into_iter().filter_map(|(_, name, read)| Some((name, read.found()?))).collect()
}

/// The backends of a gateway that offers a group of this namespace.
///
/// Where members of two kinds have one name, an `MCPServer` comes before an `MCPRemoteProxy`, and that before an
/// `MCPServerEntry`: clients know tools by the name of the backend, so there can only be one.
pub fn backends<'a>(namespace: &str, group: &str, known: &'a References) -> Backends<'a> {
    let mut taken: BTreeMap<&str, &'static str> = BTreeMap::new();
    let mut backends = Backends::default();
    for (kind, name, read) in all(group, known) {
        let made = match (read, taken.get(name)) {
            (Read::Absent, _) => continue,
            (Read::Malformed(why), _) => Err(format!("it cannot be read: {why}")),
            (Read::Found(_), Some(other)) => {
                Err(format!("the {other} of the same name comes first: rename one of them"))
            }
            (Read::Found(member), None) => backend(namespace, name, member, known),
        };
        match made {
            Ok(backend) => {
                taken.insert(name, kind);
                backends.usable.push(backend);
            }
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
    let (url, transport) = match member {
        Member::Server(spec) => (mcp_server::url(namespace, name, spec), mcp_server::client_transport(spec)),
        Member::RemoteProxy(spec) => (mcp_remote_proxy::url(namespace, name, spec), spec.transport),
        Member::Entry(spec) => {
            mcp_server_entry::usable(spec, known)?;
            (spec.remote_url.clone(), spec.transport)
        }
    };
    // What follows `#` is for programs that show the address to people.
    let url = url.split_once('#').map_or(url.as_str(), |(url, _)| url).to_owned();
    Ok(Backend { name, member, url, transport })
}

/// All members of a group that are not being deleted: kind, name, and what was read.
fn all<'a>(group: &str, known: &'a References) -> Vec<(&'static str, &'a str, Read<Member<'a>>)> {
    let servers = of_kind::<MCPServerSpec>(group, known, Member::Server);
    let proxies = of_kind::<MCPRemoteProxySpec>(group, known, Member::RemoteProxy);
    let entries = of_kind::<MCPServerEntrySpec>(group, known, Member::Entry);
    servers.chain(proxies).chain(entries).collect()
}

fn of_kind<'a, S: Kind>(
    group: &str,
    known: &'a References,
    member: fn(&'a S) -> Member<'a>,
) -> impl Iterator<Item = (&'static str, &'a str, Read<Member<'a>>)> {
    known.referrers::<S, MCPGroupSpec>(group).into_iter().map(move |(name, read)| {
        let read = match read {
            Read::Found(Definition { spec: _, is_terminating: true }) | Read::Absent => Read::Absent,
            Read::Found(Definition { spec, is_terminating: false }) => Read::Found(member(spec)),
            Read::Malformed(why) => Read::Malformed(why),
        };
        (S::KIND, name, read)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

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
    fn members_of_every_kind_become_backends_by_name_whatever_their_health() {
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
        assert!(why.contains("the MCPServer of the same name"), "{why}");
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
