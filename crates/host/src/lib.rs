//! The machine: confined files, owned tasks, other processes, other servers, a clock and alarms.
//!
//! This crate knows nothing of MCP, of policy or of configuration. It is the only place where `unsafe` may ever be
//! written: to ask the kernel for the version of Landlock, to confine a program between fork and exec, to give memory
//! back, and to write to a file through memory. A process that confines itself needs none.

pub mod alarms;
pub mod authorities;
pub mod browser;
pub mod clock;
pub mod confine;
pub mod files;
pub mod kernel;
pub mod lock;
pub mod mapped;
pub mod memory;
pub mod outbound;
pub mod process;
pub mod process_stats;
pub mod programs;
pub mod scratch;
pub mod secret;
pub mod socket;
pub mod standing;
pub mod tasks;
pub mod telling;
pub mod terminal;
pub mod threads;
pub mod user;
pub mod watch;

pub use alarms::{Alarm, Alarms};
pub use browser::open_browser;
pub use clock::Clock;
pub use confine::{Confinement, Held};
pub use files::{FileError, RelPath, Root};
pub use lock::ProcessLock;
pub use mapped::MappedFile;
pub use outbound::{Outbound, OutboundError};
pub use process::Program;
pub use programs::find_program;
pub use scratch::Scratch;
pub use secret::Secret;
pub use socket::PrivateSocket;
pub use standing::{FolderState, Standing};
pub use tasks::{TaskFailed, Tasks};
pub use telling::{is_telling, token_of};
pub use threads::{at_length, threads};
pub use user::{is_root, user_name};
pub use watch::{Changes, FileWatch, Watch};
