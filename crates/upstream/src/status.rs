//! What people are told about a server.

use toolgate_core::SourceState;
pub use toolgate_core::{Note, SourceStatus as Status};
use toolgate_wire::{Era, Version};

/// How a server stands.
pub type State = SourceState;

pub(crate) fn era_word(version: Version) -> &'static str {
    match version.era() {
        Era::Legacy => "legacy",
        Era::Modern => "modern",
    }
}
