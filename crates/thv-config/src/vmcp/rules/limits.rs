//! Where sessions are kept, and how much callers may do.

use super::super::incoming::Callers;
use super::super::problem::Report;
use super::super::storage::{SessionProvider, SessionStorage};
use crate::rate_limit::{RateLimitBucket, RateLimitConfig, ToolRateLimit};

pub(super) fn check_storage(storage: &SessionStorage, report: &mut Report) {
    let SessionStorage { provider, address, db, key_prefix } = storage;
    match provider {
        SessionProvider::Memory => {}
        SessionProvider::Redis => report.required(address, "sessionStorage.address"),
    }
    report.unless(*db >= 0, "sessionStorage.db", "is negative: give the number of a database");
    report.unless(
        key_prefix.is_empty() || key_prefix.ends_with(':'),
        "sessionStorage.keyPrefix",
        "does not end with `:`: append a colon",
    );
}

pub(super) fn check(
    limits: &RateLimitConfig,
    storage: Option<&SessionStorage>,
    callers: &Callers,
    report: &mut Report,
) {
    let RateLimitConfig { shared, per_user, tools } = limits;
    report.unless(
        storage.is_some_and(|storage| storage.provider == SessionProvider::Redis),
        "rateLimiting",
        "is there, and sessions are not in Redis: configure Redis as session storage, or remove the limits",
    );
    report.unless(
        shared.is_some() || per_user.is_some() || !tools.is_empty(),
        "rateLimiting",
        "limits nothing: add shared, perUser or tools, or remove it",
    );
    check_buckets("rateLimiting", shared.as_ref(), per_user.as_ref(), callers, report);
    let paths = (0..).map(|index: usize| format!("rateLimiting.tools[{index}].name"));
    report.names(paths.zip(tools.iter().map(|tool| tool.name.as_str())));
    for (index, ToolRateLimit { name: _, shared, per_user }) in tools.iter().enumerate() {
        let path = format!("rateLimiting.tools[{index}]");
        report.unless(
            shared.is_some() || per_user.is_some(),
            &path,
            "limits nothing: add shared or perUser, or remove it",
        );
        check_buckets(&path, shared.as_ref(), per_user.as_ref(), callers, report);
    }
}

fn check_buckets(
    path: &str,
    shared: Option<&RateLimitBucket>,
    per_user: Option<&RateLimitBucket>,
    callers: &Callers,
    report: &mut Report,
) {
    report.unless(
        per_user.is_none() || matches!(callers, Callers::Oidc(_)),
        format!("{path}.perUser"),
        "is there, and callers do not say who they are: use oidc as incoming authentication, or remove it",
    );
    for (key, bucket) in [("shared", shared), ("perUser", per_user)] {
        let Some(RateLimitBucket { max_tokens, refill_period }) = bucket else { continue };
        report.unless(
            *max_tokens >= 1,
            format!("{path}.{key}.maxTokens"),
            "is less than 1: nobody could call; give a number from 1",
        );
        report.unless(
            refill_period.as_nanos() > 0,
            format!("{path}.{key}.refillPeriod"),
            "is not longer than nothing: give a duration such as 1m",
        );
    }
}
