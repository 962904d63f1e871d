//! What reaches a virtual server through its group, and what it refers to that nobody else does.

use std::collections::BTreeMap;

use anyhow::Result;
use futures::future::try_join_all;
use kube::api::{DeleteParams, DynamicObject};
use serde_json::{Value, json};
use thv_testbed::{Exchange, Mark, Pattern, Space, Verb, in_namespace};

use super::super::difference::{Places, places};
use super::super::rollout::secret;
use super::super::shift::VIRTUAL_SERVER;
use super::{Stage, server, with};

/// How many are made at a time.
const AT_ONCE: usize = 20;

/// Settings that inject a header from this Secret.
fn header(secret: &str) -> Value {
    json!({"type": "headerInjection", "headerInjection": {
        "headerName": "X-Api-Key", "valueSecretRef": {"name": secret, "key": "k"},
    }})
}

/// A virtual server of this group, with these fields.
fn gateway(group: &str, fields: &Value) -> Value {
    let spec = with((VIRTUAL_SERVER.spec)(), &json!({"groupRef": {"name": group}}));
    with(spec, fields)
}

fn inline() -> Value {
    json!({"outgoingAuth": {"source": "inline"}})
}

/// A member of the group, of one kind or another.
fn member(kind: &str) -> Value {
    let group = json!({"groupRef": {"name": "g"}});
    match kind {
        "MCPServer" => server(group),
        "MCPRemoteProxy" => with(json!({"remoteUrl": "https://mcp.example.com"}), &group),
        _ => {
            let spec = json!({"remoteUrl": "https://mcp.example.com", "transport": "streamable-http"});
            with(spec, &group)
        }
    }
}

/// Where the configuration says this.
fn in_config<const N: usize>(all: [&str; N]) -> Places {
    all.iter().map(|place| format!("ConfigMap/s-vmcp-config data[config.yaml].{place}")).collect()
}

#[tokio::test]
async fn another_secret_behind_the_settings_of_a_member_reaches_the_pods_of_its_gateway_and_no_others() {
    for kind in ["MCPServer", "MCPRemoteProxy", "MCPServerEntry"] {
        in_namespace(async |space| {
            let stage = Stage::start(&space).await?;
            for name in ["v1", "v2"] {
                secret(&space, name, json!({"k": name})).await?;
            }
            for group in ["g", "other"] {
                stage.settle("MCPGroup", group, json!({})).await?;
            }
            for name in ["one", "two"] {
                stage.settle("MCPExternalAuthConfig", name, header("v1")).await?;
            }
            let auth = |name: &str| json!({"externalAuthConfigRef": {"name": name}});
            stage.make(kind, "m", with(member(kind), &auth("one"))).await?;
            stage.settle("VirtualMCPServer", "s", gateway("g", &inline())).await?;
            stage.settle("VirtualMCPServer", "neighbour", gateway("other", &inline())).await?;
            stage.calm().await?;
            let mark = stage.operator.recorder.mark();

            // The far end of the chain.
            let edit = async { stage.make("MCPExternalAuthConfig", "one", header("v2")).await.map(drop) };
            let changed = stage.shift(&VIRTUAL_SERVER, edit).await?;
            let variable = "env[TOOLHIVE_HEADER_INJECTION_VALUE_ONE]";
            let place = format!("{variable}.valueFrom.secretKeyRef.name");
            assert_eq!(changed, VIRTUAL_SERVER.in_container([&place]), "{kind}");

            // Its middle: the member asks for other settings, and then for none.
            let changed = stage.shift(&VIRTUAL_SERVER, stage.edit(kind, "m", auth("two"))).await?;
            let other = "env[TOOLHIVE_HEADER_INJECTION_VALUE_TWO]";
            let expected = in_config(["outgoingAuth.backends.m.headerInjection.headerValueEnv"]);
            let expected: Places =
                expected.into_iter().chain(VIRTUAL_SERVER.in_container([variable, other])).collect();
            assert_eq!(changed, expected, "{kind}");
            let none = stage.edit(kind, "m", json!({"externalAuthConfigRef": null}));
            let changed = stage.shift(&VIRTUAL_SERVER, none).await?;
            let expected = in_config(["outgoingAuth.backends"]);
            let expected: Places = expected.into_iter().chain(VIRTUAL_SERVER.in_container([other])).collect();
            assert_eq!(changed, expected, "{kind}");

            // Its near end: the member leaves.
            let leave = stage.edit(kind, "m", json!({"groupRef": {"name": "other"}}));
            assert_eq!(stage.shift(&VIRTUAL_SERVER, leave).await?, in_config(["backends"]), "{kind}");
            let of_group = stage.requests(mark, "MCPGroup", "g").writes();
            assert!(
                of_group.iter().all(|write| write.subresource.as_deref() == Some("status")),
                "{of_group}"
            );
            Ok(())
        })
        .await;
    }
}

