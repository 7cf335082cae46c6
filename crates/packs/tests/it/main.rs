//! The packs through a real hub: in folders that something to protect stands beside, and with services played from
//! recorded shapes.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests fail by panicking, and their helpers are tests too"
)]

mod calendar;
mod chat;
mod git_server;
mod github;
mod house_rules;
mod memory;
mod peer;
mod resources;
mod roots;
mod scene;
mod site;
mod vault;
mod vault_git;
mod vault_scene;
mod vault_search;
mod web;
mod workspace_list;
mod workspace_read;
mod workspace_write;
