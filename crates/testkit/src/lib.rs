//! Test fakes: scripted sources, gates and filters, an in-memory hub, a driver for runs, a real PostgreSQL, a real
//! OpenCode with a fake model, the processes of a group, and the house rules of tool definitions.
//!
//! It is a dev-dependency and knows nothing of transports: a test that needs bytes brings its own front.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "this is test code; a wrong script should stop its test"
)]

mod call;
mod drive;
mod filter;
mod gate;
pub mod house_rules;
mod hub;
mod lines;
mod opencode;
mod postgres;
mod processes;
mod source;
mod store;

pub use call::{call, client_legacy, client_modern, client_with, retry};
pub use drive::{Driven, Expect, drive, first_round};
pub use filter::{BrokenFilter, FakeFilter};
pub use gate::{FakeGate, approval};
pub use hub::{builder, hub, list, list_names};
pub use lines::Lines;
pub use opencode::{OpencodeHome, RealOpencode, opencode_program};
pub use postgres::Postgres;
pub use processes::processes_of_group;
pub use source::{Behaviour, FakeSource, Seen, prompt_item, resource_item, template_item, text, tool_item};
pub use store::MemoryStore;
