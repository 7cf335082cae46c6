//! A browser as a caller has it: its own cookies and storage, its own tabs, its own way out.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, watch};
use toolgate_core::{Error, HostPattern, Kind, PrincipalId, Result};
use toolgate_host::Scratch;

use crate::devtools::Devtools;
use crate::downloads::Downloads;
use crate::engine::Engine;
use crate::proxy::Proxy;
use crate::tab::{Options, Tab, halt};

/// How many tabs a browser may have.
const TABS: usize = 20;

/// How many bytes a browser may upload.
const UPLOADS: u64 = 256 * 1024 * 1024;

/// What is said once after Chromium had to be started anew.
const LOST: &str = "the browser had ended and was started anew: its pages, cookies and storage are lost";

/// How long a tab may take to open.
const OPEN: Duration = Duration::from_secs(60);

/// A browser of a caller. It keeps its name when Chromium crashes and is started anew.
pub(crate) struct Instance {
    pub(crate) id: String,
    pub(crate) owner: PrincipalId,
    pub(crate) label: Option<String>,
    pub(crate) options: Options,
    pub(crate) allowed: Option<Vec<HostPattern>>,
    pub(crate) created_unix_ms: u64,
    pub(crate) used: Mutex<Instant>,
    /// How many calls are about it now.
    pub(crate) calls: AtomicUsize,
    /// What it is now; held while it is made anew, so that it is done once.
    pub(crate) context: tokio::sync::Mutex<Arc<Context>>,
    /// Whether it was made anew, and its caller does not know it yet.
    pub(crate) is_lost: AtomicBool,
    pub(crate) _places: [OwnedSemaphorePermit; 2],
}

impl Instance {
    /// Notes that it is in use, for as long as what this returns is there.
    pub(crate) fn in_use(self: &Arc<Self>) -> InUse {
        self.calls.fetch_add(1, Ordering::AcqRel);
        InUse(self.clone())
    }

    /// What its caller has to know of what it was, and is told with this.
    pub(crate) fn lost(&self) -> Option<&'static str> {
        self.is_lost.swap(false, Ordering::AcqRel).then_some(LOST)
    }

    /// How long it has not been used.
    pub(crate) fn idle(&self) -> Duration {
        if self.calls.load(Ordering::Acquire) > 0 { Duration::ZERO } else { lock(&self.used).elapsed() }
    }
}

/// A call that is about a browser.
pub(crate) struct InUse(Arc<Instance>);

