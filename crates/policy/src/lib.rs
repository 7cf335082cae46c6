//! The rules: who may use what, how often, how many at once, and which foreign definitions are trusted.
//!
//! Each rule is a gate or the limiter of `toolgate-core`; they only decide, and the pipeline acts. This crate knows neither
//! files nor commands nor where a configuration was written: it is given tables that were read, and names in its errors the
//! keys that are wrong.

mod bucket;
mod compile;
mod compiled;
mod condition;
pub mod config;
mod decide;
mod error;
mod expect;
mod explain;
mod gate;
mod glob;
mod limits;
mod memo;
pub mod pins;
mod places;
mod principal;
mod suggest;
mod target;

pub use compile::{Known, Policy};
pub use compiled::Compiled;
pub use error::{Fault, PolicyError};
pub use expect::{Expectations, Failure, Report, ToolFacts, Unreadable, read_target};
pub use explain::{Explanation, Question, Step};
pub use gate::RulesGate;
pub use limits::{LimitSettings, Limits};
