//! What tests stand on: upstreams of the fake server, a hub over them, and calls through it.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::Instant;
use toolgate_core::{Call, Client, Hub, ListKind, Principal, Target};
use toolgate_host::{Secret, Tasks};
use toolgate_testkit::{Driven, builder, call, drive};
use toolgate_upstream::{Definitions, Note, Plan, Report, Status, Surroundings, Upstream, UpstreamConfig};
use toolgate_wire::Raw;

/// How long a test waits for what should come at once. It only turns a hang into a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Longer than an answer may take, in seconds.
pub(crate) const BEYOND: u64 = 61;

/// One upstream behind a hub.
pub(crate) struct Rig {
    pub(crate) hub: Hub,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) place: Arc<TempDir>,
}

/// A table of the fake server that behaves so.
pub(crate) fn fake(behaviour: &str, place: &Path) -> Value {
    let program = std::env::current_exe().unwrap();
    let script =
        format!("exec 3>&1 1>/dev/null; exec {} --exact fake::server --nocapture", program.display());
    json!({
        "command": "/bin/sh",
        "args": ["-c", script],
        "env": {"FAKE_BEHAVIOUR": behaviour, "FAKE_PLACE": place},
        "probe_timeout": 60_000,
        "startup_timeout": 120_000,
        "timeout": 60_000,
    })
}

/// A table changed by another.
pub(crate) fn with(mut table: Value, more: Value) -> Value {
    for (key, value) in more.as_object().unwrap() {
        table[key] = value.clone();
    }
    table
}

pub(crate) fn plan(table: Value) -> Plan {
    let config: UpstreamConfig = serde_json::from_value(table).unwrap();
    Plan::new("fake", &config, |text| Ok(Secret::new(text.to_owned()))).unwrap()
}

pub(crate) fn surroundings() -> Surroundings {
    let variables: Vec<(OsString, OsString)> =
        [("PATH", "/usr/bin:/bin"), ("HOME", "/tmp"), ("TOOLGATE_TOKEN", "ours")]
            .map(|(name, value)| (name.into(), value.into()))
            .into();
    let (starts, client, watches) = Default::default();
    Surroundings { tasks: Tasks::new(), variables, starts, client, watches }
}

impl Rig {
    /// The fake server behind a hub.
    pub(crate) fn fake(behaviour: &str) -> Self {
        Self::shaped(behaviour, json!({}))
    }

    /// The same, with more in its table.
    pub(crate) fn shaped(behaviour: &str, more: Value) -> Self {
        let place = Arc::new(tempfile::tempdir().unwrap());
        let table = with(fake(behaviour, place.path()), more);
        Self::of(table, place, None)
    }

    pub(crate) fn of(table: Value, place: Arc<TempDir>, kept: Option<Definitions>) -> Self {
        let upstream = Arc::new(Upstream::start(plan(table), surroundings(), kept));
        let hub = builder([upstream.clone()]).build().unwrap();
        Self { hub, upstream, place }
    }

    /// Puts another upstream in the place of this one, as a changed table does.
    pub(crate) fn replace(&mut self, table: Value, kept: Option<Definitions>) {
        let around = Surroundings { watches: self.upstream.watches(), ..surroundings() };
        self.upstream = Arc::new(Upstream::start(plan(table), around, kept));
        self.hub.set_sources(vec![self.upstream.clone()]);
    }

    pub(crate) async fn names(&self, kind: ListKind) -> Vec<String> {
        self.settled().await;
        toolgate_testkit::list_names(&self.hub, kind).await
    }

    /// The list as it is written.
    pub(crate) async fn list(&self, kind: ListKind) -> Raw {
        self.settled().await;
        let principal = Principal::local();
        let look = toolgate_core::Look {
            principal: &principal,
            profile: None,
            version: toolgate_wire::Version::LATEST_LEGACY,
        };
        self.hub.list(&look, kind, None).await.unwrap()
    }

    /// Waits until the upstream has learned what there is, or failed to.
    pub(crate) async fn settled(&self) {
        let scope = toolgate_core::Scope { principal: Principal::local().id.clone() };
        let mut listing = toolgate_core::Source::listing(&*self.upstream, &scope);
        let settled = listing.wait_for(|listing| listing.pending == toolgate_core::Kinds::NONE);
        tokio::time::timeout(PATIENCE, settled).await.expect("it never settles").unwrap();
    }

    /// Calls a tool and answers its questions.
    pub(crate) async fn call(
        &self,
        client: Arc<Client>,
        tool: &str,
        arguments: Value,
        answer: Option<Value>,
    ) -> Driven {
        self.drive(call(client, tool, arguments), answer).await
    }

    /// Sends something else.
    pub(crate) async fn send(&self, client: Arc<Client>, target: Target, params: Value) -> Driven {
        self.drive(Call::new(Principal::local(), client, target, Raw::of(&params)), None).await
    }

    pub(crate) async fn drive(&self, call: Call, answer: Option<Value>) -> Driven {
        self.settled().await;
        let answers = answer.into_iter().map(|answer| ("question", answer));
        tokio::time::timeout(PATIENCE, drive(self.hub.start(call), answers)).await.expect("the call hangs")
    }

    /// Makes a call that is never answered: once the server has it, the time for an answer passes.
    pub(crate) async fn late(&self, call: Call, is_there: impl Fn(&Self) -> bool) -> Driven {
        self.settled().await;
        let run = self.hub.start(call);
        self.until("the server has the call", is_there).await;
        pass(BEYOND).await;
        tokio::time::timeout(PATIENCE, drive(run, [])).await.expect("the call hangs")
    }

    pub(crate) fn status(&self) -> Status {
        self.upstream.status()
    }

    /// How many times something happened in the fake server.
    pub(crate) fn count(&self, what: &str) -> usize {
        std::fs::read(self.place.path().join(what)).map_or(0, |marks| marks.len())
    }

    /// What the status notes, in words.
    pub(crate) fn notes(&self) -> Vec<&'static str> {
        let word = |note: Note| match note.what {
            Cow::Borrowed(word) => word,
            Cow::Owned(word) => panic!("made up: {word}"),
        };
        self.status().notes.into_iter().map(word).collect()
    }

    /// Waits until something is so.
    pub(crate) async fn until(&self, what: &str, so: impl Fn(&Self) -> bool) {
        let limit = Instant::now() + PATIENCE;
        while !so(self) {
            assert!(Instant::now() < limit, "never so: {what}; {:?}", self.status());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Lets time pass for all that waits for it.
pub(crate) async fn pass(seconds: u64) {
    // What was begun is to end first: servers that answer from this process need some turns of it for that.
    for _ in 0..50 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(seconds)).await;
    tokio::time::resume();
}

/// A trial of a table.
pub(crate) async fn trial(table: Value) -> Report {
    Upstream::test(plan(table), surroundings()).await
}

/// The first text of a result.
#[track_caller]
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {result}"))
}

/// Whether a process lives; one that only waits to be buried does not.
pub(crate) fn alive(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}
