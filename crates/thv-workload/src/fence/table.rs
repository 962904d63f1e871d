//! Every row of the table of decisions.

use proptest::prelude::*;
use thv_plan::{Applied, Token};

use super::{
    Action, Belonging, Mark, Me, Newer, ObjectView, OwnerView, Present, Refusal, Stamp, decide, is_over,
};

const GENERATION: i64 = 5;

fn token(uid: &str, number: u64) -> Token {
    Token { uid: uid.to_owned(), number }
}

fn owner(uid: &str, revision: u64) -> OwnerView {
    OwnerView::Present { uid: uid.to_owned(), is_going: false, revision: Some(revision) }
}

fn mine() -> OwnerView {
    owner("me", 10)
}

fn bare() -> Present {
    Present {
        mark: Mark::Absent,
        stamp: Stamp::Generation(GENERATION),
        belongs: Belonging::Server("me".to_owned()),
        is_going: false,
    }
}

fn applied(uid: &str, number: u64, digest: &str) -> Present {
    let mark = Mark::Is(Applied { token: token(uid, number), digest: digest.to_owned() });
    Present { mark, ..bare() }
}

/// A proxy of revision 10 with the content `d`.
fn decided(owner: &OwnerView, object: impl Into<ObjectView>) -> Action {
    let token = token("me", 10);
    decide(&Me { token: Some(&token), generation: GENERATION, digest: "d" }, owner, &object.into())
}

/// A proxy of the Go operator's making.
fn gated(generation: i64, object: impl Into<ObjectView>) -> Action {
    decide(&Me { token: None, generation, digest: "d" }, &OwnerView::Unread, &object.into())
}

impl From<Present> for ObjectView {
    fn from(present: Present) -> Self {
        Self::Present(present)
    }
}

fn all_objects() -> Vec<ObjectView> {
    let mut all = vec![ObjectView::Absent, bare().into()];
    all.extend([9, 10, 11].map(|number| applied("me", number, "d").into()));
    all.push(applied("other", 1, "d").into());
    all
}

#[test]
fn an_owner_that_cannot_be_read_means_to_read_again() {
    for object in all_objects() {
        assert_eq!(decided(&OwnerView::Unread, object), Action::ReadAgain);
    }
}

#[test]
fn an_owner_that_is_gone_or_going_supersedes() {
    let going = OwnerView::Present { uid: "me".to_owned(), is_going: true, revision: Some(10) };
    for owner in [OwnerView::Absent, owner("other", 10), going] {
        for object in all_objects() {
            assert_eq!(decided(&owner, object), Action::Superseded(Newer::Owner));
        }
        assert_eq!(is_over(&token("me", 10), &owner), Some(Newer::Owner));
    }
}

#[test]
fn what_is_absent_is_made_unless_a_newer_revision_was_rendered() {
    assert_eq!(decided(&mine(), ObjectView::Absent), Action::Create);
    assert_eq!(decided(&owner("me", 9), ObjectView::Absent), Action::Create);
    let lost = OwnerView::Present { uid: "me".to_owned(), is_going: false, revision: None };
    assert_eq!(decided(&lost, ObjectView::Absent), Action::Create);
    let newer = owner("me", 11);
    assert_eq!(decided(&newer, ObjectView::Absent), Action::Superseded(Newer::Revision));
    assert_eq!(is_over(&token("me", 10), &newer), Some(Newer::Revision));
    assert_eq!(is_over(&token("me", 10), &mine()), None);
    assert_eq!(is_over(&token("me", 10), &OwnerView::Unread), None);
}

#[test]
fn what_was_made_for_another_server_is_deleted() {
    assert_eq!(decided(&mine(), applied("other", 99, "d")), Action::DeleteAlien);
    let of_a_former = Present { belongs: Belonging::Server("other".to_owned()), ..bare() };
    assert_eq!(decided(&mine(), of_a_former.clone()), Action::DeleteAlien);
    assert_eq!(decided(&mine(), Present { is_going: true, ..of_a_former }), Action::AwaitEnd);
}

#[test]
fn a_newer_proxy_supersedes() {
    assert_eq!(decided(&mine(), applied("me", 11, "d")), Action::Superseded(Newer::Proxy));
    assert_eq!(decided(&mine(), applied("me", 11, "e")), Action::Superseded(Newer::Proxy));
    let going = Present { is_going: true, ..applied("me", 11, "d") };
    assert_eq!(decided(&mine(), going), Action::Superseded(Newer::Proxy));
}

#[test]
fn the_same_revision_and_content_is_settled() {
    assert_eq!(decided(&mine(), applied("me", 10, "d")), Action::Settle);
    // The newest revision does not matter as long as nobody has applied it.
    assert_eq!(decided(&owner("me", 11), applied("me", 10, "d")), Action::Settle);
}

#[test]
fn s0_05_the_same_revision_with_another_content_is_refused() {
    assert_eq!(decided(&mine(), applied("me", 10, "e")), Action::Refuse(Refusal::Tie));
}

