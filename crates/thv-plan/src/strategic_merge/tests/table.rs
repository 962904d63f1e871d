//! The table is complete, and says what people rely on.

use super::super::Schema;
use super::super::schema::{Shape, Strategy};

/// The shape of a field, and the type of what it holds.
fn field(schema: &str, name: &str) -> (Shape, &'static str) {
    let schema = Schema::named(schema).unwrap();
    let field = schema.fields().find(|field| field.name == name).unwrap();
    (field.shape, field.holds.name())
}

#[test]
fn the_types_with_a_name_are_there() {
    for schema in [
        Schema::CONTAINER,
        Schema::DEPLOYMENT,
        Schema::POD_SPEC,
        Schema::POD_TEMPLATE_SPEC,
        Schema::STATEFUL_SET,
    ] {
        assert_eq!(Schema::named(schema.name()), Some(schema));
    }
    assert_eq!(Schema::named("Nothing"), None);
    assert_eq!(Schema::named(""), None);
}

#[test]
fn every_line_can_be_read_and_every_type_is_there() {
    let lines: Vec<_> = super::super::schema::TABLE.lines().collect();
    assert!(lines.len() > 150);
    for line in lines {
        let (name, fields) = line.split_once(':').unwrap();
        let schema = Schema::named(name).unwrap();
        assert_eq!(schema.fields().count(), fields.split_whitespace().count(), "{name}");
        for field in schema.fields() {
            let held = field.holds.name();
            assert!(held.is_empty() || Schema::named(held).is_some(), "{name}.{} holds {held}", field.name);
        }
    }
}

#[test]
fn lists_have_the_keys_of_kubernetes() {
    let by = |key| Shape::List(Strategy::ByKey(key));
    assert_eq!(field("PodSpec", "containers"), (by("name"), "Container"));
    assert_eq!(field("PodSpec", "volumes"), (by("name"), "Volume"));
    assert_eq!(
        field("PodSpec", "topologySpreadConstraints"),
        (by("topologyKey"), "TopologySpreadConstraint")
    );
    assert_eq!(field("PodSpec", "tolerations"), (Shape::List(Strategy::Replace), "Toleration"));
    assert_eq!(field("Container", "ports"), (by("containerPort"), "ContainerPort"));
    assert_eq!(field("Container", "volumeMounts"), (by("mountPath"), "VolumeMount"));
    assert_eq!(field("Container", "args"), (Shape::List(Strategy::Replace), ""));
    assert_eq!(field("ObjectMeta", "finalizers"), (Shape::List(Strategy::AsSet), ""));
}

#[test]
fn maps_and_pointers_are_told_apart_from_lists() {
    assert_eq!(field("PodSpec", "nodeSelector"), (Shape::Value, ""));
    assert_eq!(field("PodSpec", "affinity"), (Shape::Pointer, "Affinity"));
    assert_eq!(field("Container", "resources"), (Shape::Value, "ResourceRequirements"));
    // A field of a struct that is embedded without a name of its own.
    assert_eq!(field("Volume", "configMap"), (Shape::Pointer, "ConfigMapVolumeSource"));
}
