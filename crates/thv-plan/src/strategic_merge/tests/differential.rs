//! Our merge and Kubernetes' agree on documents that nobody thought of.

use std::cell::Cell;
use std::env;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{TestError, TestRunner};

use super::super::merge;
use super::choices::Choices;
use super::{kubernetes, pairs, same};

/// How many pairs of documents are compared, unless this variable says otherwise.
const CASES: (&str, u32) = ("THV_MERGE_CASES", 4_000);

#[test]
fn we_merge_like_kubernetes() {
    let cases = env::var(CASES.0).map_or(CASES.1, |text| text.parse().expect("THV_MERGE_CASES is a number"));
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let (merged, refused) = (Cell::new(0_u32), Cell::new(0_u32));
    let outcome = TestRunner::new(config).run(&vec(any::<u16>(), 0..500), |numbers| {
        let pair = pairs::pair(&mut Choices::new(numbers));
        let theirs = kubernetes::merge(&pair.original, &pair.patch, pair.schema);
        let ours = merge(&pair.original, &pair.patch, pair.schema);
        let counter = if theirs.is_ok() { &merged } else { &refused };
        counter.set(counter.get() + 1);
        let agree = match (&ours, &theirs) {
            (Ok(ours), Ok(theirs)) => same(ours, theirs),
            (Err(_), Err(_)) => true,
            _ => false,
        };
        prop_assert!(
            agree,
            "{}\noriginal:   {}\npatch:      {}\nKubernetes: {}\nwe:         {}",
            pair.schema.name(),
            pair.original,
            pair.patch,
            theirs.map_or_else(|error| error, |value| value.to_string()),
            ours.map_or_else(|error| error.to_string(), |value| value.to_string()),
        );
        Ok(())
    });
    match outcome {
        Ok(()) => {}
        // The numbers that led there say less than the documents, which are in the reason.
        Err(TestError::Fail(reason, _)) => panic!("{reason}"),
        Err(TestError::Abort(reason)) => panic!("aborted: {reason}"),
    }
    let (merged, refused) = (merged.get(), refused.get());
    println!("{merged} pairs merged alike, {refused} refused by both");
    assert!(merged > refused, "most documents are to be mergeable");
    assert!(cases < 1_000 || refused > cases / 100, "some documents are not to be mergeable");
}
