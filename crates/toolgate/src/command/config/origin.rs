//! Where a value comes from, and what is wrong with one, as JSON.

use serde_json::{Value, json};
use toolgate_config::{Origin, Problem};

/// Where a value comes from.
pub(super) fn origin(origin: &Origin) -> Value {
    match origin {
        Origin::Default => json!({ "kind": "default" }),
        Origin::OpenCode(place) | Origin::File(place) => {
            json!({ "kind": "file", "path": *place.path, "line": place.line, "column": place.column })
        }
        Origin::Variable(name) => json!({ "kind": "variable", "name": name }),
        Origin::Flag(name) => json!({ "kind": "flag", "name": name }),
    }
}

/// What is wrong, and where.
pub(super) fn problem(problem: &Problem) -> Value {
    json!({
        "message": problem.message(),
        "hint": problem.suggestion(),
        "origin": problem.origin().map(origin),
    })
}
