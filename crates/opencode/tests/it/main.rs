//! The tools against a real OpenCode, whose model is a server of ours: nothing leaves this machine.

mod fake_model;
mod fake_opencode;
mod house_rules;
mod people;
mod servers;
mod sessions;
mod stage;
mod traps;
