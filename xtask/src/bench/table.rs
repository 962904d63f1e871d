//! Figures with their targets.

use std::fmt::Write;

use anyhow::{Result, bail};

use crate::shell::say;

/// One figure.
struct Row {
    name: String,
    /// The same of what it is compared with.
    beside: String,
    value: String,
    target: Option<Target>,
}

struct Target {
    text: String,
    is_met: bool,
}

/// All figures.
#[derive(Default)]
pub(super) struct Table(Vec<Row>);

impl Table {
    /// A figure to know.
    pub(super) fn add(&mut self, name: &str, value: impl Into<String>) {
        self.compare(name, "", value);
    }

    /// A figure to know, beside that of something else.
    pub(super) fn compare(&mut self, name: &str, beside: impl Into<String>, value: impl Into<String>) {
        let (beside, value) = (beside.into(), value.into());
        self.0.push(Row { name: name.to_owned(), beside, value, target: None });
    }

    /// A figure that must not be above a target; both are shown with so many decimals and a unit.
    pub(super) fn at_most(&mut self, name: &str, value: f64, target: f64, decimals: usize, unit: &str) {
        self.at_most_beside(name, "", value, target, decimals, unit);
    }

    /// A figure that must not be below a target.
    pub(super) fn at_least(&mut self, name: &str, value: f64, target: f64, decimals: usize, unit: &str) {
        let text = |number: f64| format!("{number:.decimals$}{unit}");
        let target = Target { text: format!("≥ {}", text(target)), is_met: value >= target };
        self.0.push(Row {
            name: name.to_owned(),
            beside: String::new(),
            value: text(value),
            target: Some(target),
        });
    }

    /// The same as `at_most`, beside the figure of something else.
    pub(super) fn at_most_beside(
        &mut self,
        name: &str,
        beside: impl Into<String>,
        value: f64,
        target: f64,
        decimals: usize,
        unit: &str,
    ) {
        let text = |number: f64| format!("{number:.decimals$}{unit}");
        let target = Target { text: format!("≤ {}", text(target)), is_met: value <= target };
        let (name, beside) = (name.to_owned(), beside.into());
        self.0.push(Row { name, beside, value: text(value), target: Some(target) });
    }

    /// Shows all of them.
    pub(super) fn print(&self) {
        let widest = |text: fn(&Row) -> &str| {
            self.0.iter().map(|row| text(row).chars().count()).max().unwrap_or_default()
        };
        let (width, beside_width) = (widest(|row| &row.name), widest(|row| &row.beside));
        for Row { name, beside, value, target } in &self.0 {
            let verdict = target.as_ref().map(Target::verdict).unwrap_or_default();
            let line = format!("{name:<width$}  {beside:>beside_width$}  {value:>12}  {verdict}");
            println!("{}", line.trim_end());
        }
    }

    /// The same for a document, with headings for the columns.
    pub(super) fn markdown(&self, beside: &str, value: &str) -> String {
        let mut text = format!("| figure | {beside} | {value} | target |\n|---|---:|---:|---|\n");
        for row in &self.0 {
            let verdict = row.target.as_ref().map(Target::verdict).unwrap_or_default();
            let verdict = verdict.split_whitespace().collect::<Vec<_>>().join(" ");
            // Writing to a text cannot fail.
            let _ = writeln!(text, "| {} | {} | {} | {verdict} |", row.name, row.beside, row.value);
        }
        text
    }

    /// Fails if a target is missed.
    pub(super) fn judge(&self) -> Result<()> {
        let is_missed = |row: &&Row| row.target.as_ref().is_some_and(|target| !target.is_met);
        let missed: Vec<_> = self.0.iter().filter(is_missed).map(|row| row.name.as_str()).collect();
        if !missed.is_empty() {
            bail!("targets are missed: {}", missed.join(", "));
        }
        say("all targets are met");
        Ok(())
    }
}

impl Target {
    fn verdict(&self) -> String {
        format!("{:<12} {}", self.text, if self.is_met { "met" } else { "MISSED" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_on_the_wrong_side_of_its_target_is_missed() {
        let mut table = Table::default();
        table.add("known", "7");
        table.at_most("equal", 1.5, 1.5, 2, "");
        assert!(table.judge().is_ok());
        table.at_most("above", 61.0, 60.0, 1, " MiB");
        assert!(table.judge().unwrap_err().to_string().ends_with("missed: above"));
        table.at_least("enough", 2.0, 2.0, 0, "");
        table.at_least("below", 1.0, 2.0, 0, "");
        assert!(table.judge().unwrap_err().to_string().ends_with("missed: above, below"));
    }

    #[test]
    fn a_document_has_a_line_for_each_figure() {
        let mut table = Table::default();
        table.compare("known", "6", "7");
        table.at_most_beside("equal", "1 µs", 1.5, 1.5, 1, " µs");
        let text = "| figure | a | b | target |\n|---|---:|---:|---|\n\
                    | known | 6 | 7 |  |\n| equal | 1 µs | 1.5 µs | ≤ 1.5 µs met |\n";
        assert_eq!(table.markdown("a", "b"), text);
    }
}
