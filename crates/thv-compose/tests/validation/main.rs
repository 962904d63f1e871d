//! Validation of composite tools, as the operator sees it.

#[cfg(test)]
mod properties;
#[cfg(test)]
mod rules;
