//! The pack `opencode`: tools that hand work to a real OpenCode and steer it while it works.
//!
//! A file per tool, below `tools`; besides, sessions as resources, and prompts. It knows neither transports nor policy nor where its configuration was written;
//! what it is told of the machine, it is told by its maker.

mod agents;
mod answers;
mod client;
mod config;
mod directory;
mod events;
mod hidden;
mod id;
mod model;
mod pack;
mod prompts;
mod resources;
mod server;
mod settings;
mod tools;
mod turn;

pub use config::{OpencodeConfig, PermissionsConfig};
pub use hidden::shown_address;
pub use pack::{Opencode, Surroundings};
pub use server::installed;
