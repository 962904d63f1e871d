//! Regular expressions that more than one field has to match.

/// A DNS label.
pub(crate) const DNS_LABEL: &str = "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$";
/// Something that begins like an HTTP URL.
pub(crate) const HTTP_URL: &str = "^https?://";
/// An HTTP URL without query, fragment and trailing slash.
pub(crate) const ISSUER_URL: &str = r"^https?://[^\s?#]+[^/\s?#]$";
/// An HTTPS URL without query, fragment and trailing slash.
pub(crate) const HTTPS_BASE_URL: &str = r"^https://[^\s?#]+[^/\s?#]$";
/// An HTTP URL on one line.
pub(crate) const ENDPOINT_URL: &str = "^https?://.*$";
/// An HTTPS URL on one line.
pub(crate) const HTTPS_ENDPOINT_URL: &str = "^https://.*$";
/// An HTTP URL without spaces.
pub(crate) const RESOURCE_URL: &str = "^https?://[^[:space:]]+$";
/// The ARN of an AWS role.
pub(crate) const ROLE_ARN: &str = r"^arn:(aws|aws-cn|aws-us-gov):iam::\d{12}:role/[\w+=,.@\-_/]+$";
/// A number that is not negative.
pub(crate) const DECIMAL: &str = "^([0-9]*[.])?[0-9]+$";
/// A type of token, short or as a URN.
pub(crate) const SUBJECT_TOKEN_TYPE: &str =
    "^(access_token|id_token|jwt|urn:ietf:params:oauth:token-type:(access_token|id_token|jwt))?$";
/// A tenant of Microsoft Entra, by identifier or by domain.
pub(crate) const TENANT: &str = concat!(
    r"^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
    r"|([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z]{2,})$",
);
