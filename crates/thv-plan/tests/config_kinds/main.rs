//! What is said of objects that only hold configuration.

#[cfg(test)]
mod status;
#[cfg(test)]
mod support;