#[tokio::test]
async fn a_member_whose_secret_goes_is_left_out_is_told_and_comes_back_with_it() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        secret(&space, "v1", json!({"k": "1"})).await?;
        stage.settle("MCPGroup", "g", json!({})).await?;
        stage.settle("MCPExternalAuthConfig", "one", header("v1")).await?;
        let auth = json!({"externalAuthConfigRef": {"name": "one"}});
        stage.settle("MCPServerEntry", "m", with(member("MCPServerEntry"), &auth)).await?;
        stage.settle("VirtualMCPServer", "s", gateway("g", &inline())).await?;
        stage.calm().await?;
        let of_member = || {
            let config = in_config(["backends", "outgoingAuth.backends"]);
            let variable = VIRTUAL_SERVER.in_container(["env[TOOLHIVE_HEADER_INJECTION_VALUE_ONE]"]);
            config.into_iter().chain(variable).collect::<Places>()
        };
        let secrets = space.api::<k8s_openapi::api::core::v1::Secret>();
        let gone = async { Ok(secrets.delete("v1", &DeleteParams::default()).await.map(drop)?) };
        assert_eq!(stage.shift(&VIRTUAL_SERVER, gone).await?, of_member());
        let why = "MCPServerEntry m";
        stage.says("VirtualMCPServer", "s", ("MembersAccepted", "False"), why).await?;
        let back = secret(&space, "v1", json!({"k": "1"}));
        assert_eq!(stage.shift(&VIRTUAL_SERVER, back).await?, of_member());
        stage.says("VirtualMCPServer", "s", ("MembersAccepted", "True"), "").await.map(drop)
    })
    .await;
}

#[tokio::test]
async fn an_edit_of_an_embedding_server_or_of_a_composite_tool_reaches_the_configuration_of_the_gateway() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        stage.settle("MCPGroup", "g", json!({})).await?;
        stage.settle("EmbeddingServer", "e", json!({"model": "m"})).await?;
        let tool = |description: &str| {
            json!({
                "name": "both", "description": description,
                "steps": [{"id": "one", "type": "tool", "tool": "m_search"}],
            })
        };
        stage.make("VirtualMCPCompositeToolDefinition", "c", tool("first")).await?;
        // The first pods would wait for the embedding server, which nobody runs here.
        stage.settle("VirtualMCPServer", "s", gateway("g", &json!({}))).await?;
        let refer = json!({
            "embeddingServerRef": {"name": "e"}, "config": {"compositeToolRefs": [{"name": "c"}]},
        });
        let changed = stage.change(&VIRTUAL_SERVER, refer).await?;
        assert_eq!(changed, in_config(["compositeToolRefs", "compositeTools", "optimizer"]));

        let changed =
            stage.shift(&VIRTUAL_SERVER, stage.edit("EmbeddingServer", "e", json!({"port": 9000}))).await?;
        assert_eq!(changed, in_config(["optimizer.embeddingService"]));
        let edit = stage.edit("VirtualMCPCompositeToolDefinition", "c", tool("second"));
        let changed = stage.shift(&VIRTUAL_SERVER, edit).await?;
        assert_eq!(changed, in_config(["compositeTools[both].description"]));

        // What is gone is told, and what runs stays.
        stage.calm().await?;
        let before = stage.children(&VIRTUAL_SERVER).await?;
        for (kind, name, condition) in [
            ("EmbeddingServer", "e", "EmbeddingServerReady"),
            ("VirtualMCPCompositeToolDefinition", "c", "CompositeToolRefsValidated"),
        ] {
            stage.delete(kind, name).await?;
            let why = format!("the {kind} {name:?} does not exist");
            stage.says("VirtualMCPServer", "s", (condition, "False"), &why).await?;
        }
        stage.calm().await?;
        let after = stage.children(&VIRTUAL_SERVER).await?;
        assert_eq!((before.versions(), before.changes(&after)), (after.versions(), places([])));
        Ok(())
    })
    .await;
}

