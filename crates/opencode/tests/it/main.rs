//! The tools against a real OpenCode, whose model is a server of ours: nothing leaves this machine.

mod fake_model;
mod fake_opencode;
mod files;
mod house_rules;
mod people;
mod servers;
mod sessions;
mod settings;
mod stage;
mod traps;
