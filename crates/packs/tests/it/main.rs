//! The packs through a real hub, in folders that something to protect stands beside.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests fail by panicking, and their helpers are tests too"
)]

mod house_rules;
mod memory;
mod resources;
mod roots;
mod scene;
mod site;
mod web;
mod workspace_list;
mod workspace_read;
mod workspace_write;
