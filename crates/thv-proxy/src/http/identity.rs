//! Who calls.

use thv_session::Owner;

/// Issuer of the identity that everybody has when nobody has to prove theirs.
const LOCAL_ISSUER: &str = "toolhive-local";
/// The user of a process that nobody knows.
const UNKNOWN: &str = "local";
/// Where users are listed.
const USERS: &str = "/etc/passwd";

/// Who calls.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    owner: Owner,
}

impl Identity {
    /// The user that this process runs as.
    pub(super) fn local() -> Self {
        let users = std::fs::read_to_string(USERS).unwrap_or_default();
        let user = name_of(rustix::process::getuid().as_raw(), &users);
        Self { owner: Owner::of(LOCAL_ISSUER, user.unwrap_or(UNKNOWN)) }
    }

    /// As whom a session belongs to.
    pub(super) const fn owner(&self) -> &Owner {
        &self.owner
    }
}

fn name_of(uid: u32, users: &str) -> Option<&str> {
    let uid = uid.to_string();
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid && !name.is_empty()).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_number() {
        let users = "root:x:0:0:root:/root:/bin/sh\nbroken\nnonroot:x:65532:65532::/:/sbin/nologin\n";
        assert_eq!(name_of(65532, users), Some("nonroot"));
        assert_eq!(name_of(0, users), Some("root"));
        assert_eq!(name_of(1, users), None);
    }
}
