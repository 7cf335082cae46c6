//! The rules, tried at the hub and by themselves.

mod rules;
mod support;
