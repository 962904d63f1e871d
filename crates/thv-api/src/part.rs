//! Types that read a part of an object of Kubernetes and skip the rest while it is being read.

#[doc(hidden)]
pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
#[doc(hidden)]
pub use kube_core::Resource;

/// Makes a type stand for another when objects are listed or watched: `part_of!(PartialPod, Pod)`. It has a field
/// `metadata`, and whatever else is of interest.
#[macro_export]
macro_rules! part_of {
    ($part:ident, $whole:ident) => {
        impl $crate::part::Resource for $part {
            type DynamicType = ();
            type Scope = <$whole as $crate::part::Resource>::Scope;

            fn kind((): &()) -> ::std::borrow::Cow<'_, str> {
                <$whole as $crate::part::Resource>::kind(&())
            }

            fn group((): &()) -> ::std::borrow::Cow<'_, str> {
                <$whole as $crate::part::Resource>::group(&())
            }

            fn version((): &()) -> ::std::borrow::Cow<'_, str> {
                <$whole as $crate::part::Resource>::version(&())
            }

            fn plural((): &()) -> ::std::borrow::Cow<'_, str> {
                <$whole as $crate::part::Resource>::plural(&())
            }

            fn meta(&self) -> &$crate::part::ObjectMeta {
                &self.metadata
            }

            fn meta_mut(&mut self) -> &mut $crate::part::ObjectMeta {
                &mut self.metadata
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::{ObjectMeta, Resource};

    struct Seen {
        metadata: ObjectMeta,
    }

    part_of!(Seen, ConfigMap);

    #[test]
    fn a_part_is_found_where_the_whole_is() {
        assert_eq!(Seen::url_path(&(), Some("n")), ConfigMap::url_path(&(), Some("n")));
    }
}
