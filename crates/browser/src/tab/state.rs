//! What is known of a tab, from what it tells.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use super::console::{self, Line};
use super::network::Network;
use crate::ring::Ring;

/// How many lines of the console are kept.
const LINES: usize = 500;

/// A question that a page put to the person in front of it.
#[derive(Debug, Clone)]
pub(crate) struct Dialog {
    pub(crate) kind: String,
    pub(crate) message: String,
    /// What it offers as an answer, all of it.
    pub(crate) default: String,
    /// Which one it is of all that this page opened.
    pub(super) number: u64,
    pub(super) session: String,
}

/// A frame of a page.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    /// What it speaks by.
    pub(crate) session: String,
    pub(crate) parent: Option<String>,
    pub(crate) url: String,
}

/// The last snapshot that a caller saw, to compare the next one with.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) text: String,
    pub(crate) loader: String,
    /// What it showed: the whole, or a part in a mode.
    pub(crate) of: String,
}

/// What is known of a tab.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) main: String,
    pub(crate) url: String,
    /// Which document it shows, and how far that is.
    pub(crate) loader: String,
    reached: HashSet<String>,
    pub(crate) loading: bool,
    /// How often it moved within a document.
    pub(crate) moves: u64,
    pub(crate) closed: bool,
    pub(crate) crashed: bool,
    pub(crate) dialog: Option<Dialog>,
    dialogs: u64,
    pub(crate) frames: BTreeMap<String, Frame>,
    /// Where in a frame the library is.
    pub(super) worlds: HashMap<String, (String, i64)>,
    /// What refs in a frame begin with.
    pub(super) numbers: HashMap<String, u64>,
    /// The last ref that was given.
    pub(crate) last_ref: u64,
    pub(crate) snapshot: Option<Kept>,
    pub(crate) console: Ring<Line>,
    pub(crate) errors: u64,
    pub(crate) network: Network,
    /// What is being dragged, while drags are ours to carry out.
    pub(crate) dragged: Option<Value>,
}

impl State {
    pub(super) fn new(main: &str, session: &str, url: &str) -> Self {
        let frame = Frame { session: session.to_owned(), parent: None, url: url.to_owned() };
        Self {
            main: main.to_owned(),
            url: url.to_owned(),
            loader: String::new(),
            reached: HashSet::new(),
            loading: false,
            moves: 0,
            closed: false,
            crashed: false,
            dialog: None,
            dialogs: 0,
            frames: [(main.to_owned(), frame)].into(),
            worlds: HashMap::new(),
            numbers: HashMap::new(),
            last_ref: 0,
            snapshot: None,
            console: Ring::new(LINES),
            errors: 0,
            network: Network::default(),
            dragged: None,
        }
    }

    /// Whether an event may matter; one that cannot is not even read.
    pub(super) fn cares(method: &str) -> bool {
        matches!(
            method,
            "Page.frameAttached"
                | "Page.frameDetached"
                | "Page.frameNavigated"
                | "Page.navigatedWithinDocument"
                | "Page.frameStartedLoading"
                | "Page.frameStoppedLoading"
                | "Page.lifecycleEvent"
                | "Page.javascriptDialogOpening"
                | "Page.javascriptDialogClosed"
                | "Inspector.targetCrashed"
                | "Runtime.consoleAPICalled"
                | "Runtime.exceptionThrown"
                | "Log.entryAdded"
                | "Input.dragIntercepted"
        ) || method.starts_with("Network.")
    }

