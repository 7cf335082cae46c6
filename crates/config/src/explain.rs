//! A fault in someone's document becomes a message that says where, what, and what to write instead.

use crate::decode::{Fault, Found};
use crate::error::Problem;
use crate::key::{KeyPath, shown};
use crate::node::{Content, Node};
use crate::secret::is_secret_value;
use crate::suggest::{listed, nearest};

/// What is wrong at `path`; `node` is what stands there, or the nearest thing above it.
pub(crate) fn explain(fault: &Fault, path: &KeyPath, node: &Node) -> Problem {
    match fault {
        Fault::Unknown { expected } => unknown_key(path, node, expected.unwrap_or_default()),
        Fault::Word { found, expected } => {
            let message = format!("`{path}` must be one of {}", listed(expected.iter().copied()));
            let secret = path.is_secret() || is_secret_value(found);
            let message = if secret { message } else { format!("{message}, not `{}`", shown(found)) };
            let hint = nearest(found, expected.iter().copied()).map(|word| format!("did you mean `{word}`?"));
            Problem::new(node.origin.clone(), message).hint(hint)
        }
        Fault::Type { found, expected } => {
            let found = found_in_words(found, path.is_secret());
            Problem::new(node.origin.clone(), format!("`{path}` must be {expected}, not {found}"))
        }
        Fault::Missing(key) => Problem::new(node.named.clone(), format!("`{path}` lacks the key `{key}`"))
            .hint(format!("add `{key} = …` to `{path}`")),
        Fault::Other(message) => {
            let message = without_secret(message, path, node);
            Problem::new(node.origin.clone(), format!("`{path}`: {message}"))
        }
    }
}

/// A key that nobody reads, beside those that are read.
pub(crate) fn unknown_key(path: &KeyPath, node: &Node, known: &[&str]) -> Problem {
    let problem = Problem::new(node.named.clone(), format!("unknown key `{path}`"));
    let Some((parent, key)) = path.split_key() else { return problem };
    match nearest(key, known.iter().copied()) {
        Some(meant) => problem.hint(format!("did you mean `{}`?", parent.key(meant))),
        None if known.is_empty() => problem,
        None => problem.hint(format!("valid keys: {}", listed(known.iter().copied()))),
    }
}

fn found_in_words(found: &Found, secret: bool) -> String {
    match &found.text {
        Some(text) if !secret && !is_secret_value(text) => {
            let sort = found.sort.trim_start_matches("an ").trim_start_matches("a ");
            format!("the {sort} `{}`", shown(text))
        }
        Some(_) | None => found.sort.to_owned(),
    }
}

/// A component's own message may repeat the value it refuses.
fn without_secret(message: &str, path: &KeyPath, node: &Node) -> String {
    let Content::Scalar(value) = &node.content else { return message.to_owned() };
    match value.as_str() {
        Some(text) if !text.is_empty() && (path.is_secret() || is_secret_value(text)) => {
            message.replace(text, "…")
        }
        Some(_) | None => message.to_owned(),
    }
}
