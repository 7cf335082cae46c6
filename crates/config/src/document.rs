//! The merged configuration, and how components get their part of it.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{ConfigError, Problem};
use crate::explain::unknown_key;
use crate::key::{KeyPath, Step};
use crate::leaves::{Leaf, leaves};
use crate::node::{Content, Node, Table, fill_up};
use crate::origin::Origin;
use crate::section;

/// The merged configuration: every value with the place where it was written.
#[derive(Clone)]
pub struct Document {
    root: Node,
    pub(crate) files: Files,
    warnings: Vec<Problem>,
}

/// The files of a document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    /// Ours, if there is one.
    pub(crate) own: Option<PathBuf>,
    /// OpenCode's, if there is one.
    pub(crate) opencode: Option<PathBuf>,
    /// All that were read, or would have been had they been there.
    pub(crate) looked_for: Vec<PathBuf>,
}

impl Document {
    pub(crate) fn new(table: Table, warnings: Vec<Problem>) -> Self {
        let root = Node { content: Content::Table(table), origin: Origin::Default, named: Origin::Default };
        Self { root, files: Files::default(), warnings }
    }

    /// Adds a source whose values count only where there are none yet.
    pub(crate) fn lay_under(&mut self, lower: Table, warnings: Vec<Problem>) {
        if let Content::Table(table) = &mut self.root.content {
            fill_up(table, lower);
        }
        self.warnings.extend(warnings);
    }

    /// The text that stands at a dotted key.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        match &self.root.find(&KeyPath::dotted(key))?.content {
            Content::Scalar(value) => value.as_str(),
            Content::List(_) | Content::Table(_) => None,
        }
    }

    /// The table of this name as its component understands it; its default if nobody wrote one.
    ///
    /// # Errors
    /// All that is wrong with the table.
    pub fn section<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T, ConfigError> {
        self.value(name).map(Option::unwrap_or_default)
    }

    /// The value of a top-level key, if anybody wrote one.
    ///
    /// # Errors
    /// All that is wrong with the value.
    pub fn value<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, ConfigError> {
        let mut sections = Sections::new(self);
        let value = sections.value(name);
        ConfigError::unless_empty(sections.problems)?;
        Ok(value)
    }

    /// Reads all sections, and reports all that is wrong with the document at once, also any top-level key
    /// that was not asked for.
    ///
    /// # Errors
    /// All that is wrong with the document.
    pub fn read<T>(&self, settings: impl FnOnce(&mut Sections<'_>) -> T) -> Result<T, ConfigError> {
        let mut sections = Sections::new(self);
        let settings = settings(&mut sections);
        sections.report_unclaimed();
        ConfigError::unless_empty(sections.problems)?;
        Ok(settings)
    }

    /// Where the value of a dotted key comes from.
    #[must_use]
    pub fn origin(&self, key: &str) -> Origin {
        self.root.find(&KeyPath::dotted(key)).map_or(Origin::Default, |node| node.origin.clone())
    }

    /// Where the value of a dotted key comes from; for what is missing in an item of a list, that item.
    fn nearest_origin(&self, key: &str) -> Origin {
        let mut path = KeyPath::dotted(key);
        while path.0.iter().any(|step| matches!(step, Step::Index(_))) {
            if let Some(node) = self.root.find(&path) {
                return node.origin.clone();
            }
            path.0.pop();
        }
        self.origin(key)
    }

    /// A path that was written as the value of `key`: a relative one in a file counts from the folder of
    /// that file, so that it means the same wherever the program is started.
    #[must_use]
    pub fn resolve(&self, key: &str, path: &Path) -> PathBuf {
        match self.origin(key) {
            Origin::OpenCode(place) | Origin::File(place) => {
                place.path.parent().map_or_else(|| path.into(), |folder| folder.join(path))
            }
            Origin::Default | Origin::Variable(_) | Origin::Flag(_) => path.into(),
        }
    }

    /// Every value that somebody wrote, in the order of the keys.
    #[must_use]
    pub fn leaves(&self) -> Vec<Leaf> {
        leaves(&self.root)
    }

    /// Every value of the settings made from this document, with where it comes from: what nobody wrote is
    /// there with its default. `settings` is an object with a member for each top-level key.
    #[must_use]
    pub fn in_force(&self, settings: Value) -> Vec<Leaf> {
        let mut leaves = leaves(&Node::from_json(settings, &Origin::Default));
        for leaf in &mut leaves {
            leaf.origin = self.root.find(&leaf.path).map_or(Origin::Default, |node| node.origin.clone());
        }
        leaves
    }

    /// The file of ours that was read, if there is one.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.files.own.as_deref()
    }

    /// OpenCode's file that was read, if there is one.
    #[must_use]
    pub fn opencode_file(&self) -> Option<&Path> {
        self.files.opencode.as_deref()
    }

    /// Every file that was read, or would have been had it been there: one whose change may change this.
    #[must_use]
    pub fn looked_for(&self) -> &[PathBuf] {
        &self.files.looked_for
    }

    /// What looks like a mistake but harms nothing: variables that begin with ours and that nobody knows,
    /// and what cannot be read in OpenCode's file.
    #[must_use]
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }
}

/// Keys only: among the values are secrets.
impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<String> = self.leaves().into_iter().map(|leaf| leaf.key).collect();
        f.debug_struct("Document").field("file", &self.files.own).field("keys", &keys).finish_non_exhaustive()
    }
}

/// The sections of a document on their way to the components; see [`Document::read`].
///
/// What cannot be read stands in as its default here, and as a problem in the result of the whole.
#[derive(Debug)]
pub struct Sections<'a> {
    document: &'a Document,
    claimed: Vec<String>,
    problems: Vec<Problem>,
}

impl<'a> Sections<'a> {
    fn new(document: &'a Document) -> Self {
        Self { document, claimed: Vec::new(), problems: Vec::new() }
    }

    /// The table of this name as its component understands it.
    pub fn section<T: DeserializeOwned + Default>(&mut self, name: &str) -> T {
        self.value(name).unwrap_or_default()
    }

    /// The value of a top-level key, if anybody wrote one.
    pub fn value<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        self.claimed.push(name.to_owned());
        let at = KeyPath::default().key(name);
        let node = self.document.root.find(&at)?;
        section::read(node, &at).map_err(|problems| self.problems.extend(problems)).ok()
    }

    /// Refuses the value of a dotted key for a reason that its type does not know.
    pub fn refuse(&mut self, key: &str, message: &str, hint: &str) {
        let origin = Some(self.document.nearest_origin(key)).filter(|origin| *origin != Origin::Default);
        self.problems.push(Problem::new(origin, format!("`{key}` {message}")).hint(hint.to_owned()));
    }

    /// A variable may be meant for a part that this build lacks; a file or a flag is meant for us.
    fn report_unclaimed(&mut self) {
        let Content::Table(table) = &self.document.root.content else { return };
        let known: Vec<&str> = self.claimed.iter().map(String::as_str).collect();
        let unclaimed =
            table.iter().filter(|(key, node)| !known.contains(&key.as_str()) && node.is_deliberate());
        let path = |key: &str| KeyPath::default().key(key);
        self.problems.extend(unclaimed.map(|(key, node)| unknown_key(&path(key), node, &known)));
    }
}
