//! The admin API under `/admin/api`, who may use it, and the page at `/admin` that is embedded with it.
//!
//! It reads requests and writes answers, over the hub and what its [`Desk`] is given. It knows no listener, no file, and
//! nothing of how tokens, secrets, servers or the record are kept.

mod access;
mod admin;
mod api;
mod assets;
mod body;
mod config;
mod desk;
mod openapi;
mod page;
mod problem;
mod route;
mod sampler;

pub use access::{Account, Accounts, Cost, NewLink, Role};
pub use admin::{Admin, AdminParts};
pub use body::{Answer, Body, Request};
pub use config::{AdminConfig, Reach};
pub use desk::*;
