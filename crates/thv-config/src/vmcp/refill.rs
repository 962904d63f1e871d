//! The odd form of refill periods.
//!
//! Go writes `refillPeriod: {duration: 1m0s}` here, because its YAML library does not know how the type of
//! Kubernetes is spelled, and reads nothing else. So do we write it; we read the plain spelling too.

use std::mem;

use thv_value::GoDuration;

use crate::json::Json;

/// The key that Go puts between.
const KEY: &str = "duration";

/// Puts the key between, on the way out.
pub(super) fn nest(document: &mut Json) {
    change(document, &|period| {
        let text = canonical(mem::take(period));
        *period = Json::Object(vec![(KEY.to_owned(), text)]);
    });
}

/// Takes the key away, on the way in.
pub(super) fn flatten(document: &mut Json) {
    change(document, &|period| {
        *period = match mem::take(period) {
            Json::Object(mut members) if members.len() == 1 && members.iter().all(|(key, _)| key == KEY) => {
                members.pop().map_or(Json::Null, |(_, text)| canonical(text))
            }
            other => canonical(other),
        };
    });
}

/// The duration as Go prints it. What is no duration is left for whoever reads it to refuse.
fn canonical(json: Json) -> Json {
    match json {
        Json::String(text) => Json::String(match text.parse::<GoDuration>() {
            Ok(duration) => GoDuration::from_nanos(duration.as_nanos()).to_string(),
            Err(_) => text,
        }),
        other => other,
    }
}

fn change(document: &mut Json, period: &dyn Fn(&mut Json)) {
    let Some(limits) = member(document, "rateLimiting") else { return };
    change_buckets(limits, period);
    if let Some(Json::Array(tools)) = member(limits, "tools") {
        for tool in tools {
            change_buckets(tool, period);
        }
    }
}

fn change_buckets(limits: &mut Json, period: &dyn Fn(&mut Json)) {
    for key in ["shared", "perUser"] {
        if let Some(found) = member(limits, key).and_then(|bucket| member(bucket, "refillPeriod")) {
            period(found);
        }
    }
}

fn member<'a>(json: &'a mut Json, key: &str) -> Option<&'a mut Json> {
    match json {
        Json::Object(members) => members.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = r#"{"rateLimiting":{"shared":{"maxTokens":1,"refillPeriod":"1m0s"},"tools":[{"name":"a","perUser":{"maxTokens":1,"refillPeriod":"1s"}}]}}"#;
    const NESTED: &str = r#"{"rateLimiting":{"shared":{"maxTokens":1,"refillPeriod":{"duration":"1m0s"}},"tools":[{"name":"a","perUser":{"maxTokens":1,"refillPeriod":{"duration":"1s"}}}]}}"#;

    fn changed(text: &str, change: fn(&mut Json)) -> String {
        let mut json: Json = serde_json::from_str(text).unwrap();
        change(&mut json);
        serde_json::to_string(&json).unwrap()
    }

    #[test]
    fn periods_are_nested_on_the_way_out_and_flat_on_the_way_in() {
        assert_eq!(changed(PLAIN, nest), NESTED);
        assert_eq!(changed(NESTED, flatten), PLAIN);
        assert_eq!(changed(PLAIN, flatten), PLAIN);
        assert_eq!(changed(&PLAIN.replace("1m0s", "60s"), nest), NESTED);
    }

    #[test]
    fn what_is_no_period_is_left_alone() {
        for text in [
            "null",
            r#"{"rateLimiting":null}"#,
            r#"{"rateLimiting":{"shared":{"refillPeriod":{"duration":"1s","x":1}},"tools":{}}}"#,
            r#"{"rateLimiting":{"shared":{"refillPeriod":[1]}}}"#,
            r#"{"rateLimiting":{"shared":{"refillPeriod":"soon"}}}"#,
        ] {
            assert_eq!(changed(text, flatten), text);
        }
    }
}
