//! The machine: confined files, owned tasks and a clock.
//!
//! This crate knows nothing of MCP, of policy or of configuration. It is the only place where `unsafe` may
//! ever stand, and so far it needs none.

pub mod clock;
pub mod files;
pub mod tasks;
pub mod watch;

pub use clock::Clock;
pub use files::{FileError, RelPath, Root};
pub use tasks::{TaskFailed, Tasks};
pub use watch::{Changes, Watch};
