//! Times that the API server takes and our types do not know.

use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};
use thv_api::kinds::MCPServer;
use thv_testbed::{Space, in_namespace};

use super::{Operator, minimal};
use crate::fixture::{apply, config_map, kubectl};

/// The last second that Go knows.
const LAST: &str = "9999-12-31T23:59:59Z";

/// Writes the time of the first entry of an object's `managedFields`, which whoever may write the object may.
async fn write_time(space: &Space, object: &Value, time: &str) -> anyhow::Result<()> {
    let patch = json!([{"op": "replace", "path": "/metadata/managedFields/0/time", "value": time}]);
    kubectl(space, &["patch", "--type=json", "--patch", &patch.to_string()], object).await
}

#[tokio::test]
async fn a_time_that_our_types_do_not_know_keeps_nobody_from_being_served() {
    in_namespace(async |space| {
        let mut operator = Operator::start(&space).await?;
        let map = config_map("tenants", "1");
        apply(&space.api::<ConfigMap>(), "tenants", "tenant", &map).await?;
        operator.server("odd", minimal()).await?;
        let server = json!({
            "apiVersion": MCPServer::api_version_text(), "kind": "MCPServer", "metadata": {"name": "odd"},
        });
        for object in [&map, &server] {
            write_time(&space, object, LAST).await?;
        }
        operator.server("while", minimal()).await?;
        operator.subject.restart().await?;
        operator.server("after", minimal()).await?;
        // Whoever cleans up after this test does not know that time either: nobody owns anything any more.
        for object in [&map, &server] {
            let nobody = json!([{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]);
            kubectl(&space, &["patch", "--type=json", "--patch", &nobody.to_string()], object).await?;
        }
        operator.settled("odd", Some(1)).await?;
        Ok(())
    })
    .await;
}
