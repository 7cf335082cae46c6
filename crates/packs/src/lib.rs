//! The light built-in packs: `workspace`, `memory`, `vault`, `web`, `chat`, `calendar` and `github`.
//!
//! A folder per pack, a file per tool. It knows neither transports nor policy, and reaches files only
//! through the confined roots of `toolgate-host`, and other servers only by its `Outbound` and its guarded requests.

pub mod calendar;
pub mod chat;
mod encoding;
mod entry;
mod failure;
mod folder;
pub mod github;
pub mod memory;
mod resources;
mod service;
mod unready;
mod uri;
pub mod vault;
pub mod web;
pub mod workspace;

pub use calendar::{Calendar, CalendarConfig};
pub use chat::{Chat, ChatConfig};
pub use folder::CannotOpen;
pub use github::{Github, GithubConfig};
pub use memory::{Memory, MemoryConfig};
pub use unready::Unready;
pub use vault::{Vault, VaultConfig};
pub use web::{Web, WebConfig};
pub use workspace::{Workspace, WorkspaceConfig};
