//! The light built-in packs: `workspace` and `memory`.
//!
//! A folder per pack, a file per tool. It knows neither transports nor policy, and reaches files only
//! through the confined roots of `toolgate-host`.

mod encoding;
mod failure;
mod folder;
pub mod memory;
mod resources;
mod uri;
pub mod workspace;

pub use folder::CannotOpen;
pub use memory::{Memory, MemoryConfig};
pub use workspace::{Workspace, WorkspaceConfig};
