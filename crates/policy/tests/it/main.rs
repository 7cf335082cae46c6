//! The rules, tried at the hub and by themselves.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod bad_input;
mod expectations;
mod limits;
mod pins;
mod properties;
mod readings;
mod rules;
mod support;
