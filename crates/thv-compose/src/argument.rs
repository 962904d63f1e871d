//! Arguments of calls.

use serde_json::{Map, Value};

use crate::findings::{below, item};
use crate::references::Site;
use crate::template::Template;
use crate::workflow::Validation;

/// A value of which some texts are templates.
#[derive(Debug)]
pub enum Argument {
    /// A value without templates, which is passed as it is.
    Fixed(Value),
    /// A text that is rendered.
    Template(Template),
    /// A list.
    List(Vec<Self>),
    /// An object.
    Fields(Vec<(String, Self)>),
}

impl Argument {
    const fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed(_))
    }
}

/// Reads the arguments at `path`, whose depth has been checked. Every text in them is a template.
pub(crate) fn arguments(
    validation: &mut Validation,
    site: Site,
    path: &str,
    fields: &Map<String, Value>,
) -> Vec<(String, Argument)> {
    let read = fields.iter().map(|(name, value)| {
        let argument = argument(validation, site, &below(path, name), value);
        (name.clone(), argument)
    });
    read.collect()
}

/// One of them. What is wrong with it is told.
fn argument(validation: &mut Validation, site: Site, path: &str, value: &Value) -> Argument {
    match value {
        Value::String(text) => match validation.template(site, path, text) {
            Some(template) if template.parsed().is_some() => Argument::Template(template),
            _ => Argument::Fixed(value.clone()),
        },
        Value::Array(items) => {
            let items = items.iter().enumerate();
            let read: Vec<Argument> = items
                .map(|(index, value)| argument(validation, site.lenient(), &item(path, index), value))
                .collect();
            if read.iter().all(Argument::is_fixed) {
                Argument::Fixed(value.clone())
            } else {
                Argument::List(read)
            }
        }
        Value::Object(fields) => {
            let read = arguments(validation, site.lenient(), path, fields);
            if read.iter().all(|(_, argument)| argument.is_fixed()) {
                Argument::Fixed(value.clone())
            } else {
                Argument::Fields(read)
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Argument::Fixed(value.clone()),
    }
}
