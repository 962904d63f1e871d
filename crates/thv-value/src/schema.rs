//! Schemas of values.

/// Gives a type a schema that is written out.
#[macro_export]
macro_rules! fixed_schema {
    ($type:ident, $schema:expr) => {
        impl ::schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                $schema
            }
        }
    };
}
