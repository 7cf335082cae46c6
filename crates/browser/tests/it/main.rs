//! The tools in a real Chromium, on pages that we serve: nothing leaves this machine.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "this is test code; what is not as it should be stops its test"
)]

mod acting;
mod allowed;
mod captures;
mod downloads;
mod effects;
mod endings;
mod frames;
mod hostile;
mod house_rules;
mod inspecting;
mod isolation;
mod lines;
mod navigation;
mod parameters;
mod reading;
mod site;
mod sizes;
mod stage;
mod styles;
