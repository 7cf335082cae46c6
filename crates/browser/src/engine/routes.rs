//! Which page an event is about.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use serde_json::{Value, json};

use crate::devtools::{Devtools, Event};
use crate::instance::Context;
use crate::tab::Tab;

/// Where events go.
#[derive(Default)]
pub(crate) struct Routes {
    contexts: Mutex<HashMap<String, Weak<Context>>>,
    sessions: Mutex<HashMap<String, Arc<Tab>>>,
}

impl Routes {
    /// Has a context told of its pages.
    pub(crate) fn add(&self, id: &str, context: &Arc<Context>) {
        lock(&self.contexts).insert(id.to_owned(), Arc::downgrade(context));
    }

    /// A context is gone.
    pub(crate) fn remove(&self, id: &str) {
        lock(&self.contexts).remove(id);
    }

    /// The browser is gone.
    pub(crate) fn clear(&self) {
        lock(&self.contexts).clear();
        let tabs: Vec<_> = lock(&self.sessions).drain().map(|(_, tab)| tab).collect();
        tabs.iter().for_each(|tab| tab.closed());
    }

    /// An event of the browser.
    pub(super) fn heard(&self, devtools: &Devtools, event: &Event<'_>) {
        match (event.session, event.method) {
            (None, "Target.attachedToTarget") => self.attached(devtools, &event.params()),
            (None, "Target.detachedFromTarget") => self.detached(&event.params()),
            (None, "Browser.downloadWillBegin") => self.download_begins(devtools, &event.params()),
            (None, "Browser.downloadProgress") => self.download_goes_on(devtools, &event.params()),
            (None, _) => {}
            (Some(session), method) => {
                let Some(tab) = lock(&self.sessions).get(session).cloned() else { return };
                if method == "Target.attachedToTarget" {
                    let params = event.params();
                    if let Some(child) = tab.frame_attached(&params) {
                        lock(&self.sessions).insert(child, tab);
                    }
                } else if method == "Target.detachedFromTarget" {
                    let params = event.params();
                    let gone = text(&params, "sessionId");
                    lock(&self.sessions).remove(&gone);
                    tab.frame_left(&gone);
                } else {
                    tab.heard(session, event);
                }
            }
        }
    }

    fn attached(&self, devtools: &Devtools, params: &Value) {
        let (info, session) = (&params["targetInfo"], text(params, "sessionId"));
        let is_page = info["type"] == "page";
        let context = lock(&self.contexts).get(&text(info, "browserContextId")).and_then(Weak::upgrade);
        match context {
            Some(context) if is_page => {
                if let Some(tab) = context.opened(devtools, &session, info) {
                    lock(&self.sessions).insert(session, tab);
                }
            }
            // A worker that serves several pages.
            Some(context) => context.options.tell_worker(devtools, &session),
            // What nobody launched, such as the page that Chromium begins with.
            None => {
                devtools.tell(Some(&session), "Runtime.runIfWaitingForDebugger", json!({}));
                if is_page {
                    devtools.tell(None, "Target.detachFromTarget", json!({"sessionId": session}));
                }
            }
        }
    }

    fn download_begins(&self, devtools: &Devtools, params: &Value) {
        let (frame, id) = (text(params, "frameId"), text(params, "guid"));
        let mut contexts = self.all();
        let owner = contexts.iter().position(|context| context.has_frame(&frame));
        if let Some(owner) = owner.map(|at| contexts.swap_remove(at)) {
            let suggested = text(params, "suggestedFilename");
            let is_taken =
                owner.downloads.as_ref().is_some_and(|downloads| downloads.begins(&id, &suggested));
            if is_taken {
                return;
            }
            contexts = vec![owner];
        }
        // What nobody takes is not to fill the disk.
        contexts.iter().for_each(|context| stop_download(devtools, &context.id, &id));
    }

    fn download_goes_on(&self, devtools: &Devtools, params: &Value) {
        for context in self.all() {
            if context.downloads.as_ref().is_some_and(|downloads| downloads.goes_on(params)) {
                stop_download(devtools, &context.id, &text(params, "guid"));
            }
        }
    }

    fn all(&self) -> Vec<Arc<Context>> {
        lock(&self.contexts).values().filter_map(Weak::upgrade).collect()
    }

    fn detached(&self, params: &Value) {
        let tab = lock(&self.sessions).remove(&text(params, "sessionId"));
        let Some(tab) = tab else { return };
        tab.closed();
        self.all().iter().for_each(|context| context.left(&tab));
    }
}

fn stop_download(devtools: &Devtools, context: &str, id: &str) {
    devtools.tell(None, "Browser.cancelDownload", json!({"guid": id, "browserContextId": context}));
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
