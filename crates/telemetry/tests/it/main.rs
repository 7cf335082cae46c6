//! What the crate promises, tried with a collector that decodes what it is sent.

#[cfg(test)]
mod collector;
#[cfg(test)]
mod spans;
#[cfg(test)]
mod trouble;
