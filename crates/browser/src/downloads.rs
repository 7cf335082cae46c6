//! Files that pages hand over: taken within limits, and kept for the caller with its next answer.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;
use toolgate_core::{Block, Error, Kind, PrincipalId, Result};
use toolgate_host::files::ReadOptions;
use toolgate_host::{FileError, RelPath, Root, Scratch};

use crate::store::Store;

/// How many a caller has not been told of yet, at most: a page cannot flood its folder.
const FILES: usize = 10;

/// How long an answer waits for those that began with its call.
const PATIENCE: Duration = Duration::from_secs(10);

/// The downloads of a browser.
pub(crate) struct Downloads {
    folder: Scratch,
    /// How many bytes may lie here at once.
    most: u64,
    held: Mutex<Held>,
    /// Changes whenever one does.
    version: watch::Sender<u64>,
}

#[derive(Default)]
struct Held {
    list: Vec<Download>,
    begun: u64,
    refused: u64,
}

struct Download {
    id: String,
    name: String,
    bytes: u64,
    progress: Progress,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    UnderWay,
    Whole,
    Stopped,
    TooLarge,
}

/// What schemas say of a list of them. It stands in that of every tool that acts, so it is brief.
pub(crate) type Shape = Vec<BTreeMap<String, Value>>;

/// A file that a page handed over, and what became of it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Downloaded {
    /// The name of the file.
    name: String,
    /// What became of it: kept, under way, stopped or too large.
    state: &'static str,
    /// How many bytes of it there are.
    bytes: u64,
    /// What `resources/read` reads it by, once it is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    #[serde(skip)]
    mime: &'static str,
}

/// All that is to be told of downloads.
#[derive(Debug, Default)]
pub(crate) struct News {
    pub(crate) items: Vec<Downloaded>,
    /// How many were refused, because there were too many.
    pub(crate) refused: u64,
}

impl Downloaded {
    /// A link to it, if it is kept.
    pub(crate) fn link(&self) -> Option<Block> {
        Some(Block::ResourceLink {
            uri: self.uri.clone()?,
            name: self.name.clone(),
            mime_type: Some(self.mime.to_owned()),
            description: None,
        })
    }

    /// It in words.
    pub(crate) fn shown(&self) -> String {
        let uri = self.uri.as_ref().map(|uri| format!(" as {uri}")).unwrap_or_default();
        format!("download {} ({} bytes) {}{uri}", self.name, self.bytes, self.state)
    }
}

impl Downloads {
    /// A folder for them, with room for so many bytes.
    pub(crate) fn new(most: u64) -> Result<Self> {
        let folder = Scratch::new("toolgate-downloads").map_err(|error| {
            Error::new(Kind::Internal, "no folder can be made for downloads").because(error)
        })?;
        Ok(Self { folder, most, held: Mutex::default(), version: watch::channel(0).0 })
    }

    /// Where they are written.
    pub(crate) fn folder(&self) -> String {
        self.folder.path().display().to_string()
    }

    /// One begins. Says whether it is taken.
    pub(crate) fn begins(&self, id: &str, suggested: &str) -> bool {
        let is_id = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let mut held = lock(&self.held);
        held.begun += 1;
        let is_taken = is_id && held.list.len() < FILES;
        if is_taken {
            let name = clean(suggested);
            held.list.push(Download { id: id.to_owned(), name, bytes: 0, progress: Progress::UnderWay });
        } else {
            held.refused += 1;
        }
        drop(held);
        self.changed();
        is_taken
    }

    /// One went on. Says whether it has to be stopped.
    pub(crate) fn goes_on(&self, told: &Value) -> bool {
        let number = |key: &str| told[key].as_f64().unwrap_or_default().max(0.0) as u64;
        let (received, announced, state) = (number("receivedBytes"), number("totalBytes"), &told["state"]);
        let mut held = lock(&self.held);
        let Some(at) = held.list.iter().position(|download| told["guid"] == download.id.as_str()) else {
            return false;
        };
        let others: u64 = held.list.iter().map(|download| download.bytes).sum::<u64>() - held.list[at].bytes;
        let download = &mut held.list[at];
        if download.progress != Progress::UnderWay {
            return false;
        }
        // Room is taken for all that was announced, so that two cannot take the same.
        let is_over = state == "completed";
        download.bytes = if is_over { received } else { received.max(announced) };
        let is_large = download.bytes.saturating_add(others) > self.most;
        if is_large {
            (download.progress, download.bytes) = (Progress::TooLarge, 0);
        } else if is_over {
            download.progress = Progress::Whole;
        } else if state == "canceled" {
            (download.progress, download.bytes) = (Progress::Stopped, 0);
        }
        drop(held);
        self.changed();
        is_large && !is_over
    }

