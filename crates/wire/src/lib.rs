//! JSON-RPC and MCP as bytes: frames, ids, edits, versions, headers, SSE and stdio lines.
//!
//! It knows neither policy nor network nor async: bytes come in, bytes go out, and what is not
//! understood stays as it was written.

pub mod code;
mod edit;
mod escape;
mod id;
mod message;
pub mod method;
mod raw;
mod scan;
mod version;
mod walk;
pub mod write;

pub use edit::Edit;
pub use id::Id;
pub use message::{Frame, Message, Notification, Refusal, Request, Response, parse};
pub use raw::{Entries, Items, Kind, Raw};
pub use scan::{Fault, MAX_DEPTH, Malformed};
pub use version::{Era, UnknownVersion, Version};
