//! What outlives a process, in a SQLite file or in PostgreSQL: core's `Store`, once, over both.
//!
//! This crate does not know what the documents say, who may see them, or how the audit is chained.

mod audit;
mod changes;
mod config;
mod connect;
mod database;
mod documents;
mod failure;
mod place;
mod schema;
mod sweep;

pub use config::StoreConfig;
pub use database::{Database, Options, open};
pub use place::Place;
