//! Markdown that shows texts as they are meant.

/// Text for a cell of a table. Paragraphs stay apart.
pub(super) fn cell(text: &str) -> String {
    paragraphs(text).join("<br>").replace('|', r"\|")
}

/// Text that stands alone.
pub(super) fn block(text: &str) -> String {
    paragraphs(text).join("\n\n")
}

/// Something to be shown to the letter, in a cell of a table.
pub(super) fn code(text: &str) -> String {
    // As many backticks around it as it takes.
    let ticks = "`".repeat(1 + longest_run(text));
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    match text {
        "" => "`\"\"`".to_owned(),
        _ => format!("{ticks}{space}{text}{space}{ticks}").replace('\n', " ").replace('|', r"\|"),
    }
}

fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0)
}

fn paragraphs(text: &str) -> Vec<String> {
    let paragraphs = text.split("\n\n").map(|paragraph| plain(&lines(paragraph)).replace('\n', "<br>"));
    paragraphs.filter(|paragraph| !paragraph.is_empty()).collect()
}

/// Joins the lines of a paragraph, but for those that are items of a list or explain a value.
fn lines(paragraph: &str) -> String {
    let mut joined = String::new();
    for line in paragraph.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let stands_alone = line.starts_with("- ") || line.starts_with('`') && line.contains("`:");
        match joined.is_empty() {
            true => {}
            false if stands_alone => joined.push('\n'),
            false => joined.push(' '),
        }
        joined.push_str(line);
    }
    joined
}

/// Outside of backticks, what Markdown would take for markup is escaped.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for (number, part) in text.split('`').enumerate() {
        if number > 0 {
            plain.push('`');
        }
        match number % 2 {
            0 => plain.push_str(&part.replace('<', "&lt;").replace('*', r"\*").replace('_', r"\_")),
            _ => plain.push_str(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_what_it_is() {
        assert_eq!(cell("a <name> *b* c_d | `<x> *y*`"), r"a &lt;name> \*b\* c\_d \| `<x> *y*`");
        assert_eq!(cell("one\ntwo\n\nthree"), "one two<br>three");
        assert_eq!(cell("one:\n- two\n  three\n- four"), "one:<br>- two three<br>- four");
        assert_eq!(cell("`a`: one.\n`b`: two\n`c` three."), "`a`: one.<br>`b`: two `c` three.");
        assert_eq!(block("one\ntwo\n\n\nthree\n"), "one two\n\nthree");
    }

    #[test]
    fn code_stays_what_it_is() {
        assert_eq!(code("a|b"), r"`a\|b`");
        assert_eq!(code(""), "`\"\"`");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`a`"), "`` `a` ``");
    }
}
