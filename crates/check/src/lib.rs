//! A report on any MCP server: its definitions, how it converses, every message it sends, and what is unsafe about it.
//!
//! It speaks to the server as a client would, of either era, and harms nothing: of tools it calls only those that call
//! themselves read-only. It knows neither policy nor configuration nor other crates' clients: bytes go out, bytes come
//! in, and what comes in is judged.

mod check;
mod connection;
mod look;
mod notes;
mod probe;
mod report;
mod revision;
mod rule;
mod rules;
mod session;
mod subject;
mod transcript;

pub use check::{CannotCheck, Limits, check};
pub use look::{Offer, look};
pub use notes::{Finding, Skipped};
pub use report::{Report, Served};
pub use rule::{Group, Level, Rule};
pub use rules::{GROUPS, rule};
pub use subject::{Address, Program, Proxy, Subject};
