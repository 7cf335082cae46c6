//! A tab: its page, what it said so far, and calls of it.

mod console;
mod frames;
mod halt;
mod library;
mod network;
mod point;
mod state;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::devtools::{Devtools, Event};

pub(crate) use console::{Level, Line};
pub(crate) use frames::Spot;
pub(crate) use halt::{Halt, halt};
pub(crate) use library::SETTLE;
pub(crate) use network::Request;
pub(crate) use state::{Dialog, Kept, State};

/// How a browser is to be.
#[derive(Debug, Clone, Default)]
pub(crate) struct Options {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) user_agent: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
}

impl Options {
    /// Has a page, a frame or a worker call itself and send what they say. Each has to be told, or it does neither.
    pub(crate) fn tell(&self, devtools: &Devtools, session: &str) {
        let tell = |method, params| devtools.tell(Some(session), method, params);
        if let Some(agent) = &self.user_agent {
            tell("Emulation.setUserAgentOverride", json!({"userAgent": agent}));
        }
        if !self.headers.is_empty() {
            let headers: serde_json::Map<String, Value> =
                self.headers.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
            tell("Network.setExtraHTTPHeaders", json!({"headers": headers}));
        }
    }

    /// The same, and lets a worker go on, which waits for that.
    pub(crate) fn tell_worker(&self, devtools: &Devtools, session: &str) {
        if !self.headers.is_empty() {
            // Otherwise it sends no headers of ours; nobody asks for what it received.
            let nothing = json!({"maxTotalBufferSize": 0, "maxResourceBufferSize": 0});
            devtools.tell(Some(session), "Network.enable", nothing);
        }
        self.tell(devtools, session);
        devtools.tell(Some(session), "Runtime.runIfWaitingForDebugger", json!({}));
    }
}

/// A tab of a browser.
pub(crate) struct Tab {
    /// What callers call it.
    pub(crate) id: String,
    pub(crate) target: String,
    pub(crate) session: String,
    devtools: Devtools,
    options: Options,
    state: Mutex<State>,
    /// Changes whenever the state does.
    version: watch::Sender<u64>,
}

impl Tab {
    /// A tab that was just opened; it waits until it is told how to be.
    pub(crate) fn open(
        id: String,
        devtools: &Devtools,
        (session, target): (&str, &Value),
        options: &Options,
    ) -> Arc<Self> {
        let key = target["targetId"].as_str().unwrap_or_default();
        let url = target["url"].as_str().unwrap_or_default();
        let tab = Self {
            id,
            target: key.to_owned(),
            session: session.to_owned(),
            devtools: devtools.clone(),
            options: options.clone(),
            state: Mutex::new(State::new(key, session, url)),
            version: watch::channel(0).0,
        };
        let Options { width, height, .. } = options;
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        tab.tell("Emulation.setDeviceMetricsOverride", size);
        // Otherwise only the tab in front believes that it is looked at.
        tab.tell("Emulation.setFocusEmulationEnabled", json!({"enabled": true}));
        tab.set_up(session);
        Arc::new(tab)
    }

    /// Has a page or a frame tell what it does, and lets it go on.
    fn set_up(&self, session: &str) {
        let tell = |method, params| self.devtools.tell(Some(session), method, params);
        tell("Page.enable", json!({}));
        tell("Page.setLifecycleEventsEnabled", json!({"enabled": true}));
        tell("Runtime.enable", json!({}));
        tell("Log.enable", json!({}));
        let kept = json!({"maxTotalBufferSize": 20_000_000, "maxResourceBufferSize": 5_000_000});
        tell("Network.enable", kept);
        let attach = json!({
            "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": [{"type": "iframe"}, {"type": "worker"}],
        });
        tell("Target.setAutoAttach", attach);
        self.options.tell(&self.devtools, session);
        tell("Runtime.runIfWaitingForDebugger", json!({}));
    }

    /// Waits until a new tab tells what it does: what happens before that would be missed.
    pub(crate) async fn listening(&self, limit: Duration) -> Result<(), Halt> {
        let told: Value = self.call(("Page.getFrameTree", json!({})), limit).await?;
        let url = told["frameTree"]["frame"]["url"].as_str().unwrap_or_default().to_owned();
        self.change(|state| state.begin(&url));
        Ok(())
    }