/// Fails the test if any object was listed or read since `mark`, but for lists of watches that start anew.
#[track_caller]
fn assert_nothing_read(stage: &Stage, mark: Mark) {
    let log = stage.operator.recorder.since(mark);
    log.only(&Pattern::verb(Verb::Get)).assert_empty("read");
    for list in log.only(&Pattern::verb(Verb::List)).iter() {
        let watch = Pattern::verb(Verb::Watch).of(&list.resource);
        let is_of_watch = log.only(&watch).iter().any(|watch| watch.number > list.number);
        assert!(is_of_watch, "{list} is not of a watch that starts anew");
    }
}

/// What was written since `mark`, and how often, but for probes and what others do about a member.
fn writes(stage: &Stage, mark: Mark) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let is_meant = |write: &&Exchange| write.told != Some(409);
    for write in stage.operator.writes(mark).iter().filter(is_meant) {
        let (name, part) = (write.name.as_deref().unwrap_or_default(), write.subresource.as_deref());
        let what = format!("{:?} {} {name} {}", write.verb, write.resource, part.unwrap_or_default());
        *counts.entry(what.trim_end().to_owned()).or_default() += 1;
    }
    counts
}

/// A group of so many servers and remote proxies and so many entries, and two virtual servers that offer it.
async fn crowd(space: &Space, proxies: usize, entries: usize) -> Result<Stage> {
    let stage = Stage::start(space).await?;
    stage.settle("MCPGroup", "g", json!({})).await?;
    let kinds = [("MCPServer", proxies), ("MCPRemoteProxy", proxies), ("MCPServerEntry", entries)];
    for (kind, count) in kinds {
        let names: Vec<String> =
            (0..count).map(|number| format!("{}-{number:03}", kind.to_lowercase())).collect();
        for some in names.chunks(AT_ONCE) {
            try_join_all(some.iter().map(|name| stage.settle(kind, name, member(kind)))).await?;
        }
    }
    let has_all = |group: &DynamicObject| {
        group.data["status"]["entries"].as_array().is_some_and(|all| all.len() == entries)
            && group.data["status"]["servers"].as_array().is_some_and(|all| all.len() == proxies)
    };
    stage.until("MCPGroup", "g", "it has all members", has_all).await?;
    let all = 2 * proxies + entries;
    for (name, fields) in [("s", inline()), ("finds", json!({}))] {
        stage.settle("VirtualMCPServer", name, gateway("g", &fields)).await?;
        let count = format!("offered: {all}");
        stage.says("VirtualMCPServer", name, ("MembersAccepted", "True"), &count).await?;
    }
    stage.calm().await?;
    Ok(stage)
}

#[tokio::test]
async fn an_edit_of_one_of_two_hundred_members_is_one_look_at_their_gateway_and_one_write_for_what_it_changes()
 {
    in_namespace(async |space| {
        let stage = crowd(&space, 10, 180).await?;

        // What only those need who call the member is one look at each gateway, and no write on either.
        let (count, mark) = (stage.passes.over("VirtualMCPServer").await?, stage.operator.recorder.mark());
        let headers = json!({"headerForward": {"addPlaintextHeaders": {"X-Team": "a"}}});
        stage.edit("MCPRemoteProxy", "mcpremoteproxy-003", headers).await?;
        stage.calm().await?;
        let passes = stage.passes.over("VirtualMCPServer").await? - count;
        assert_eq!(passes, 2, "one for each gateway");
        let found = writes(&stage, mark);
        let is_gateways = |what: &&String| what.contains(" virtualmcpservers ") || what.contains("-vmcp");
        assert_eq!(found.keys().find(is_gateways), None, "{found:#?}");
        assert_nothing_read(&stage, mark);

        // Another address is another configuration, of the gateway that is told its backends.
        let mark = stage.operator.recorder.mark();
        let other = stage.edit(
            "MCPServerEntry",
            "mcpserverentry-007",
            json!({"remoteUrl": "https://two.example.com"}),
        );
        let changed = stage.shift(&VIRTUAL_SERVER, other).await?;
        let expected = in_config([
            "backends[mcpserverentry-007].url",
            "backends[mcpserverentry-007].metadata.remote_url",
        ]);
        assert_eq!(changed, expected);
        let mut found = writes(&stage, mark);
        found.retain(|what, _| !what.contains(" mcpserverentries "));
        let expected = [
            "MergePatch virtualmcpservers s",
            "Apply virtualmcpservers s status",
            "Apply configmaps s-vmcp-config",
            "Apply deployments s",
        ];
        let expected: BTreeMap<String, usize> = expected.map(|what| (what.to_owned(), 1)).into();
        assert_eq!(found, expected);
        assert_nothing_read(&stage, mark);
        Ok(())
    })
    .await;
}
