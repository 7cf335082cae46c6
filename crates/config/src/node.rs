//! The merged tree: values, each with the place where it was written.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::key::{KeyPath, Step};
use crate::origin::Origin;

/// A table: its keys are in order, so that everything made from it is too.
pub(crate) type Table = BTreeMap<String, Node>;

/// A value of the tree.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) content: Content,
    /// Where the value is written.
    pub(crate) origin: Origin,
    /// Where its key is written.
    pub(crate) named: Origin,
}

/// What a node holds.
#[derive(Clone)]
pub(crate) enum Content {
    /// A string, a number, a truth value or nothing.
    Scalar(Value),
    List(Vec<Node>),
    Table(Table),
}

impl Node {
    /// A tree of values that all come from one variable or flag.
    pub(crate) fn from_json(value: Value, origin: &Origin) -> Self {
        let child = |value| Self::from_json(value, origin);
        let content = match value {
            Value::Array(items) => Content::List(items.into_iter().map(child).collect()),
            Value::Object(map) => {
                Content::Table(map.into_iter().map(|(key, value)| (key, child(value))).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Content::Scalar(value),
        };
        Self { content, origin: origin.clone(), named: origin.clone() }
    }

    /// The node at a path below this one.
    pub(crate) fn find(&self, path: &KeyPath) -> Option<&Self> {
        path.0.iter().try_fold(self, |node, step| match (&node.content, step) {
            (Content::Table(table), Step::Key(key)) => table.get(key),
            (Content::List(items), Step::Index(index)) => items.get(*index),
            (Content::Scalar(_) | Content::List(_) | Content::Table(_), _) => None,
        })
    }

    /// Takes the entry of a table out; `false` if there is none at this path.
    pub(crate) fn remove(&mut self, path: &[Step]) -> bool {
        match (&mut self.content, path) {
            (Content::Table(table), [Step::Key(key)]) => table.remove(key).is_some(),
            (Content::Table(table), [Step::Key(key), rest @ ..]) => {
                table.get_mut(key).is_some_and(|node| node.remove(rest))
            }
            (Content::List(items), [Step::Index(index), rest @ ..]) => {
                items.get_mut(*index).is_some_and(|node| node.remove(rest))
            }
            (Content::Scalar(_) | Content::List(_) | Content::Table(_), _) => false,
        }
    }

    /// Whether anything in here was written for us, and not left in the environment or meant for OpenCode.
    pub(crate) fn is_deliberate(&self) -> bool {
        let below = match &self.content {
            Content::Table(table) => table.values().any(Self::is_deliberate),
            Content::List(_) | Content::Scalar(_) => false,
        };
        below || !matches!(self.named, Origin::Variable(_) | Origin::OpenCode(_))
    }
}

/// Lays one table over another: tables are merged, anything else is replaced.
///
/// A table over a lower value that is none (`http = 3` in the file, `--port` on the command line) leaves
/// that value: reading the section then says what is wrong with the file.
pub(crate) fn lay_over(lower: &mut Table, upper: Table) {
    for (key, node) in upper {
        match (lower.get_mut(&key), node.content) {
            (Some(Node { content: Content::Table(below), .. }), Content::Table(above)) => {
                lay_over(below, above);
            }
            (Some(_), Content::Table(_)) => {}
            (_, content) => {
                lower.insert(key, Node { content, ..node });
            }
        }
    }
}

/// Adds to a table what another one has and it lacks.
pub(crate) fn fill_up(upper: &mut Table, lower: Table) {
    for (key, node) in lower {
        match (upper.get_mut(&key), node.content) {
            (Some(Node { content: Content::Table(above), .. }), Content::Table(below)) => {
                fill_up(above, below)
            }
            (Some(_), _) => {}
            (None, content) => {
                upper.insert(key, Node { content, ..node });
            }
        }
    }
}

/// A table that holds one value, at a dotted key.
pub(crate) fn single(key: &str, value: Value, origin: &Origin) -> Table {
    let nested = key.rsplit('.').skip(1).fold(
        (key.rsplit('.').next().unwrap_or(key), Node::from_json(value, origin)),
        |(below, node), above| {
            let content = Content::Table(Table::from([(below.to_owned(), node)]));
            (above, Node { content, origin: origin.clone(), named: origin.clone() })
        },
    );
    Table::from([(nested.0.to_owned(), nested.1)])
}
