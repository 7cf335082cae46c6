//! Properties of the wire crate, on made-up input. `PROPTEST_CASES` says how much of it.

mod canonical;
mod edit;
mod frames;
mod json;
mod scan;
mod streams;
mod values;
