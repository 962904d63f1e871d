//! Groups: who belongs to one, and what becomes of its members when it goes.

use anyhow::Result;
use kube::api::DynamicObject;
use serde_json::{Value, json};
use thv_testbed::{Exchange, in_namespace};

use super::{Stage, condition, server};

/// Somebody who belongs to a group.
fn member(kind: &str, group: &str) -> Value {
    let remote = json!({
        "remoteUrl": "https://mcp.example.com", "transport": "streamable-http", "groupRef": {"name": group},
    });
    if kind == "MCPServer" { server(json!({"groupRef": {"name": group}})) } else { remote }
}

/// Who belongs to a group, and how many: servers, remote proxies, entries.
fn members(group: &DynamicObject) -> Value {
    let status = &group.data["status"];
    let of = |names: &str, count: &str| {
        let names = status[names].as_array().cloned().unwrap_or_default();
        json!([names, status[count]])
    };
    json!([
        of("servers", "serverCount"),
        of("remoteProxies", "remoteProxyCount"),
        of("entries", "entryCount"),
    ])
}

/// Waits until a group has exactly these members.
async fn has(stage: &Stage, [servers, proxies, entries]: [&[&str]; 3]) -> Result<DynamicObject> {
    let expected = json!([[servers, servers.len()], [proxies, proxies.len()], [entries, entries.len()]]);
    let count = servers.len() + proxies.len() + entries.len();
    let group = stage
        .until("MCPGroup", "g", &format!("it has {expected}"), |group| members(group) == expected)
        .await?;
    let checked = condition(&group, "MCPServersChecked");
    assert_eq!(checked["status"], "True");
    let message = match count {
        0 => "nobody belongs to the group".to_owned(),
        1 => "the group has one member".to_owned(),
        count => format!("the group has {count} members"),
    };
    assert!(checked["message"].as_str().is_some_and(|text| text.starts_with(&message)), "{checked}");
    assert_eq!(group.data["status"]["phase"], "Ready");
    Ok(group)
}

#[tokio::test]
async fn a_group_knows_its_members_of_every_kind_as_they_come_move_and_go() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        // Some are there before the group is.
        stage.settle("MCPServer", "b", member("MCPServer", "g")).await?;
        stage.make("MCPServerEntry", "a", member("MCPServerEntry", "g")).await?;
        stage.settle("MCPGroup", "g", json!({})).await?;
        has(&stage, [&["b"], &[], &["a"]]).await?;
        stage.make("MCPRemoteProxy", "a", member("MCPRemoteProxy", "g")).await?;
        stage.make("MCPServer", "a", member("MCPServer", "g")).await?;
        has(&stage, [&["a", "b"], &["a"], &["a"]]).await?;

        // One leaves, one moves, one is deleted, and one comes from another group.
        stage.edit("MCPServer", "a", json!({"groupRef": null})).await?;
        has(&stage, [&["b"], &["a"], &["a"]]).await?;
        stage.edit("MCPRemoteProxy", "a", json!({"groupRef": {"name": "other"}})).await?;
        has(&stage, [&["b"], &[], &["a"]]).await?;
        stage.delete("MCPServerEntry", "a").await?;
        has(&stage, [&["b"], &[], &[]]).await?;
        stage.edit("MCPRemoteProxy", "a", json!({"groupRef": {"name": "g"}})).await?;
        has(&stage, [&["b"], &["a"], &[]]).await?;

        // One that is being deleted is none any more.
        stage.delete("MCPServer", "b").await?;
        let group = has(&stage, [&[], &["a"], &[]]).await?;
        assert_eq!(condition(&group, "Referenced")["status"], "False");
        stage.delete("MCPRemoteProxy", "a").await?;
        has(&stage, [&[], &[], &[]]).await?;
        Ok(())
    })
    .await;
}

/// The members of the group, of every kind that can be one.
const MEMBERS: [(&str, &str); 4] =
    [("MCPServer", "one"), ("MCPServer", "two"), ("MCPRemoteProxy", "three"), ("MCPServerEntry", "four")];

/// Waits until every member says whether its group can be used.
async fn all_validated(stage: &Stage, status: &str) -> Result<()> {
    for (kind, name) in MEMBERS {
        stage.says(kind, name, ("GroupRefValidated", status), "").await?;
    }
    Ok(())
}

#[tokio::test]
async fn when_a_group_goes_and_comes_back_every_member_says_so_itself_and_nobody_is_written_but_by_that() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        stage.settle("MCPGroup", "g", json!({})).await?;
        for (kind, name) in MEMBERS {
            stage.settle(kind, name, member(kind, "g")).await?;
        }
        stage.settle("MCPServer", "other", server(json!({}))).await?;
        has(&stage, [&["one", "two"], &["three"], &["four"]]).await?;
        stage.calm().await?;

        let mark = stage.operator.recorder.mark();
        stage.delete("MCPGroup", "g").await?;
        stage.gone("MCPGroup", "g").await?;
        all_validated(&stage, "False").await?;
        stage.calm().await?;
        assert_only_statuses_of_members(&stage, mark, 1);

        stage.settle("MCPGroup", "g", json!({})).await?;
        all_validated(&stage, "True").await?;
        has(&stage, [&["one", "two"], &["three"], &["four"]]).await?;
        stage.calm().await?;
        assert_only_statuses_of_members(&stage, mark, 2);
        Ok(())
    })
    .await;
}

/// Fails the test unless the status of every member was written this often, and nothing else but the group.
#[track_caller]
fn assert_only_statuses_of_members(stage: &Stage, mark: thv_testbed::Mark, times: usize) {
    for (kind, name) in MEMBERS {
        assert_eq!(stage.writes(mark, kind, name), vec!["Apply status"; times], "{kind} {name}");
    }
    let is_other = |write: &&Exchange| {
        let name = write.name.as_deref().unwrap_or_default();
        let plurals = ["mcpservers", "mcpremoteproxies", "mcpserverentries"];
        let is_member =
            plurals.contains(&write.resource.as_str()) && MEMBERS.iter().any(|(_, member)| *member == name);
        !(is_member || write.resource == "mcpgroups" || write.resource == "events" || name.contains("probe"))
    };
    let log = stage.operator.recorder.since(mark).writes();
    let others: Vec<_> = log.iter().filter(is_other).collect();
    assert!(others.is_empty(), "{others:?}");
}
