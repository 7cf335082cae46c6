//! What the crate promises: secrets are kept, found again, and never seen outside.

#[cfg(test)]
mod checker;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod hub;
#[cfg(test)]
mod keeping;
#[cfg(test)]
mod key_file;
#[cfg(test)]
mod lines;
#[cfg(test)]
mod logs;
#[cfg(test)]
mod openings;
#[cfg(test)]
mod planted;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod streams;
