//! The tools against a real OpenCode, whose model is a server of ours: nothing leaves this machine.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "this is test code; what is not as it should be stops its test"
)]

mod broken_ways;
mod fake;
mod fake_opencode;
mod files;
mod house_rules;
mod own_server;
mod people;
mod progress;
mod resources;
mod servers;
mod sessions;
mod settings;
mod stage;
mod traps;
