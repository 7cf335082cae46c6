//! The modules that every script has: `json`, `time`, `http`, `secrets`, `tools`, and the function `format`.

mod format;
mod http;
mod json;
mod secrets;
mod time;
mod tools;

use starlark::environment::{Globals, GlobalsBuilder, LibraryExtension};

/// All that a script finds when it begins.
pub(super) fn globals() -> Globals {
    GlobalsBuilder::extended_by(&[
        LibraryExtension::Print,
        LibraryExtension::StructType,
        LibraryExtension::SetType,
        LibraryExtension::Map,
        LibraryExtension::Filter,
        LibraryExtension::Partial,
    ])
    .with_namespace("json", json::module)
    .with_namespace("time", time::module)
    .with_namespace("http", http::module)
    .with_namespace("secrets", secrets::module)
    .with_namespace("tools", tools::module)
    .with(format::module)
    .build()
}
