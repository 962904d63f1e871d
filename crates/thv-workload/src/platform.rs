//! What the cluster is.

use kube::Client;
use thv_plan::Platform;

use crate::trouble::Trouble;

/// What `OPERATOR_OPENSHIFT` says; nothing if it says nothing.
pub fn platform_of(variable: Option<&str>) -> Option<Platform> {
    variable.map(|text| Platform::said(text.trim()))
}

/// Asks the API server.
pub(crate) async fn ask(client: &Client) -> Result<Platform, Trouble> {
    let (group, resource) = Platform::ROUTES;
    match client.list_api_group_resources(group).await {
        Ok(list) if list.resources.iter().any(|found| found.name == resource) => Ok(Platform::OpenShift),
        Ok(_) => Ok(Platform::Kubernetes),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(Platform::Kubernetes),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_decides_when_it_is_there() {
        assert_eq!(platform_of(None), None);
        for (text, platform) in [
            ("true", Platform::OpenShift),
            ("TRUE", Platform::OpenShift),
            ("false", Platform::Kubernetes),
            ("", Platform::Kubernetes),
        ] {
            assert_eq!(platform_of(Some(text)), Some(platform), "{text}");
        }
    }
}
