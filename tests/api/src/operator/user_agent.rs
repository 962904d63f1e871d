//! Who sends a request, as the API server's audit log shows it.

use thv_testbed::in_namespace;

use super::{Operator, minimal};

#[tokio::test]
async fn every_request_of_the_operator_names_the_program_and_its_version() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        operator.server("s", minimal()).await?;
        let log = operator.recorder.log();
        assert!(!log.writes().is_empty(), "{log}");
        let agent = concat!("thv-operator/", env!("CARGO_PKG_VERSION"));
        for exchange in log.iter() {
            assert_eq!(exchange.user_agent, agent, "{exchange}");
        }
        Ok(())
    })
    .await;
}
