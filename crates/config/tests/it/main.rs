//! The configuration as the binary uses it: real files, made-up environments, components of our own.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails as a test does")]

mod environment;
mod files;
mod layers;
mod opencode;
mod problems;
mod schema;
mod secrets;
mod support;
mod syntax;
