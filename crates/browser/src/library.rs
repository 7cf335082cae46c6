//! The library that looks at pages for us, from a world of its own within them.

use serde_json::Value;

const PARTS: [&str; 5] = [
    include_str!("page/base.js"),
    include_str!("page/snapshot.js"),
    include_str!("page/read.js"),
    include_str!("page/act.js"),
    include_str!("page/css.js"),
];

const NAMES: &str = "{ snapshot, find, text, html, page, attributes, table, state, says, about, storage, probe, prepare, \
    valueOf, focus, choose, scroll, styles, styled, settle: () => moment().then(moment).then(about) }";

/// What calls one of its functions.
pub(crate) const CALL: &str = "function (name, args) { return globalThis.__toolgate.api[name](args); }";

/// What tells the ref of a frame's element.
pub(crate) const REF_OF: &str = "function () { return globalThis.__toolgate.refOf(this); }";

/// What tells where a point of a frame is in the page around it.
pub(crate) const FRAME_AT: &str = "function (x, y) { return globalThis.__toolgate.frameAt(this, x, y); }";

/// What tells the element that is meant, as an object.
pub(crate) const ELEMENT: &str =
    "function (what) { return globalThis.__toolgate.resolve(what).element ?? null; }";

/// The library, for a frame whose refs begin with `prefix` and go on behind `last`.
pub(crate) fn source(prefix: &str, last: u64) -> String {
    let parts = PARTS.join("\n");
    let prefix = Value::from(prefix);
    format!(
        "(() => {{ 'use strict'; const start = {last}; const prefix = {prefix};\n{parts}\n\
         globalThis.__toolgate = {{ api: {NAMES}, refOf, frameAt, resolve }}; return true; }})()"
    )
}
