//! URLs, as all rules about them see them.

pub(super) use thv_config::url::{Url, web_url_error};
