//! Enums that are strings in JSON.

use thv_value::string_enum;

string_enum! {
    /// A direction.
    pub enum Direction {
        /// Away from the ground.
        Up = "up",
        /// Towards it.
        Down = "down",
    }
}

#[test]
fn values_are_spelled_one_way_and_others_are_told_what_there_is() {
    assert_eq!(Direction::ALL.iter().map(ToString::to_string).collect::<Vec<_>>(), ["up", "down"]);
    assert_eq!(serde_json::to_string(&Direction::Up).unwrap(), "\"up\"");
    assert_eq!(serde_json::from_str::<Direction>("\"down\"").unwrap(), Direction::Down);
    let error = serde_json::from_str::<Direction>("\"left\"").unwrap_err().to_string();
    assert!(error.contains("has to be one of up down"), "{error}");
}
