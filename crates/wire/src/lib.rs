//! JSON-RPC and MCP as bytes: frames, ids, edits, versions, headers, SSE and stdio lines.
//!
//! It knows neither policy nor network nor async: bytes come in, bytes go out, and what is not
//! understood stays as it was written.

mod canonical;
pub mod code;
mod edit;
mod escape;
mod find;
pub mod headers;
mod id;
pub mod lines;
mod message;
pub mod meta;
pub mod method;
mod raw;
mod scan;
pub mod sse;
mod template;
mod version;
mod walk;
pub mod write;

pub use canonical::{canonical, digest, digest_without};
pub use edit::Edit;
pub use id::Id;
pub use lines::Lines;
pub use message::{Frame, Message, Notification, Refusal, Request, Response, parse};
pub use meta::RequestMeta;
pub use raw::{Entries, Items, Kind, Raw, Strings, Text};
pub use scan::{Fault, MAX_DEPTH, Malformed};
pub use template::{BadTemplate, Template};
pub use version::{Era, UnknownVersion, Version};