#[test]
fn an_older_revision_is_updated_and_keeps_its_stamp_if_nothing_else_changes() {
    assert_eq!(decided(&mine(), applied("me", 9, "e")), Action::Update { is_same: false });
    assert_eq!(decided(&mine(), applied("me", 9, "d")), Action::Update { is_same: true });
    let going = Present { is_going: true, ..applied("me", 9, "e") };
    assert_eq!(decided(&mine(), going), Action::AwaitEnd);
}

#[test]
fn s0_08_what_the_go_proxy_made_is_updated_unless_it_is_of_a_newer_generation() {
    for (stamp, expected) in [
        (Stamp::Absent, Action::Update { is_same: false }),
        (Stamp::Unreadable, Action::Update { is_same: false }),
        (Stamp::Generation(GENERATION - 1), Action::Update { is_same: false }),
        (Stamp::Generation(GENERATION), Action::Update { is_same: false }),
        (Stamp::Generation(GENERATION + 1), Action::Superseded(Newer::Generation)),
    ] {
        let object = Present { stamp, ..bare() };
        assert_eq!(decided(&mine(), object.clone()), expected, "{stamp:?}");
        let odd = Present { mark: Mark::Unreadable, ..object.clone() };
        assert_eq!(decided(&mine(), odd), expected, "{stamp:?}");
        assert_eq!(gated(GENERATION, object.clone()), expected, "{stamp:?}");
        // Whoever knows no generation is not held up.
        for none in [0, -1] {
            assert_eq!(gated(none, object.clone()), Action::Update { is_same: false }, "{stamp:?}");
        }
    }
    assert_eq!(gated(GENERATION, ObjectView::Absent), Action::Create);
    assert_eq!(gated(0, ObjectView::Absent), Action::Create);
}

#[test]
fn s0_08_what_a_proxy_of_ours_made_supersedes_one_of_the_go_operators() {
    for object in
        [applied("me", 1, "d"), applied("other", 1, "d"), Present { mark: Mark::Unreadable, ..bare() }]
    {
        for generation in [0, GENERATION, 99] {
            assert_eq!(gated(generation, object.clone()), Action::Superseded(Newer::Proxy));
        }
    }
}

#[test]
fn what_belongs_to_somebody_else_is_not_touched() {
    let theirs = Belonging::Foreign("Deployment x".to_owned());
    let refused = Action::Refuse(Refusal::Taken("Deployment x".to_owned()));
    for object in [bare(), applied("other", 1, "d"), applied("me", 9, "d")] {
        let object = Present { belongs: theirs.clone(), ..object };
        assert_eq!(decided(&mine(), object.clone()), refused);
        assert_eq!(gated(GENERATION, object), refused);
    }
}

fn any_present() -> impl Strategy<Value = Present> {
    let mark = prop_oneof![
        Just(Mark::Absent),
        Just(Mark::Unreadable),
        ("(me|other)", 8_u64..13, "[de]")
            .prop_map(|(uid, number, digest)| { Mark::Is(Applied { token: token(&uid, number), digest }) }),
    ];
    let stamp =
        prop_oneof![Just(Stamp::Absent), Just(Stamp::Unreadable), (3_i64..8).prop_map(Stamp::Generation)];
    let belongs = prop_oneof![
        Just(Belonging::Open),
        "(me|other)".prop_map(Belonging::Server),
        Just(Belonging::Foreign("x".to_owned())),
    ];
    (mark, stamp, belongs, any::<bool>()).prop_map(|(mark, stamp, belongs, is_going)| Present {
        mark,
        stamp,
        belongs,
        is_going,
    })
}

proptest! {
    #[test]
    fn no_proxy_ever_overwrites_what_is_newer_than_itself(
        present in any_present(), number in 8_u64..13, digest in "[de]", generation in -1_i64..8,
        revision in proptest::option::of(8_u64..13), is_going: bool, uid in "(me|other)",
    ) {
        let mine = token("me", number);
        let me = Me { token: Some(&mine), generation, digest: &digest };
        let owner = OwnerView::Present { uid: uid.clone(), is_going, revision };
        let action = decide(&me, &owner, &ObjectView::Present(present.clone()));
        if let Action::Update { .. } | Action::Settle = action {
            prop_assert!(uid == "me" && !is_going && !present.is_going);
            prop_assert!(!matches!(present.belongs, Belonging::Foreign(_)));
            if let Mark::Is(applied) = &present.mark {
                prop_assert!(applied.token.uid == "me" && applied.token.number <= number);
                prop_assert!(applied.token.number < number || applied.digest == digest);
            }
        }
        if action == Action::DeleteAlien {
            let marked = matches!(&present.mark, Mark::Is(applied) if applied.token.uid != "me");
            prop_assert!(marked || present.belongs == Belonging::Server("other".to_owned()));
        }
    }
}
