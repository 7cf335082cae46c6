//! A place for a store on either database, and handles on it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use toolgate_core::{Collection, Store, Write, Written};
use toolgate_host::{Clock, Tasks};
use toolgate_store::{Database, Options, Place, StoreConfig, open};
use toolgate_testkit::Postgres;

/// Where the clock of a stage stands at first.
pub(crate) const START_MS: u64 = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
}

pub(crate) const BOTH: [Kind; 2] = [Kind::Sqlite, Kind::Postgres];

/// A place for a store. Handles from the same stage stand for processes on the same place.
pub(crate) struct Stage {
    pub(crate) folder: TempDir,
    pub(crate) tasks: Tasks,
    pub(crate) clock: Clock,
    pub(crate) url: String,
}

impl Stage {
    pub(crate) fn on(kind: Kind) -> Self {
        match kind {
            Kind::Sqlite => Self::at("data/toolgate.db"),
            Kind::Postgres => Self::at(&Postgres::shared().database()),
        }
    }

    pub(crate) fn at(url: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, tasks: Tasks::new(), clock: Clock::manual(START_MS), url: url.to_owned() }
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join(&self.url)
    }

    pub(crate) fn handle(&self) -> Arc<Database> {
        self.handle_with(Options::default().patience)
    }

    pub(crate) fn handle_with(&self, patience: Duration) -> Arc<Database> {
        let options = Options { clock: self.clock.clone(), patience };
        open(place(&self.url, self.folder.path()), &self.tasks, options)
    }
}

pub(crate) fn place(url: &str, folder: &Path) -> Place {
    StoreConfig { url: Some(url.to_owned()) }.place(folder).unwrap()
}

pub(crate) fn insert(id: &str, body: &str) -> Write {
    insert_until(id, body, None)
}

pub(crate) fn insert_until(id: &str, body: &str, expires_ms: Option<u64>) -> Write {
    Write::Insert { collection: Collection::State, id: id.into(), body: body.into(), expires_ms }
}

pub(crate) fn replace(id: &str, revision: i64, body: &str) -> Write {
    let collection = Collection::State;
    Write::Replace { collection, id: id.into(), revision, body: body.into(), expires_ms: None }
}

pub(crate) fn remove(id: &str, revision: i64) -> Write {
    Write::Remove { collection: Collection::State, id: id.into(), revision }
}

/// Makes one change, which has to succeed.
#[track_caller]
pub(crate) fn must(store: &dyn Store, write: Write) -> impl Future<Output = ()> + '_ {
    let place = std::panic::Location::caller();
    async move {
        let written = store.write(vec![write]).await;
        assert_eq!(written.unwrap(), Written::Done, "at {place}");
    }
}

/// All documents of the collection for tests, as `id@revision=body`.
pub(crate) async fn shown(store: &dyn Store) -> Vec<String> {
    let documents = store.list(Collection::State).await.unwrap();
    documents.iter().map(|it| format!("{}@{}={}", it.id, it.revision, it.body)).collect()
}

/// An error in full: what, next step, and all causes, also as developers see it.
pub(crate) fn in_full(error: &toolgate_core::StoreError) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    let causes: Vec<String> = causes.map(ToString::to_string).collect();
    format!("{error}; {}; {causes:?}; {error:?}", error.next_step().unwrap_or_default())
}
