//! A pin as the store keeps it.

use serde::{Deserialize, Serialize};
use toolgate_core::{Collection, Document, SourceId, ToolItem, Write};
use toolgate_wire::Raw;

/// How many accepted definitions of a tool are kept: a server may show different ones to different principals.
const KEPT: usize = 4;

/// What is known of a tool of another server. One without a tool's name marks that its source was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Pin {
    pub(super) source: String,
    pub(super) tool: String,
    /// When it was first seen.
    pub(super) first_seen_ms: u64,
    /// The definitions that are trusted, newest first.
    #[serde(default)]
    pub(super) accepted: Vec<Version>,
    /// The definition it has now, where that is not trusted.
    #[serde(default)]
    pub(super) pending: Option<Version>,
    /// The definition it was first seen with, where that was never accepted and is another one now.
    #[serde(default)]
    pub(super) baseline: Option<Version>,
    /// Whether it came after its source was first seen.
    #[serde(default)]
    pub(super) added: bool,
    /// The source that had its name before.
    #[serde(default)]
    pub(super) reused: Option<String>,
    /// Whether its source lists its name more than once.
    #[serde(default)]
    pub(super) duplicated: bool,
}

/// A definition at one time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Version {
    pub(super) digest: String,
    /// As it was written: what no type can hold is still compared.
    pub(super) definition: Raw,
    /// When it was seen, or accepted.
    pub(super) at_ms: u64,
    /// Who accepted it; nobody did what was there at first sight.
    #[serde(default)]
    pub(super) by: Option<String>,
}

impl Version {
    pub(super) fn of(tool: &ToolItem, at_ms: u64) -> Self {
        Self { digest: digest(&tool.raw), definition: tool.raw.clone(), at_ms, by: None }
    }
}

impl Pin {
    /// The mark that a source was seen.
    pub(super) fn mark(source: &SourceId, now_ms: u64) -> Self {
        Self::new(source.as_str(), "", now_ms)
    }

    pub(super) fn new(source: &str, tool: &str, first_seen_ms: u64) -> Self {
        Self {
            source: source.into(),
            tool: tool.into(),
            first_seen_ms,
            accepted: Vec::new(),
            pending: None,
            baseline: None,
            added: false,
            reused: None,
            duplicated: false,
        }
    }

    /// Whether it is a tool of this source.
    pub(super) fn is_of(&self, source: &SourceId) -> bool {
        self.source == source.as_str() && !self.is_mark()
    }

    pub(super) fn is_mark(&self) -> bool {
        self.tool.is_empty()
    }

    pub(super) fn read(document: &Document) -> Option<Self> {
        serde_json::from_str(&document.body).ok()
    }

    /// No tool's name has a space in it, so that no two pins share an id.
    pub(super) fn id(source: &str, tool: &str) -> String {
        format!("{source} {tool}")
    }

    pub(super) fn trusts(&self, digest: &str) -> bool {
        self.accepted.iter().any(|version| version.digest == digest)
    }

    /// The definition that others are compared with: a tool that is used without having been accepted is pinned all the
    /// same.
    pub(super) fn reference(&self) -> Option<&Version> {
        self.accepted.first().or(self.baseline.as_ref())
    }

    /// A sight of it with a definition.
    pub(super) fn seen(&mut self, version: Version) {
        if self.trusts(&version.digest) {
            self.pending = None;
            return;
        }
        match self.pending.take() {
            Some(pending) if pending.digest == version.digest => self.pending = Some(pending),
            Some(pending) => {
                if self.accepted.is_empty() && self.baseline.is_none() {
                    self.baseline = Some(pending);
                }
                self.pending = Some(version);
            }
            None => self.pending = Some(version),
        }
    }

    /// Trusts the definition it has now; `false` if there is none but trusted ones.
    pub(super) fn accept(&mut self, by: &str, now_ms: u64) -> bool {
        let Some(pending) = self.pending.take() else { return false };
        self.accepted.insert(0, Version { at_ms: now_ms, by: Some(by.into()), ..pending });
        self.accepted.truncate(KEPT);
        self.baseline = None;
        true
    }

    pub(super) fn insert(&self) -> Write {
        Write::Insert {
            collection: Collection::Pins,
            id: Self::id(&self.source, &self.tool),
            body: self.body(),
            expires_ms: None,
        }
    }

    pub(super) fn replace(&self, document: &Document) -> Write {
        Write::Replace {
            collection: Collection::Pins,
            id: document.id.clone(),
            revision: document.revision,
            body: self.body(),
            expires_ms: None,
        }
    }

    fn body(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The digest of a definition, whatever order its keys are in.
pub(super) fn digest(raw: &Raw) -> String {
    toolgate_wire::digest(raw).iter().map(|byte| format!("{byte:02x}")).collect()
}
