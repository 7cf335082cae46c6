//! File, environment and flags become settings.
//!
//! A [`Loader`] lays the sources over each other, defaults < `opencode.json` < `toolgate.toml` < environment
//! < flags, and gives a [`Document`]: a tree that remembers where each value was written. A component's configuration struct
//! lives with the component; [`Document::read`] turns the tree into such structs and reports all that is
//! wrong with it at once, by file, line, column and the nearest key.
//!
//! This crate knows no pack, no server and no command. It is the only one that reads the environment of
//! the process, and `env.rs` names every variable.

mod decode;
mod dirs;
mod document;
pub mod edit;
pub mod env;
mod error;
mod excerpt;
mod explain;
mod file;
mod key;
mod leaves;
mod loader;
mod log;
mod node;
mod opencode;
mod origin;
mod parse;
mod schema;
mod secret;
mod section;
mod suggest;
mod template;

pub use dirs::{data_dir, opencode_config_dir, user_config_dir};
pub use document::{Document, Sections};
pub use env::{Environment, process_environment};
pub use error::{ConfigError, Problem};
pub use file::FILE_NAME;
pub use leaves::{Leaf, differences};
pub use loader::Loader;
pub use log::{LogConfig, LogFormat, LogLevel};
pub use origin::{Origin, Place};
pub use schema::{FileSchema, KeyDoc, TableDoc, describe};
pub use suggest::nearest;
pub use template::{literal, template};
