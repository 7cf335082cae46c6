//! Starlark scripts: approved by hash, run in a confined child, with tools, secrets and hosts only as granted.
//!
//! It does not know how policy decides, where secrets are kept, or who an administrator is.

mod frame;
mod language;
mod talk;
