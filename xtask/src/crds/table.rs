//! Tables for a terminal.

/// Cells up to here line up; a longer one pushes the rest of its row to the right.
const WIDEST: usize = 60;

pub(super) fn print<const N: usize>(header: &[String; N], rows: impl Iterator<Item = [String; N]>) {
    let rows: Vec<[String; N]> = std::iter::once(header.clone()).chain(rows).collect();
    print!("{}", text(&rows));
}

fn text<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |row: &[String; N]| row.clone().map(|cell| cell.chars().count().min(WIDEST));
    let widths = rows.iter().map(width).fold([0; N], |mut widest, row| {
        for (widest, width) in widest.iter_mut().zip(row) {
            *widest = width.max(*widest);
        }
        widest
    });
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        text.push_str(format!("  {}", cells.collect::<Vec<_>>().join("  ")).trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [["a", "bb", "c"], ["aaa", "–", "c"]].map(|row| row.map(str::to_owned));
        assert_eq!(text(&rows), "  a    bb  c\n  aaa  –   c\n");
    }
}
