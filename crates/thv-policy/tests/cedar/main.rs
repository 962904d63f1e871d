//! Validation of Cedar, as the operator sees it.

#[cfg(test)]
mod entities;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod policies;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod support;
