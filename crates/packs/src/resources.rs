//! Files of a root as resources: learned when someone first looks, kept fresh from then on.
//!
//! Before the first look nothing is scanned and nothing is watched: most clients never ask.

mod keeper;
mod mime;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tokio::sync::watch;
use toolgate_core::{Kinds, ListKind, Result, Shelf, TemplateItem, resource_not_found};
use toolgate_host::files::{ReadOptions, WalkedFile};
use toolgate_host::{FileError, RelPath, Root, Tasks};
use toolgate_wire::{Raw, Template};

use crate::failure::{Advice, failure};
use crate::{encoding, uri};
use keeper::Keeper;

/// Which files are resources, and what their URIs look like.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Collection {
    /// The scheme of the URIs.
    pub(crate) scheme: &'static str,
    /// What a model should know about the files.
    pub(crate) description: &'static str,
    /// Whether a file is one of them.
    pub(crate) holds: fn(&RelPath) -> bool,
    /// What to try when one is too large to be read in one piece.
    pub(crate) large: &'static str,
}

/// The files of a root as resources.
#[derive(Debug)]
pub(crate) struct Resources {
    collection: Collection,
    tasks: Tasks,
    shelf: OnceLock<Shelf>,
    started: AtomicBool,
    /// The root whose files are listed.
    root: watch::Sender<Option<Root>>,
}

impl Resources {
    pub(crate) fn new(collection: Collection, tasks: &Tasks) -> Self {
        let (root, _) = watch::channel(None);
        Self {
            collection,
            tasks: tasks.clone(),
            shelf: OnceLock::new(),
            started: AtomicBool::new(false),
            root,
        }
    }

    /// Puts the template on the shelf, and says that the list is still to be learned.
    pub(crate) fn attach(&self, shelf: Shelf) {
        shelf.update(|listing| {
            listing.templates.extend(self.collection.template().map(Into::into));
            listing.pending = Kinds::only(ListKind::Resources);
        });
        // A pack is attached once.
        drop(self.shelf.set(shelf));
    }

    /// Someone looks: learns the list, if this is the first time. `root` says whose files to list.
    pub(crate) fn demand(&self, root: impl FnOnce() -> Result<Root>) {
        let Some(shelf) = self.shelf.get() else { return };
        if self.started.swap(true, Ordering::AcqRel) {
            return;
        }
        match root() {
            Ok(root) => self.show(&root),
            Err(error) => tracing::warn!(scheme = self.collection.scheme, "no files to list: {error}"),
        }
        let keeper = Keeper::new(self.collection, shelf.clone(), self.tasks.clone());
        let keep = keeper.run(self.root.subscribe());
        self.tasks.spawn(self.tasks.stopping().run_until_cancelled_owned(keep));
    }

    /// From now on the files of this root are listed.
    pub(crate) fn show(&self, root: &Root) {
        self.root.send_if_modified(|shown| {
            let other = shown.as_ref().is_none_or(|shown| shown.path() != root.path());
            if other {
                *shown = Some(root.clone());
            }
            other
        });
    }

    /// Which file of the root a URI names.
    pub(crate) fn path(&self, uri: &str) -> Result<RelPath> {
        self.collection.path(uri).ok_or_else(|| resource_not_found(uri))
    }

    /// The answer to `resources/read`: text, or a blob where it is not UTF-8.
    pub(crate) async fn read(&self, root: &Root, uri: &str, max_bytes: u64) -> Result<Raw> {
        let path = self.path(uri)?;
        let content = match root.read(&path, ReadOptions::whole(max_bytes)).await {
            Ok(content) => content,
            Err(FileError::TooLarge { path, size, limit }) => {
                let advice = Advice { missing: "", large: self.collection.large };
                return Err(failure(FileError::TooLarge { path, size, limit }, advice));
            }
            Err(error) => return Err(resource_not_found(uri).because(error)),
        };
        let known = mime::media_type(path.as_str());
        let content = match String::from_utf8(content.bytes) {
            Ok(text) => json!({"uri": uri, "mimeType": known.unwrap_or("text/plain"), "text": text}),
            Err(bytes) => {
                let blob = encoding::base64(bytes.as_bytes());
                json!({"uri": uri, "mimeType": known.unwrap_or("application/octet-stream"), "blob": blob})
            }
        };
        Ok(Raw::of(&json!({"contents": [content]})))
    }
}

impl Collection {
    fn uri(&self, path: &RelPath) -> String {
        format!("{}:///{}", self.scheme, uri::encode(path.as_str()))
    }

    fn path(&self, uri: &str) -> Option<RelPath> {
        let encoded = uri.strip_prefix(self.scheme)?.strip_prefix(":///")?;
        let path = RelPath::parse(&uri::decode(encoded)?, "").ok()?;
        (!path.is_root() && (self.holds)(&path)).then_some(path)
    }

    fn template(&self) -> Option<TemplateItem> {
        let text = format!("{}:///{{+path}}", self.scheme);
        let definition = json!({
            "uriTemplate": text,
            "name": self.scheme,
            "description": self.description,
        });
        let template = Template::parse(&text).ok()?;
        Some(TemplateItem { template, text: text.into(), raw: Raw::of(&definition) })
    }

    fn definition(&self, file: &WalkedFile) -> Value {
        let mut definition = json!({"uri": self.uri(&file.path), "name": file.path.as_str()});
        if let Some(media_type) = mime::media_type(file.path.as_str()) {
            definition["mimeType"] = json!(media_type);
        }
        definition["size"] = json!(file.size);
        definition
    }
}
