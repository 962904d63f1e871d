//! Figures with their targets.

use anyhow::{Result, bail};

use crate::shell::say;

/// One figure.
struct Row {
    name: String,
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
        self.0.push(Row { name: name.to_owned(), value: value.into(), target: None });
    }

    /// A figure that must not be above a target; both are shown with so many decimals and a unit.
    pub(super) fn at_most(&mut self, name: &str, value: f64, target: f64, decimals: usize, unit: &str) {
        let text = |number: f64| format!("{number:.decimals$}{unit}");
        let target = Target { text: format!("≤ {}", text(target)), is_met: value <= target };
        self.0.push(Row { name: name.to_owned(), value: text(value), target: Some(target) });
    }

    /// Shows all of them.
    pub(super) fn print(&self) {
        let width = self.0.iter().map(|row| row.name.chars().count()).max().unwrap_or_default();
        for Row { name, value, target } in &self.0 {
            let verdict = match target {
                None => String::new(),
                Some(Target { text, is_met: true }) => format!("{text:<12} met"),
                Some(Target { text, is_met: false }) => format!("{text:<12} MISSED"),
            };
            println!("{}", format!("{name:<width$}  {value:>12}  {verdict}").trim_end());
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_figure_above_its_target_is_missed() {
        let mut table = Table::default();
        table.add("known", "7");
        table.at_most("equal", 1.5, 1.5, 2, "");
        assert!(table.judge().is_ok());
        table.at_most("above", 61.0, 60.0, 1, " MiB");
        assert!(table.judge().unwrap_err().to_string().ends_with("missed: above"));
    }
}