    /// How many have begun so far.
    pub(crate) fn begun(&self) -> u64 {
        lock(&self.held).begun
    }

    /// Waits until one begins after so many; whether it did.
    pub(crate) async fn begins_after(&self, begun: u64, limit: Duration) -> bool {
        self.until(limit, |held| held.begun > begun).await
    }

    /// Waits a while for those that began after so many.
    pub(crate) async fn settled(&self, begun: u64) {
        if self.begun() > begun {
            self.until(PATIENCE, |held| held.list.iter().all(|one| one.progress != Progress::UnderWay)).await;
        }
    }

    /// Keeps what is whole for a caller, and tells of everything.
    pub(crate) async fn keep(&self, store: &Store, who: &PrincipalId) -> News {
        let (over, mut news) = self.take();
        for download in over {
            let (mut state, mut kept) = (download.progress.word(), None);
            if download.progress == Progress::Whole {
                match self.kept(&download, store, who).await {
                    Ok(capture) => kept = Some(capture),
                    Err(error) => {
                        tracing::warn!(%error, "a download cannot be kept");
                        state = "lost: it could not be kept";
                    }
                }
            }
            news.items.push(Downloaded {
                state,
                bytes: download.bytes,
                uri: kept.as_ref().map(crate::store::Capture::uri),
                mime: kept.map_or("", |capture| capture.mime),
                name: download.name,
            });
        }
        news
    }

    /// Those that are over, which are not held any more, and what is to be told of the others.
    fn take(&self) -> (Vec<Download>, News) {
        let mut held = lock(&self.held);
        let is_over = |download: &mut Download| download.progress != Progress::UnderWay;
        let over = held.list.extract_if(.., is_over).collect();
        let under_way = |download: &Download| Downloaded {
            name: download.name.clone(),
            state: Progress::UnderWay.word(),
            bytes: download.bytes,
            uri: None,
            mime: "",
        };
        let items = held.list.iter().map(under_way).collect();
        (over, News { items, refused: std::mem::take(&mut held.refused) })
    }

    async fn kept(
        &self,
        download: &Download,
        store: &Store,
        who: &PrincipalId,
    ) -> Result<crate::store::Capture> {
        let failed = |error: FileError| {
            Error::new(Kind::Internal, format!("`{}` cannot be read", download.name)).because(error)
        };
        let folder = Root::open(self.folder.path()).map_err(failed)?;
        let path = RelPath::parse(&download.id, "downloads").map_err(failed)?;
        let content = folder.read(&path, ReadOptions::whole(self.most)).await.map_err(failed)?;
        let kept = store.put_file(who, &download.name, content.bytes).await;
        folder.remove_file(&path).await.map_err(failed)?;
        kept
    }

    async fn until(&self, limit: Duration, is_so: impl Fn(&Held) -> bool) -> bool {
        let mut version = self.version.subscribe();
        let waiting = async {
            loop {
                version.mark_unchanged();
                // Looked at by itself, so that nothing is locked while it waits.
                let is_so_now = is_so(&lock(&self.held));
                if is_so_now || version.changed().await.is_err() {
                    return;
                }
            }
        };
        drop(tokio::time::timeout(limit, waiting).await);
        is_so(&lock(&self.held))
    }

    fn changed(&self) {
        self.version.send_modify(|version| *version += 1);
    }
}

impl Progress {
    fn word(self) -> &'static str {
        match self {
            Self::UnderWay => "under way",
            Self::Whole => "kept",
            Self::Stopped => "stopped",
            Self::TooLarge => "too large",
        }
    }
}

/// A name that a page suggests as one that is only a name: its end stays what it was.
fn clean(suggested: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '_' };
    let name: String = suggested.chars().take(1000).map(fits).collect();
    let name = name.trim_matches('.');
    if name.is_empty() {
        return "download".into();
    }
    let (stem, end) = name.rsplit_once('.').filter(|(_, end)| end.len() <= 10).unwrap_or((name, ""));
    let dot = if end.is_empty() { "" } else { "." };
    format!("{}{dot}{end}", &stem[..stem.len().min(60)])
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
