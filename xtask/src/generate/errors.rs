//! `docs/reference/errors.md`: every kind of error and how each face shows it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use toolgate_core::{Kind, RpcForm};

use super::markdown::{code, table};

/// Where the kinds are; their doc comments say what they mean.
const SOURCE: &str = "crates/core/src/error/table.rs";

pub(super) fn write(root: &Path) -> Result<String> {
    let source = fs::read_to_string(root.join(SOURCE)).with_context(|| format!("cannot read `{SOURCE}`"))?;
    let mut meanings = Vec::new();
    for kind in Kind::ALL {
        let name = format!("{kind:?}");
        let meaning =
            meaning(&source, &name).with_context(|| format!("`{name}` has no doc comment in `{SOURCE}`"))?;
        meanings.push(vec![code(&name), meaning.to_owned(), advice(kind)]);
    }
    let faces: Vec<Vec<String>> = Kind::ALL.into_iter().map(face).collect();
    Ok(format!(
        "# Errors\n\n\
         Every error has a kind; there is one kind for each different reaction of a caller. An error carries a message and\n\
         often a hint; the cause stays in the log.\n\n\
         ## What they mean\n\n{}\n\
         ## How each face shows them\n\n\
         A tool call that fails is answered by a result with `isError`, so that the model can correct itself, or by a\n\
         JSON-RPC error. Requests that are no tool calls always get the JSON-RPC error. A retryable call may succeed later\n\
         without being changed.\n\n{}",
        table(&["kind", "meaning", "what to try"], &meanings),
        table(
            &["kind", "category", "tool call", "JSON-RPC code", "HTTP status", "exit code", "retryable"],
            &faces
        )
    ))
}

fn advice(kind: Kind) -> String {
    format!("{}.", kind.suggestions().join(". "))
}

fn face(kind: Kind) -> Vec<String> {
    let tool_call = match kind.tool_form() {
        RpcForm::Error(_) => "JSON-RPC error",
        RpcForm::Result => "`isError` result",
    };
    vec![
        code(&format!("{kind:?}")),
        code(kind.category()),
        tool_call.to_owned(),
        kind.code().to_string(),
        kind.http_status().to_string(),
        kind.exit_code().to_string(),
        if kind.retryable() { "yes" } else { "no" }.to_owned(),
    ]
}

/// The doc comment of a variant, if it is one line.
fn meaning<'a>(source: &'a str, variant: &str) -> Option<&'a str> {
    let mut previous = "";
    for line in source.lines().map(str::trim) {
        if line.strip_suffix(',') == Some(variant) {
            return previous.strip_prefix("/// ");
        }
        previous = line;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_meaning_is_the_doc_comment() {
        let source = "enum Kind {\n    /// It took too long.\n    Timeout,\n    Bare,\n}\n";
        assert_eq!(meaning(source, "Timeout"), Some("It took too long."));
        assert_eq!(meaning(source, "Bare"), None);
        assert_eq!(meaning(source, "Time"), None);
    }
}
