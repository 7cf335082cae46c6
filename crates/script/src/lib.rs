//! Starlark scripts: approved by hash, run in a confined child, with tools, secrets and hosts only as granted.
//!
//! It does not know how policy decides, where secrets are kept, or who an administrator is.

mod child;
mod config;
mod decision;
mod desk;
mod frame;
mod hash;
mod header;
mod language;
mod pack;
mod pool;
mod scripts;
mod shelf;
mod talk;

pub use child::{COMMAND, child};
pub use config::ScriptsConfig;
pub use hash::{BadHash, Hash};
pub use header::Header;
pub use pack::{FindSecret, ScriptPack, ScriptParts};
pub use pool::ChildProgram;
pub use scripts::{Looked, ScriptInfo, Scripts, State};
pub use shelf::Script;
