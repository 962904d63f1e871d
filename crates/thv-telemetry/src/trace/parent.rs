//! Where a trace comes from: the W3C headers of a request, or the same three in `params._meta`.

use std::str::FromStr;

use http::{HeaderMap, HeaderName, HeaderValue};
use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};

pub(super) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
pub(super) const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");
pub(super) const BAGGAGE: HeaderName = HeaderName::from_static("baggage");

/// The longest baggage that W3C allows.
const LONGEST_BAGGAGE: usize = 8192;

/// What `params._meta` says about the trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct Carried<'a> {
    /// The span that the client made for its request.
    pub traceparent: Option<&'a str>,
    /// What systems on the way added.
    pub tracestate: Option<&'a str>,
    /// What goes along.
    pub baggage: Option<&'a str>,
}

/// The span that a request belongs to. What stands in the message wins: whoever wrote it is nearer to the call
/// than whoever sent the HTTP request.
pub(super) fn parent(headers: &HeaderMap, carried: Carried<'_>) -> Option<SpanContext> {
    from_message(carried).or_else(|| from_headers(headers))
}

fn from_message(carried: Carried<'_>) -> Option<SpanContext> {
    context(carried.traceparent?, carried.tracestate)
}

fn from_headers(headers: &HeaderMap) -> Option<SpanContext> {
    // Two of them contradict each other; W3C says to start anew.
    let mut all = headers.get_all(TRACEPARENT).iter();
    let traceparent = all.next()?.to_str().ok()?;
    if all.next().is_some() {
        return None;
    }
    let states: Vec<&str> =
        headers.get_all(TRACESTATE).iter().filter_map(|value| value.to_str().ok()).collect();
    match states.as_slice() {
        [] => context(traceparent, None),
        [one] => context(traceparent, Some(one)),
        many => context(traceparent, Some(&many.join(","))),
    }
}

/// What goes along by the message, if it can stand in a header.
pub(super) fn baggage(carried: Carried<'_>) -> Option<HeaderValue> {
    let text = carried.baggage.filter(|text| !text.is_empty() && text.len() <= LONGEST_BAGGAGE)?;
    HeaderValue::from_str(text).ok()
}

fn context(traceparent: &str, tracestate: Option<&str>) -> Option<SpanContext> {
    let (trace, span, flags) = parse(traceparent.trim())?;
    // A state that cannot be read is dropped, the trace goes on.
    let state = tracestate.and_then(|text| TraceState::from_str(text).ok()).unwrap_or_default();
    Some(SpanContext::new(trace, span, flags, true, state))
}

/// `version-trace-span-flags`, all in lower-case hexadecimal digits.
fn parse(text: &str) -> Option<(TraceId, SpanId, TraceFlags)> {
    let mut parts = text.splitn(5, '-');
    let [version] = digits(parts.next()?)?;
    let trace = digits::<16>(parts.next()?)?;
    let span = digits::<8>(parts.next()?)?;
    let [flags] = digits(parts.next()?)?;
    // Later versions may have more; this one has not.
    if version == 0xff || (version == 0 && parts.next().is_some()) {
        return None;
    }
    let (trace, span) = (TraceId::from_bytes(trace), SpanId::from_bytes(span));
    let known = trace != TraceId::INVALID && span != SpanId::INVALID;
    known.then(|| (trace, span, TraceFlags::new(flags) & TraceFlags::SAMPLED))
}

fn digits<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != 2 * N {
        return None;
    }
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = (digit(*high)? << 4) | digit(*low)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ONE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const TWO: &str = "00-11111111111111111111111111111111-2222222222222222-00";

    fn headers(pairs: &[(HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    fn trace(headers: &HeaderMap, carried: Carried<'_>) -> Option<String> {
        parent(headers, carried).map(|context| context.trace_id().to_string())
    }

    #[test]
    fn the_message_wins_over_the_headers_if_it_can_be_read() {
        let headers = headers(&[(TRACEPARENT, ONE), (TRACESTATE, "a=1"), (TRACESTATE, "b=2")]);
        let carried = Carried { traceparent: Some(TWO), ..Carried::default() };
        assert_eq!(trace(&headers, carried).unwrap(), "1".repeat(32));
        assert_eq!(parent(&headers, carried).unwrap().trace_state().header(), "");
        let unreadable = Carried { traceparent: Some("nonsense"), ..Carried::default() };
        assert_eq!(trace(&headers, unreadable).unwrap(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(parent(&headers, unreadable).unwrap().trace_state().header(), "a=1,b=2");
    }

    #[test]
    fn two_parents_are_none() {
        assert_eq!(trace(&headers(&[(TRACEPARENT, ONE), (TRACEPARENT, TWO)]), Carried::default()), None);
    }

    #[test]
    fn only_what_w3c_allows_is_a_parent() {
        let zeros = format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32));
        for bad in [
            "",
            &ONE.to_uppercase(),
            &ONE.replace("00-4b", "ff-4b"),
            &ONE.replace("-01", "-1"),
            &format!("{ONE}-more"),
            &zeros,
            &ONE.replace("00f067aa0ba902b7", "0000000000000000"),
            &ONE.replace("4bf9", "+bf9"),
        ] {
            assert!(parse(bad).is_none(), "{bad}");
        }
        assert!(parse(&ONE.replace("00-4b", "01-4b")).is_some());
        assert!(parse(&format!("{}-more", ONE.replace("00-4b", "01-4b"))).is_some());
    }

    #[test]
    fn baggage_that_no_header_can_hold_is_left_out() {
        let of = |text| baggage(Carried { baggage: Some(text), ..Carried::default() });
        assert_eq!(of("a=1,b=2").unwrap(), "a=1,b=2");
        assert_eq!(of("a=\r\nx: y"), None);
        assert_eq!(of(&"a".repeat(8193)), None);
    }

    proptest! {
        #[test]
        fn any_text_is_no_parent_or_a_valid_one(text in "\\PC{0,80}", state in "\\PC{0,40}") {
            if let Some(context) = context(&text, Some(&state)) {
                prop_assert!(context.is_valid());
            }
        }

        #[test]
        fn a_parent_with_one_other_byte_is_valid_or_none(place in 0..ONE.len(), byte in 0x20_u8..0x7f) {
            let mut text = ONE.as_bytes().to_vec();
            text[place] = byte;
            let text = String::from_utf8(text).unwrap();
            if let Some(context) = context(&text, None) {
                prop_assert!(context.is_valid());
            }
        }

        #[test]
        fn every_trace_and_span_comes_back(trace in 1_u128.., span in 1_u64.., sampled: bool) {
            let text = format!("00-{trace:032x}-{span:016x}-{:02x}", u8::from(sampled));
            let context = context(&text, None).unwrap();
            prop_assert_eq!(context.trace_id(), TraceId::from(trace));
            prop_assert_eq!(context.span_id(), SpanId::from(span));
            prop_assert_eq!(context.is_sampled(), sampled);
        }
    }
}
