//! The light built-in packs: `workspace`, `memory` and `web`.
//!
//! A folder per pack, a file per tool. It knows neither transports nor policy, and reaches files only
//! through the confined roots of `toolgate-host`, and other servers only through its guarded requests.

mod encoding;
mod failure;
mod folder;
pub mod memory;
mod resources;
mod uri;
pub mod web;
pub mod workspace;

pub use folder::CannotOpen;
pub use memory::{Memory, MemoryConfig};
pub use web::{Web, WebConfig};
pub use workspace::{Workspace, WorkspaceConfig};
