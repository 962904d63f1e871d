//! Series of one metric, by their labels.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Names and values of labels. Names are those of OpenTelemetry.
type Labels = Arc<[(&'static str, Box<str>)]>;

/// The series of one metric. Only making and listing them takes the lock; whoever counts holds the series.
#[derive(Debug)]
pub(super) struct Family<T> {
    series: Mutex<BTreeMap<Labels, Arc<T>>>,
}

impl<T> Default for Family<T> {
    fn default() -> Self {
        Self { series: Mutex::default() }
    }
}

impl<T: Default> Family<T> {
    /// The series with these labels.
    pub(super) fn series(&self, labels: &[(&'static str, &str)]) -> Arc<T> {
        let labels: Labels = labels.iter().map(|(name, value)| (*name, Box::from(*value))).collect();
        let mut series = self.series.lock().unwrap_or_else(PoisonError::into_inner);
        series.entry(labels).or_default().clone()
    }
}

impl<T> Family<T> {
    /// Hands every series on, ordered by labels. The lock is not held meanwhile.
    pub(super) fn each(&self, mut hand: impl FnMut(&[(&str, &str)], &T)) {
        let all: Vec<(Labels, Arc<T>)> = {
            let series = self.series.lock().unwrap_or_else(PoisonError::into_inner);
            series.iter().map(|(labels, one)| (Arc::clone(labels), Arc::clone(one))).collect()
        };
        let mut borrowed = Vec::new();
        for (labels, one) in &all {
            borrowed.clear();
            borrowed.extend(labels.iter().map(|(name, value)| (*name, value.as_ref())));
            hand(&borrowed, one);
        }
    }
}
