//! The record of every call and decision: append-only, chained by hashes, and verified as a whole.
//!
//! Each process writes a chain of its own: a record reaches the kernel before the reply leaves, as one line of a
//! spool file; a task copies lines into the store in batches. It does not know what calls are about, which
//! database the store is, how settings are read, or how people are shown what it finds.

mod archive;
mod audit;
mod chain;
mod config;
mod desk;
mod error;
mod filler;
mod folder;
mod line;
mod note;
mod record;
mod spool;
mod verify;

pub use archive::Archive;
pub use audit::{Audit, AuditState, Parts};
pub use config::{AuditConfig, OnFull};
pub use error::AuditError;
pub use note::Head;
pub use verify::report::{Broken, ChainReport, Missing, Pruning, Report};
