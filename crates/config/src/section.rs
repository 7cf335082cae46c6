//! One part of a document is read into its type, and everything wrong with it is found.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_path_to_error::{Path, Segment};

use crate::decode::{Decoder, Fault};
use crate::error::Problem;
use crate::explain::explain;
use crate::key::{KeyPath, Step};
use crate::node::{Content, Node};

/// Who has this many mistakes in one section wants to mend some before reading on.
const MOST: usize = 20;

/// Reads the node at `at`.
///
/// Serde stops at the first fault. So the faulty entry is taken out of a copy, and the rest is read again,
/// until nothing is left to complain about.
pub(crate) fn read<T: DeserializeOwned>(node: &Node, at: &KeyPath) -> Result<T, Vec<Problem>> {
    let mut node = Cow::Borrowed(node);
    let mut problems = Vec::new();
    let mut removed: Vec<Vec<Step>> = Vec::new();
    loop {
        let error = match serde_path_to_error::deserialize(Decoder(&node)) {
            Ok(value) if problems.is_empty() => return Ok(value),
            Ok(_) => return Err(problems),
            Err(error) => error,
        };
        let (path, culprit) = locate(error.path(), &node);
        let fault = error.into_inner();
        if !problems.is_empty() && may_be_consequence(&fault, &path, &removed) {
            return Err(problems);
        }
        if !is_stray_variable(&fault, culprit) {
            problems.push(explain(&fault, &at.join(&path), culprit));
        }
        let entry = entry_to_remove(&fault, &path);
        if problems.len() >= MOST || !node.to_mut().remove(entry) {
            return Err(problems);
        }
        removed.push(entry.to_vec());
    }
}

/// Whether the fault may be there only because an earlier one was taken out.
fn may_be_consequence(fault: &Fault, path: &KeyPath, removed: &[Vec<Step>]) -> bool {
    match fault {
        Fault::Missing(_) | Fault::Other(_) => true,
        Fault::Word { .. } | Fault::Type { .. } => removed.iter().any(|entry| entry.starts_with(&path.0)),
        Fault::Unknown { .. } => false,
    }
}

/// A variable for a key that nobody reads in this build is no mistake of the person who set it.
fn is_stray_variable(fault: &Fault, culprit: &Node) -> bool {
    matches!(fault, Fault::Unknown { .. }) && !culprit.is_deliberate()
}

/// An unknown key goes alone. Of anything else in a list the whole list goes: without one item the others
/// would be numbered wrongly.
fn entry_to_remove<'a>(fault: &Fault, path: &'a KeyPath) -> &'a [Step] {
    let list = path.0.iter().position(|step| matches!(step, Step::Index(_)));
    match (fault, list) {
        (Fault::Missing(_), _) => &[],
        (Fault::Unknown { .. }, _) | (_, None) => &path.0,
        (Fault::Word { .. } | Fault::Type { .. } | Fault::Other(_), Some(list)) => &path.0[..list],
    }
}

/// The way to a fault, and what stands there.
fn locate<'a>(path: &Path, root: &'a Node) -> (KeyPath, &'a Node) {
    let mut at = (KeyPath::default(), root);
    for segment in path {
        let step = match segment {
            Segment::Seq { index } => Step::Index(*index),
            Segment::Map { key } => Step::Key(key.clone()),
            Segment::Enum { variant } if matches!(at.1.content, Content::Table(_)) => {
                Step::Key(variant.clone())
            }
            Segment::Enum { .. } => continue,
            Segment::Unknown => break,
        };
        let Some(node) = at.1.find(&KeyPath(vec![step.clone()])) else { break };
        at = (at.0.step(step), node);
    }
    at
}
