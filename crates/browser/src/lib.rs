//! The pack `browser`: pages in a real Chromium, seen and used as a person does.
//!
//! A file per tool, below `tools`. It speaks the DevTools protocol itself, over a pipe, and lets a browser reach only
//! what its proxy lets through. It knows neither MCP's transports nor policy nor where its configuration was written;
//! what it is told of the machine, it is told by its maker.

mod acting;
mod chromium;
mod config;
mod devtools;
mod downloads;
mod engine;
mod instance;
mod keys;
mod library;
mod pack;
mod pool;
mod proxy;
mod reply;
mod ring;
mod store;
mod tab;
mod text;
mod tools;

pub use chromium::installed;
pub use config::{BrowserConfig, TextForm};
pub use pack::{Browser, Surroundings};
pub use tools::STYLES;