    /// A frame in a process of its own: the name that it speaks by, if it is one.
    pub(crate) fn frame_attached(&self, params: &Value) -> Option<String> {
        let session = params["sessionId"].as_str()?.to_owned();
        let info = &params["targetInfo"];
        if info["type"] != "iframe" {
            self.options.tell_worker(&self.devtools, &session);
            let script = info["url"].as_str().unwrap_or_default();
            self.change(|state| state.network.taken_over(script));
            return None;
        }
        self.change(|state| state.frame_in_process(&session, info));
        self.set_up(&session);
        Some(session)
    }

    /// A frame in a process of its own is gone.
    pub(crate) fn frame_left(&self, session: &str) {
        self.change(|state| state.session_gone(session));
    }

    /// The tab is gone.
    pub(crate) fn closed(&self) {
        self.change(|state| state.closed = true);
    }

    /// Something happened in it.
    pub(crate) fn heard(&self, session: &str, event: &Event<'_>) {
        if !State::cares(event.method) {
            return;
        }
        let params = event.params();
        if event.method == "Page.javascriptDialogOpening" && params["type"] == "beforeunload" {
            // Whoever leaves a page wants to leave it.
            self.devtools.tell(Some(session), "Page.handleJavaScriptDialog", json!({"accept": true}));
            return;
        }
        self.change(|state| state.apply(session, event.method, &params));
    }

    /// What is known of it.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.version.send_modify(|version| *version += 1);
    }

    /// Waits until the state is such that there is something to say, or the time is up.
    pub(crate) async fn until<T>(
        &self,
        limit: Instant,
        mut look: impl FnMut(&State) -> Option<T>,
    ) -> Option<T> {
        let mut version = self.version.subscribe();
        loop {
            version.mark_unchanged();
            if let Some(found) = look(&self.state()) {
                return Some(found);
            }
            if tokio::time::timeout_at(limit.into(), version.changed()).await.is_err() {
                return look(&self.state());
            }
        }
    }

    /// Calls a method of the page. A dialog that opens meanwhile ends the wait: nothing answers while it is open.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        call: (&'static str, Value),
        limit: Duration,
    ) -> Result<T, Halt> {
        self.call_in(&self.session, call, limit).await
    }

    /// The same, of one of its frames that has a process of its own.
    pub(crate) async fn call_in<T: DeserializeOwned>(
        &self,
        session: &str,
        call: (&'static str, Value),
        limit: Duration,
    ) -> Result<T, Halt> {
        let far = Instant::now() + limit + Duration::from_secs(1);
        tokio::select! {
            biased;
            answer = self.devtools.call(Some(session), call, limit) => answer.map_err(|why| halt(why, limit)),
            // A page that is gone does not answer either.
            Some(halt) = self.until(far, stopped) => Err(halt),
        }
    }

    /// Calls a method whose answer does not matter, whatever stands in the way.
    pub(crate) fn tell(&self, method: &'static str, params: Value) {
        self.tell_in(&self.session, method, params);
    }

    /// The same, of one of its frames that has a process of its own.
    pub(crate) fn tell_in(&self, session: &str, method: &'static str, params: Value) {
        self.devtools.tell(Some(session), method, params);
    }

    /// Lets an object of a page go, which is kept for us otherwise.
    pub(crate) fn release(&self, session: &str, object: &str) {
        self.tell_in(session, "Runtime.releaseObject", json!({"objectId": object}));
    }

    /// Answers a dialog.
    pub(crate) async fn answer_dialog(&self, accept: bool, text: Option<&str>) -> Result<(), Halt> {
        let limit = Duration::from_secs(10);
        let mut params = json!({"accept": accept});
        if let Some(text) = text {
            params["promptText"] = text.into();
        }
        let asked = self.state().dialog.as_ref().map(|dialog| (dialog.session.clone(), dialog.number));
        let (session, number) = asked.unwrap_or_else(|| (self.session.clone(), 0));
        let call = ("Page.handleJavaScriptDialog", params);
        let _: Value =
            self.devtools.call(Some(&session), call, limit).await.map_err(|why| halt(why, limit))?;
        // The page may have gone on to its next one.
        self.change(|state| state.dialog = state.dialog.take().filter(|dialog| dialog.number != number));
        Ok(())
    }
}

/// What keeps a page from answering.
fn stopped(state: &State) -> Option<Halt> {
    if state.closed {
        return Some(Halt::Closed);
    }
    if state.crashed {
        return Some(Halt::Crashed);
    }
    state.dialog.clone().map(Halt::Dialog)
}

#[cfg(test)]
mod tests;
