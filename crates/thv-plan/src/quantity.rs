//! Kubernetes quantities, such as `500m` or `128Mi`: whether a text is one.

/// Suffixes besides an exponent.
const SUFFIXES: [&str; 15] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi"];
/// The last of the binary suffixes; apart because `E` is also how an exponent begins.
const EXBI: &str = "Ei";

/// Whether the API server takes a text as an amount of something, which cannot be negative.
pub(crate) fn is_amount(text: &str) -> bool {
    let text = text.strip_prefix('+').unwrap_or(text);
    let number_ends = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(number_ends);
    is_number(number) && (SUFFIXES.contains(&suffix) || suffix == EXBI || is_exponent(suffix))
}

/// Whether two texts are the same amount, such as `1Gi` and `1024Mi`. The API server writes amounts in its own way.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    one == other || billionths(one).is_some_and(|amount| billionths(other) == Some(amount))
}

/// An amount in billionths, rounded up as Kubernetes does; nothing if it is none, or beyond all measure.
fn billionths(text: &str) -> Option<u128> {
    if !is_amount(text) {
        return None;
    }
    let text = text.strip_prefix('+').unwrap_or(text);
    let number_ends = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(number_ends);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits: u128 = format!("0{whole}{fraction}").parse().ok()?;
    let (binary, decimal) = scale(suffix)?;
    let scaled = digits.checked_mul(1024_u128.checked_pow(binary)?)?;
    let exponent = decimal.checked_add(9)?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let power = 10_u128.checked_pow(exponent.unsigned_abs())?;
    if exponent < 0 { Some(scaled.div_ceil(power)) } else { scaled.checked_mul(power) }
}

/// What a suffix multiplies by: a power of 1024, and one of ten.
fn scale(suffix: &str) -> Option<(u32, i32)> {
    Some(match suffix {
        "n" => (0, -9),
        "u" => (0, -6),
        "m" => (0, -3),
        "" => (0, 0),
        "k" => (0, 3),
        "M" => (0, 6),
        "G" => (0, 9),
        "T" => (0, 12),
        "P" => (0, 15),
        "E" => (0, 18),
        "Ki" => (1, 0),
        "Mi" => (2, 0),
        "Gi" => (3, 0),
        "Ti" => (4, 0),
        "Pi" => (5, 0),
        EXBI => (6, 0),
        exponent => (0, exponent.strip_prefix(['e', 'E'])?.parse().ok()?),
    })
}

/// Digits with at most one point among them.
fn is_number(text: &str) -> bool {
    text.chars().any(|c| c.is_ascii_digit()) && text.chars().filter(|c| *c == '.').count() <= 1
}

/// `e` or `E` and a whole number.
fn is_exponent(text: &str) -> bool {
    let Some(number) = text.strip_prefix(['e', 'E']) else { return false };
    let digits = number.strip_prefix(['+', '-']).unwrap_or(number);
    !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_amount_can_be_written_in_many_ways() {
        for (one, other) in [
            ("1Gi", "1024Mi"),
            ("0.5", "500m"),
            ("1.50Gi", "1536Mi"),
            ("1e3", "1k"),
            ("+5", "5."),
            ("1E", "1000P"),
            ("100E-2", "1"),
            ("0.0000000001", "1n"),
        ] {
            assert!(is_same(one, other) && is_same(other, one), "{one} {other}");
        }
        for (one, other) in [
            ("1Gi", "1G"),
            ("10Gi", "5Gi"),
            ("1", "1m"),
            ("lots", "more"),
            ("1e99999999999", "1"),
            ("9E30", "8E30"),
        ] {
            assert!(!is_same(one, other), "{one} {other}");
        }
        assert!(is_same("9e300", "9e300"), "what is beyond all measure is still itself");
    }

    #[test]
    fn amounts_are_told_from_other_text() {
        for good in [
            "0", "1", "500m", "0.5", ".5", "5.", "+1", "128Mi", "1Gi", "2Ei", "1E", "1e3", "1E-3", "1k", "7n",
        ] {
            assert!(is_amount(good), "{good}");
        }
        for bad in
            ["", "m", ".", "1.2.3", "-1", "1 Gi", "1gi", "1K", "lots", "1e", "1e+", "1ee3", "1Mib", "½"]
        {
            assert!(!is_amount(bad), "{bad}");
        }
    }
}
