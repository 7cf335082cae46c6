//! The rules, tried at the hub and by themselves.

mod bad_input;
mod expectations;
mod limits;
mod properties;
mod rules;
mod support;
