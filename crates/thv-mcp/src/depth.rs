//! How deeply a document is nested.

/// Deeper documents are refused. It is what `serde_json` reads at most, so whoever decodes a part of an accepted
/// message later does not find it too deep; and no reader behind us is brought to its knees by a megabyte of `[`.
pub(crate) const LIMIT: usize = 127;

/// Whether objects and arrays are nested deeper than [`LIMIT`].
///
/// Up to its first error a document is judged exactly; what comes after that nobody reads.
pub(crate) fn is_excessive(document: &[u8]) -> bool {
    // Counting all brackets is many times faster than following them, and nearly always settles it.
    brackets(document) > LIMIT && follow(document)
}

/// How many brackets open, those in texts included.
fn brackets(document: &[u8]) -> usize {
    // The two differ in one bit only. Sums that fit a byte let the compiler take sixteen bytes at a time.
    let is_bracket = |byte: &u8| u8::from(byte | 0x20 == b'{');
    document.chunks(255).map(|chunk| usize::from(chunk.iter().map(is_bracket).sum::<u8>())).sum()
}

fn follow(document: &[u8]) -> bool {
    let mut depth = 0_usize;
    let mut bytes = document.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => loop {
                match bytes.next() {
                    Some(b'\\') => drop(bytes.next()),
                    Some(b'"') | None => break,
                    Some(_) => {}
                }
            },
            b'{' | b'[' if depth == LIMIT => return true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_limit_is_that_of_the_decoder() {
        for depth in 1..200 {
            let arrays = "[".repeat(depth) + &"]".repeat(depth);
            let objects = r#"{"a":"#.repeat(depth - 1) + "{}" + &"}".repeat(depth - 1);
            for document in [arrays, objects] {
                let readable = serde_json::from_str::<Value>(&document).is_ok();
                assert_eq!(is_excessive(document.as_bytes()), !readable, "{depth}");
            }
        }
    }

    #[test]
    fn all_opening_brackets_count_and_nothing_else() {
        let every_byte: Vec<u8> = (0..=u8::MAX).collect();
        assert_eq!(brackets(&every_byte), 2);
        assert_eq!(brackets(&[b'['; 1000]), 1000);
    }

    #[test]
    fn brackets_beside_each_other_and_in_texts_are_not_nested() {
        assert!(!is_excessive(format!("[{}]", "[],".repeat(500)).as_bytes()));
        assert!(!is_excessive(format!(r#"["\"{}"]"#, "[{".repeat(500)).as_bytes()));
        assert!(!is_excessive(format!(r#"["\\",[{}]]"#, "[],".repeat(500)).as_bytes()));
    }
}
