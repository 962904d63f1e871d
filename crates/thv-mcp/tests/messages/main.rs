//! What is read of messages, headers and streams, and that nothing in them does harm.

#[cfg(test)]
mod allocation;
#[cfg(test)]
mod answers;
#[cfg(test)]
mod decoding;
#[cfg(test)]
mod eras;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod readers;
#[cfg(test)]
mod resources;
#[cfg(test)]
mod streams;