    pub(super) fn apply(&mut self, session: &str, method: &str, params: &Value) {
        match method {
            "Page.frameAttached" => {
                let frame = Frame {
                    session: session.to_owned(),
                    parent: params["parentFrameId"].as_str().map(Into::into),
                    url: String::new(),
                };
                self.frames.insert(text(params, "frameId"), frame);
            }
            // One that only moves to another process is told of again from there.
            "Page.frameDetached" if params["reason"] == "swap" => {}
            "Page.frameDetached" => self.frame_gone(&text(params, "frameId")),
            "Page.frameNavigated" => self.navigated(session, &params["frame"]),
            "Page.navigatedWithinDocument" => self.moved(params),
            "Page.frameStartedLoading" if self.is_main(params) => self.loading = true,
            "Page.frameStoppedLoading" if self.is_main(params) => self.loading = false,
            "Page.lifecycleEvent" if self.is_main(params) => {
                self.reach(&text(params, "loaderId"), text(params, "name"));
            }
            "Page.javascriptDialogOpening" => {
                self.dialogs += 1;
                self.dialog = Some(Dialog {
                    kind: text(params, "type"),
                    message: crate::text::brief(&text(params, "message"), 1000),
                    default: text(params, "defaultPrompt"),
                    number: self.dialogs,
                    session: session.to_owned(),
                });
            }
            "Page.javascriptDialogClosed" => self.dialog = None,
            "Inspector.targetCrashed" if session_of(self, session) => {
                self.crashed = true;
                self.network.only(None);
            }
            "Input.dragIntercepted" => self.dragged = Some(params["data"].clone()),
            _ if method.starts_with("Network.") => self.network.apply(session, method, params),
            _ => {
                if let Some(line) = console::line(method, params) {
                    self.errors += u64::from(line.level == super::Level::Error);
                    self.console.push(line);
                }
            }
        }
    }

    /// Where a new tab begins.
    pub(super) fn begin(&mut self, url: &str) {
        if self.url.is_empty() {
            url.clone_into(&mut self.url);
        }
    }

    /// Whether a document is as far as this.
    pub(crate) fn has_reached(&self, loader: &str, name: &str) -> bool {
        self.loader == loader && self.reached.contains(name)
    }

    pub(super) fn frame_in_process(&mut self, session: &str, info: &Value) {
        let id = text(info, "targetId");
        let parent = self.frames.get(&id).and_then(|frame| frame.parent.clone());
        let parent = parent.or_else(|| info["parentFrameId"].as_str().map(Into::into));
        self.worlds.remove(&id);
        let frame = Frame { session: session.to_owned(), parent, url: text(info, "url") };
        self.frames.insert(id, frame);
    }

    pub(super) fn session_gone(&mut self, session: &str) {
        self.frames.retain(|_, frame| frame.session != session);
        self.worlds.retain(|_, (of, _)| of != session);
        self.network.session_gone(session);
    }

    fn navigated(&mut self, session: &str, frame: &Value) {
        let id = text(frame, "id");
        self.worlds.remove(&id);
        let parent: Option<String> = frame["parentId"].as_str().map(Into::into);
        let url = format!("{}{}", text(frame, "url"), text(frame, "urlFragment"));
        if parent.is_none() && session_of(self, session) {
            self.main.clone_from(&id);
            self.url.clone_from(&url);
            self.crashed = false;
            self.dialog = None;
            self.frames.clear();
            self.worlds.clear();
            let loader = text(frame, "loaderId");
            // The request of a document is called as what loads it.
            self.network.only(Some(&loader));
            self.reach(&loader, "commit".into());
        }
        let known = self.frames.get(&id).and_then(|frame| frame.parent.clone());
        let frame = Frame { session: session.to_owned(), parent: parent.or(known), url };
        self.frames.insert(id, frame);
    }

    fn moved(&mut self, params: &Value) {
        let (id, url) = (text(params, "frameId"), text(params, "url"));
        if id == self.main {
            self.moves += 1;
            self.url.clone_from(&url);
        }
        if let Some(frame) = self.frames.get_mut(&id) {
            frame.url = url;
        }
    }

    fn frame_gone(&mut self, id: &str) {
        self.frames.remove(id);
        self.worlds.remove(id);
        let below: Vec<String> = self
            .frames
            .iter()
            .filter(|(_, frame)| frame.parent.as_deref() == Some(id))
            .map(|(id, _)| id.clone())
            .collect();
        below.iter().for_each(|id| self.frame_gone(id));
    }

    fn reach(&mut self, loader: &str, name: String) {
        if self.loader != loader {
            loader.clone_into(&mut self.loader);
            self.reached.clear();
        }
        self.reached.insert(name);
    }

    fn is_main(&self, params: &Value) -> bool {
        params["frameId"] == self.main.as_str()
    }
}

/// Whether this is what the page itself speaks by.
fn session_of(state: &State, session: &str) -> bool {
    state.frames.get(&state.main).is_none_or(|main| main.session == session)
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
