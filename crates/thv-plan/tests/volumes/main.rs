//! Whatever is said of a volume or a mount is in what is applied.

#[cfg(test)]
mod ours;
#[cfg(test)]
mod sources;
#[cfg(test)]
mod subjects;
#[cfg(test)]
mod users;
