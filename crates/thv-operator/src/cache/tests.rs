use futures::FutureExt;

use super::*;

const OWNER: Relation<'_> = Relation::ControlledBy { uid: "u" };

fn name(name: &str) -> NamespacedName {
    NamespacedName::new("ns", name)
}

fn projection(value: u32, relations: &[Relation<'_>]) -> Projection<u32> {
    let relations = relations.iter().map(|relation| relation.id("ns")).collect();
    Projection { value, relations, definition: None }
}

fn listed(text: &str, version: u64, projection: Projection<u32>) -> Listed<u32> {
    Listed { name: name(text), version, projection: Some(projection) }
}

#[test]
fn a_change_concerns_those_of_before_and_those_of_now() {
    let cache: Cache<u32> = Cache::new(&[None]);
    let store = cache.store("ns").unwrap();
    let other = Relation::ControlledBy { uid: "other" };
    let put = |version, projection| store.put(&name("a"), version, projection).relations;
    assert_eq!(put(1, Some(projection(1, &[OWNER]))), [OWNER.id("ns")]);
    assert_eq!(put(2, Some(projection(2, &[other]))), [OWNER.id("ns"), other.id("ns")]);
    assert!(cache.related("ns", OWNER).is_empty());
    assert_eq!(cache.related("ns", other).len(), 1);
    assert_eq!(put(3, None), [other.id("ns")]);
    assert!(cache.get(&name("a")).is_none() && store.read().related.is_empty());
}

#[test]
fn a_change_of_the_status_alone_is_told_apart_where_definitions_are_known() {
    let cache: Cache<u32> = Cache::new(&[None]);
    let store = cache.store("ns").unwrap();
    let defined = |value, definition| {
        let definition = NonZeroU64::new(definition).map(DefinitionId);
        Some(Projection { definition, ..projection(value, &[OWNER]) })
    };
    let put = |version, projection| store.put(&name("a"), version, projection).is_status_only;
    assert!(!put(1, defined(1, 7)), "it is new");
    assert!(put(2, defined(2, 7)));
    assert!(!put(3, defined(3, 8)), "its user says something else");
    assert!(!put(4, defined(4, 0)), "nobody can tell");
    assert!(!put(5, defined(5, 0)), "nobody can tell");
    assert!(!put(6, None), "it is gone");
}

#[test]
fn a_list_tells_of_what_is_new_changed_or_missing_and_of_nothing_else() {
    let cache: Cache<u32> = Cache::new(&[None]);
    let store = cache.store("ns").unwrap();
    store.begin();
    let first = ["same", "changed", "missing"].map(|text| listed(text, 1, projection(1, &[OWNER])));
    assert_eq!(store.complete(first.into()).len(), 3);
    store.begin();
    let second = vec![
        listed("same", 1, projection(1, &[OWNER])),
        listed("changed", 2, projection(2, &[])),
        listed("new", 3, projection(3, &[])),
    ];
    let changes = store.complete(second);
    let names: Vec<&str> = changes.iter().map(|(name, _)| &*name.name).collect();
    assert_eq!(names, ["changed", "new", "missing"]);
    assert_eq!(changes[0].1.relations, [OWNER.id("ns")], "it was the owner's");
    assert_eq!(changes[2].1.relations, [OWNER.id("ns")]);
    assert_eq!(*cache.get(&name("changed")).unwrap(), 2);
    assert!(cache.get(&name("missing")).is_none());
}

#[test]
fn a_cache_is_not_complete_while_it_is_listed_anew_and_says_whether_that_fails() {
    let cache: Cache<u32> = Cache::new(&[None]);
    let store = cache.store("ns").unwrap();
    store.begin();
    assert_eq!(cache.coverage("ns"), Coverage::Listing);
    store.complete(Vec::new());
    // A watch that fails goes on from where it was.
    store.failed();
    assert_eq!(cache.coverage("ns"), Coverage::Complete);
    store.begin();
    assert_eq!(cache.coverage("ns"), Coverage::Listing);
    store.failed();
    store.begin();
    assert_eq!(cache.coverage("ns"), Coverage::Failing);
    store.complete(Vec::new());
    store.begin();
    assert_eq!(cache.coverage("ns"), Coverage::Listing);
}

#[tokio::test]
async fn a_list_that_is_not_complete_is_no_proof_of_having_caught_up() {
    let cache: Cache<u32> = Cache::new(&[None]);
    let store = cache.store("ns").unwrap();
    assert!(store.begin());
    store.complete(vec![listed("a", 5, projection(1, &[]))]);
    let written = store.written(9);
    assert!(store.caught_up(written, Duration::from_mins(1)).now_or_never().is_none());
    assert!(!store.begin());
    // The page with the object has arrived, and the list goes on.
    assert!(store.caught_up(written, Duration::from_mins(1)).now_or_never().is_none());
    store.complete(vec![listed("a", 9, projection(1, &[]))]);
    assert!(store.caught_up(written, Duration::from_mins(1)).await);
    // One that was deleted since shows in no version, but in a list that began later.
    let written = store.written(20);
    store.begin();
    store.complete(Vec::new());
    assert!(store.caught_up(written, Duration::from_mins(1)).await);
}
