//! A test's namespace goes away with it, however the test ends.

use futures::FutureExt;
use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use thv_testbed::{Bed, Space, Tier, in_namespace, wait};

#[tokio::test]
async fn a_test_that_fails_leaves_nothing_behind() -> anyhow::Result<()> {
    let bed = Bed::open(Tier::Api).await?;
    let mut name = String::new();
    let failing = in_namespace(async |space: Space| {
        space.namespace().clone_into(&mut name);
        assert_eq!(1, 2, "on purpose");
        Ok(())
    });
    assert!(std::panic::AssertUnwindSafe(failing).catch_unwind().await.is_err());
    wait::gone(&Api::<Namespace>::all(bed.client()), &name).await
}
