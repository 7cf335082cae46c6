//! Every value of a document, one by one, with its origin.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use crate::key::{KeyPath, Step};
use crate::node::{Content, Node};
use crate::origin::Origin;
use crate::secret::is_secret_value;

/// A value of a configuration.
#[derive(Clone, PartialEq)]
pub struct Leaf {
    /// Its dotted key.
    pub key: String,
    pub(crate) path: KeyPath,
    /// The value: a scalar or a list of scalars.
    pub value: Value,
    /// Where it was written.
    pub origin: Origin,
    /// Whether it looks like a secret, which must not be shown.
    pub secret: bool,
}

impl fmt::Debug for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Leaf");
        out.field("key", &self.key).field("origin", &self.origin);
        if !self.secret {
            out.field("value", &self.value);
        }
        out.finish_non_exhaustive()
    }
}

/// All values below a node, in the order of the keys.
pub(crate) fn leaves(root: &Node) -> Vec<Leaf> {
    let mut found = Vec::new();
    walk(root, &KeyPath::default(), &mut found);
    found
}

/// The dotted keys whose values differ between two objects, or that only one of them has.
#[must_use]
pub fn differences(one: Value, other: Value) -> Vec<String> {
    let values = |value| {
        let leaves = leaves(&Node::from_json(value, &Origin::Default));
        leaves.into_iter().map(|leaf| (leaf.key, leaf.value)).collect::<BTreeMap<_, _>>()
    };
    let (one, other) = (values(one), values(other));
    let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    keys.into_iter().filter(|key| one.get(*key) != other.get(*key)).cloned().collect()
}

fn walk(node: &Node, path: &KeyPath, found: &mut Vec<Leaf>) {
    match &node.content {
        Content::Table(table) => {
            for (key, child) in table {
                walk(child, &path.key(key), found);
            }
        }
        Content::List(items) => match scalars(items) {
            Some(values) => found.push(leaf(node, path, Value::Array(values))),
            None => {
                for (index, item) in items.iter().enumerate() {
                    walk(item, &path.step(Step::Index(index)), found);
                }
            }
        },
        Content::Scalar(value) => found.push(leaf(node, path, value.clone())),
    }
}

/// The values of a list in which there is neither a list nor a table.
fn scalars(items: &[Node]) -> Option<Vec<Value>> {
    let scalar = |item: &Node| match &item.content {
        Content::Scalar(value) => Some(value.clone()),
        Content::List(_) | Content::Table(_) => None,
    };
    items.iter().map(scalar).collect()
}

fn leaf(node: &Node, path: &KeyPath, value: Value) -> Leaf {
    let parts = value.as_array().map_or(std::slice::from_ref(&value), Vec::as_slice);
    let secret = path.is_secret() || parts.iter().any(|part| part.as_str().is_some_and(is_secret_value));
    Leaf { key: path.to_string(), path: path.clone(), origin: node.origin.clone(), secret, value }
}
