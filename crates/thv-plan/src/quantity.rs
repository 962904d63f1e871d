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
