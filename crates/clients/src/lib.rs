//! The configuration files of MCP clients: where they are, and how to read, edit and undo them.
//!
//! [`Client`] is the table of clients, [`Folders`] says where their files lie, [`ConfigFile`] reads one and plans a
//! change, and a [`Plan`] carries it out: atomically, with a backup, and without touching a byte that is not part of
//! the one entry it is about. [`import`] tells what the clients use already.
//!
//! This crate knows no hub, no tool and no command, and starts nothing; it does not even know whose entry it writes.

mod choice;
mod client;
mod config_file;
mod disk;
mod folders;
mod format;
pub mod import;
mod json;
mod plan;
mod problem;
mod server;
mod shape;
mod splice;
mod text;
mod toml;

pub use client::{Client, UnknownClient};
pub use config_file::ConfigFile;
pub use folders::{Folders, NoHome, Scope, System};
pub use plan::{Action, Plan};
pub use problem::{Place, Problem};
pub use server::{Entry, Local, Remote, Server, Transport};