impl Drop for InUse {
    fn drop(&mut self) {
        *lock(&self.0.used) = Instant::now();
        self.0.calls.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A browser context of a Chromium: nothing is shared with others.
pub(crate) struct Context {
    pub(crate) engine: Arc<Engine>,
    pub(crate) id: String,
    pub(crate) proxy: Proxy,
    /// What its pages hand over, if they may.
    pub(crate) downloads: Option<Downloads>,
    pub(crate) options: Options,
    tabs: Mutex<Tabs>,
    version: watch::Sender<u64>,
    /// Where its uploads are, which go with it.
    uploads: OnceLock<Scratch>,
    uploaded: AtomicU64,
}

#[derive(Default)]
struct Tabs {
    list: Vec<Arc<Tab>>,
    current: Option<String>,
    next: u32,
}

impl Context {
    /// Makes one, with one tab.
    pub(crate) async fn make(
        engine: Arc<Engine>,
        (proxy, downloads): (Proxy, Option<Downloads>),
        options: Options,
    ) -> Result<Arc<Self>> {
        let failed = |why| Error::from(halt(why, OPEN));
        let make = json!({
            "proxyServer": format!("http://127.0.0.1:{}", proxy.port),
            // Nothing goes past the proxy, not even what is on this machine.
            "proxyBypassList": "<-loopback>",
            "disposeOnDetach": true,
        });
        let made = engine.call("Target.createBrowserContext", make).await.map_err(failed)?;
        let id = made["browserContextId"].as_str().unwrap_or_default().to_owned();
        let routes = engine.routes.clone();
        let context = Self {
            engine,
            id: id.clone(),
            proxy,
            downloads,
            options,
            tabs: Mutex::default(),
            version: watch::channel(0).0,
            uploads: OnceLock::new(),
            uploaded: AtomicU64::new(0),
        };
        let context = Arc::new(context);
        routes.add(&id, &context);
        let downloads = match &context.downloads {
            // Files are called by an id of Chromium's, whatever a page calls them.
            Some(downloads) => json!({
                "behavior": "allowAndName", "browserContextId": id, "downloadPath": downloads.folder(), "eventsEnabled": true,
            }),
            None => json!({"behavior": "deny", "browserContextId": id}),
        };
        context.engine.call("Browser.setDownloadBehavior", downloads).await.map_err(failed)?;
        context.open("about:blank").await?;
        Ok(context)
    }

    /// Opens a tab, and waits until it is there.
    pub(crate) async fn open(&self, url: &str) -> Result<Arc<Tab>> {
        if self.tabs().len() >= TABS {
            return Err(Error::new(Kind::InvalidInput, format!("a browser has at most {TABS} tabs"))
                .hint("close one with `manage_tabs`"));
        }
        let open = json!({"url": url, "browserContextId": self.id});
        let made = self.engine.call("Target.createTarget", open).await;
        let made: Value = made.map_err(|why| Error::from(halt(why, OPEN)))?;
        let target = made["targetId"].as_str().unwrap_or_default();
        let mut version = self.version.subscribe();
        let found = tokio::time::timeout(OPEN, async {
            loop {
                version.mark_unchanged();
                if let Some(tab) = self.tabs().into_iter().find(|tab| tab.target == target) {
                    return Some(tab);
                }
                if self.engine.is_over() || version.changed().await.is_err() {
                    return None;
                }
            }
        });
        let tab = found.await.ok().flatten();
        let tab = tab.ok_or_else(|| Error::new(Kind::ConnectionFailed, "no tab could be opened"))?;
        tab.listening(OPEN).await?;
        Ok(tab)
    }

    /// A tab was opened, by us or by a page.
    pub(crate) fn opened(&self, devtools: &Devtools, session: &str, info: &Value) -> Option<Arc<Tab>> {
        let mut tabs = lock(&self.tabs);
        if tabs.list.len() >= TABS {
            // One that waits to be told how to be keeps the page that opened it waiting as well, and cannot close.
            devtools.tell(Some(session), "Runtime.runIfWaitingForDebugger", json!({}));
            devtools.tell(None, "Target.closeTarget", json!({"targetId": info["targetId"]}));
            return None;
        }
        tabs.next += 1;
        let tab = Tab::open(format!("t{}", tabs.next), devtools, (session, info), &self.options);
        tabs.list.push(tab.clone());
        if tabs.current.is_none() {
            tabs.current = Some(tab.id.clone());
        }
        drop(tabs);
        self.version.send_modify(|version| *version += 1);
        Some(tab)
    }

    /// A tab is gone.
    pub(crate) fn left(&self, tab: &Arc<Tab>) {
        let mut tabs = lock(&self.tabs);
        tabs.list.retain(|known| !Arc::ptr_eq(known, tab));
        if tabs.current.as_ref() == Some(&tab.id) {
            tabs.current = tabs.list.last().map(|tab| tab.id.clone());
        }
        drop(tabs);
        self.version.send_modify(|version| *version += 1);
    }

    /// All tabs, in the order in which they were opened.
    pub(crate) fn tabs(&self) -> Vec<Arc<Tab>> {
        lock(&self.tabs).list.clone()
    }

    /// The tab that calls are about.
    pub(crate) fn current(&self) -> Option<Arc<Tab>> {
        let tabs = lock(&self.tabs);
        tabs.list.iter().find(|tab| Some(&tab.id) == tabs.current.as_ref()).cloned()
    }

    /// Whether a frame is in one of its tabs.
    pub(crate) fn has_frame(&self, frame: &str) -> bool {
        self.tabs().iter().any(|tab| tab.target == frame || tab.state().frames.contains_key(frame))
    }

    /// Has calls be about another tab.
    pub(crate) fn select(&self, tab: &Tab) {
        lock(&self.tabs).current = Some(tab.id.clone());
    }

    /// Waits until a tab is gone.
    pub(crate) async fn until_gone(&self, tab: &Arc<Tab>) {
        let mut version = self.version.subscribe();
        let gone = async {
            loop {
                version.mark_unchanged();
                if !self.tabs().iter().any(|known| Arc::ptr_eq(known, tab))
                    || version.changed().await.is_err()
                {
                    return;
                }
            }
        };
        if tokio::time::timeout(OPEN, gone).await.is_err() {
            self.left(tab);
        }
    }

    /// The folder for its uploads, if there is room for so many bytes more.
    pub(crate) fn room_for(&self, bytes: u64) -> Result<&Path> {
        if !takes(&self.uploaded, bytes) {
            return Err(Error::new(Kind::InvalidInput, "this browser has uploaded too much")
                .hint("close it, and launch another one"));
        }
        if let Some(folder) = self.uploads.get() {
            return Ok(folder.path());
        }
        let folder = Scratch::new("toolgate-uploads").map_err(|error| {
            Error::new(Kind::Internal, "no folder can be made for uploads").because(error)
        })?;
        Ok(self.uploads.get_or_init(|| folder).path())
    }

    /// Whether there is nothing behind it any more.
    pub(crate) fn is_over(&self) -> bool {
        self.engine.is_over()
    }

    /// Closes it, with all its tabs, cookies and storage.
    pub(crate) async fn close(&self) {
        self.engine.routes.remove(&self.id);
        let dispose = json!({"browserContextId": self.id});
        if let Err(error) = self.engine.call("Target.disposeBrowserContext", dispose).await {
            tracing::debug!(%error, "a browser is closed by force");
            if !self.engine.is_over() && error != crate::devtools::Unanswered::Over {
                self.tabs().iter().for_each(|tab| tab.tell("Page.crash", json!({})));
            }
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.engine.routes.remove(&self.id);
        // One that is closed already is as it should be.
        self.engine.devtools.tell(None, "Target.disposeBrowserContext", json!({"browserContextId": self.id}));
    }
}

/// Counts so many bytes more, if there may be so many.
fn takes(uploaded: &AtomicU64, bytes: u64) -> bool {
    let more = |had: u64| had.checked_add(bytes).filter(|all| *all <= UPLOADS);
    uploaded.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_does_not_count() {
        let uploaded = AtomicU64::new(0);
        assert!(takes(&uploaded, UPLOADS - 1));
        assert!(!takes(&uploaded, 2) && !takes(&uploaded, u64::MAX));
        assert!(takes(&uploaded, 1) && !takes(&uploaded, 1));
    }
}
