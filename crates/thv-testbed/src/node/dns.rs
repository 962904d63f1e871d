//! Cluster DNS: CoreDNS as a process on the node, behind the usual Service.

use std::fs;
use std::path::Path;

use anyhow::Result;
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use serde_json::json;

use super::{ADDRESS, Node};
use crate::assets::Assets;
use crate::process::Process;

/// The address that pods ask.
pub(super) const SERVICE: &str = "10.96.0.10";

/// Starts CoreDNS.
pub(super) fn start(node: &Node, assets: &Assets, kubeconfig: &Path) -> Result<Process> {
    let file = node.folder.join("Corefile");
    let kubeconfig = kubeconfig.display();
    fs::write(
        &file,
        format!(
            ".:53 {{\n  bind {ADDRESS}\n  errors\n  kubernetes cluster.local {{\n    kubeconfig {kubeconfig}\n  }}\n}}\n"
        ),
    )?;
    let mut command = node.place().command(assets.path("coredns")?);
    command.arg("-conf").arg(file);
    Process::start("coredns", command, &node.folder)
}

/// Makes the Service, which has no pods to select: its one endpoint is the node.
pub(super) async fn publish(client: &Client) -> Result<()> {
    let params = PatchParams::apply("thv-testbed").force();
    let ports = json!([
        {"name": "dns", "port": 53, "protocol": "UDP"},
        {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
    ]);
    let service = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "kube-dns"},
        "spec": {"clusterIP": SERVICE, "ports": ports},
    });
    let slice = json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {"name": "kube-dns", "labels": {"kubernetes.io/service-name": "kube-dns"}},
        "addressType": "IPv4", "endpoints": [{"addresses": [ADDRESS]}], "ports": ports,
    });
    let services: Api<Service> = Api::namespaced(client.clone(), "kube-system");
    services.patch("kube-dns", &params, &Patch::Apply(service)).await?;
    let slices: Api<EndpointSlice> = Api::namespaced(client.clone(), "kube-system");
    slices.patch("kube-dns", &params, &Patch::Apply(slice)).await?;
    Ok(())
}
