//! What the gate goes by, and what is counted: all that is known at one moment.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use toolgate_core::{SourceId, ToolItem};
use toolgate_wire::Raw;

use super::report::Standing;
use super::state::Actions;
use crate::config::PinsConfig;

/// What the gate goes by: every definition that was looked at, and how it stands.
pub(super) struct Snapshot {
    pub(super) sources: HashMap<SourceId, HashMap<String, Vec<Known>>>,
    pub(super) listed: Listed,
    /// Sources of which nothing is ever held, by configuration.
    pub(super) config: PinsConfig,
}

/// The tools that each source had when it was last looked at: what else was seen is gone, and nothing to worry about.
pub(super) type Listed = HashMap<SourceId, Arc<HashSet<String>>>;

/// A definition that was looked at.
pub(super) struct Known {
    pub(super) raw: Raw,
    pub(super) standing: Standing,
    /// Why it is held, if it is.
    pub(super) held: Option<Arc<Held>>,
}

/// Why a definition is held.
pub(super) struct Held {
    pub(super) why: String,
    /// The command that accepts it, where that is what its tool has now.
    pub(super) accept: Option<String>,
}

/// How a definition is known.
pub(super) enum Looked {
    Fine,
    Held(Arc<Held>),
    NotYet,
}

impl Snapshot {
    pub(super) fn look(&self, source: &SourceId, tool: &ToolItem) -> Looked {
        let known = self.sources.get(source).and_then(|tools| tools.get(tool.name.as_str()));
        let same = |known: &&Known| known.raw.as_bytes() == tool.raw.as_bytes();
        match known.and_then(|all| all.iter().find(same)) {
            Some(Known { held: Some(held), .. }) => Looked::Held(Arc::clone(held)),
            Some(_) => Looked::Fine,
            None if Actions::of(&self.config, source.as_str()).hold_nothing() => Looked::Fine,
            None => Looked::NotYet,
        }
    }

    /// How many tools that are there stand so.
    pub(super) fn count(&self, standing: Standing) -> u64 {
        self.listed.keys().map(|source| self.names(source, standing).count() as u64).sum()
    }

    /// How many tools of a source stand so, and one of them.
    pub(super) fn count_of(&self, source: &SourceId, standing: Standing) -> Option<(u64, &str)> {
        let names = || self.names(source, standing);
        Some((names().count() as u64, names().min()?))
    }

    fn names(&self, source: &SourceId, standing: Standing) -> impl Iterator<Item = &str> {
        let listed = self.listed.get(source).into_iter().flat_map(|names| names.iter());
        let known = self.sources.get(source);
        let newest = move |name: &str| known.and_then(|tools| tools.get(name)?.first());
        listed
            .map(String::as_str)
            .filter(move |name| newest(name).is_some_and(|newest| newest.standing == standing))
    }

    /// Whether a gate that goes by the other one may decide otherwise.
    pub(super) fn differs(&self, other: &Self) -> bool {
        let held = |snapshot: &Self| -> Vec<(String, String, Vec<u8>, bool)> {
            let mut all = Vec::new();
            for (source, tools) in &snapshot.sources {
                for (tool, seen) in tools {
                    all.extend(seen.iter().map(|known| {
                        let raw = known.raw.as_bytes().to_vec();
                        (source.to_string(), tool.clone(), raw, known.held.is_some())
                    }));
                }
            }
            all.sort();
            all
        };
        self.config != other.config || held(self) != held(other)
    }
}
