//! One real Chromium for the whole run of the tests: it is slow to start.

use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_browser::{Browser, BrowserConfig, Surroundings};
use toolgate_core::{Call, Error, Hub, Outcome, PackSource, Principal, Target};
use toolgate_host::Tasks;
use toolgate_host::outbound::Lookup;
use toolgate_testkit::{Driven, client_legacy, drive, hub};
use toolgate_wire::Raw;

use crate::site::Site;

/// How long anything may take here; the machine may be very busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(240);

/// The one Chromium, and the site that its browsers look at.
pub(crate) static STAGE: LazyLock<Stage> = LazyLock::new(Stage::new);

pub(crate) struct Stage {
    runtime: tokio::runtime::Runtime,
    pub(crate) site: Site,
    hub: Hub,
    pub(crate) tasks: Tasks,
    folder: tempfile::TempDir,
}

/// A caller with a browser of its own.
pub(crate) struct Seat {
    hub: Hub,
    who: Arc<Principal>,
    pub(crate) id: String,
}

impl Stage {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let (tasks, folder) = (Tasks::new(), tempfile::tempdir().unwrap());
        std::fs::create_dir_all(folder.path().join("workspace")).unwrap();
        let config = BrowserConfig { max_browsers: 100, max_per_principal: 100, ..config() };
        let (hub, site) = {
            let _inside = runtime.enter();
            (made(config, folder.path(), &tasks), runtime.block_on(Site::serve(&tasks)))
        };
        Self { runtime, site, hub, tasks, folder }
    }

    /// Runs a test, within limits.
    pub(crate) fn run<T>(&self, test: impl Future<Output = T>) -> T {
        self.runtime
            .block_on(async { tokio::time::timeout(PATIENCE, test).await.expect("the test takes too long") })
    }

    /// A caller of this name, with a browser.
    pub(crate) async fn seat(&self, name: &str) -> Seat {
        Seat::take(&self.hub, name, json!({})).await
    }

    /// The same, with a browser that is launched as it says.
    pub(crate) async fn seat_with(&self, name: &str, launch: Value) -> Seat {
        Seat::take(&self.hub, name, launch).await
    }

    /// A caller that has no browser.
    pub(crate) fn caller(&self, name: &str) -> Seat {
        Seat { hub: self.hub.clone(), who: Principal::named(name), id: String::new() }
    }

    /// The workspace that files are uploaded from.
    pub(crate) fn workspace(&self) -> std::path::PathBuf {
        self.folder.path().join("workspace")
    }

    /// Another pack with a configuration of its own.
    pub(crate) fn other(&self, config: BrowserConfig) -> (Hub, Tasks) {
        let tasks = self.tasks.child();
        let _inside = self.runtime.enter();
        (made(config, self.folder.path(), &tasks), tasks)
    }

    /// The same, where names lead elsewhere.
    pub(crate) fn named(&self, config: BrowserConfig, lookup: Arc<dyn Lookup>) -> (Hub, Tasks) {
        let tasks = self.tasks.child();
        let _inside = self.runtime.enter();
        let around = Surroundings { lookup, ..around(self.folder.path()) };
        (hub([Arc::new(PackSource::new(Browser::new(config, around, &tasks)))]), tasks)
    }
}

/// What tests need: this machine can be reached.
pub(crate) fn config() -> BrowserConfig {
    let allowed = ["127.0.0.1", "localhost"].map(|text| text.to_owned().try_into().unwrap());
    BrowserConfig { allowed_domains: allowed.into(), ..BrowserConfig::default() }
}

fn made(config: BrowserConfig, folder: &Path, tasks: &Tasks) -> Hub {
    hub([Arc::new(PackSource::new(Browser::new(config, around(folder), tasks)))])
}

fn around(folder: &Path) -> Surroundings {
    let variables = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
    Surroundings::new(variables, folder.join("data"), folder.join("workspace"))
}

impl Seat {
    /// A caller with a browser, at a hub.
    pub(crate) async fn take(hub: &Hub, name: &str, launch: Value) -> Self {
        let mut seat = Self { hub: hub.clone(), who: Principal::named(name), id: String::new() };
        let launched = seat.data("launch_browser", launch).await;
        seat.id = launched["browserId"].as_str().unwrap().to_owned();
        seat
    }

    /// A caller without a browser, at a hub.
    pub(crate) fn at(hub: &Hub, name: &str) -> Self {
        Self { hub: hub.clone(), who: Principal::named(name), id: String::new() }
    }

    /// Calls a tool, to whatever end.
    pub(crate) async fn drive(&self, tool: &str, arguments: Value) -> Driven {
        let params = Raw::of(&json!({"name": tool, "arguments": arguments}));
        let call = Call::new(self.who.clone(), client_legacy(), Target::Tool(tool.parse().unwrap()), params);
        drive(self.hub.start(call), []).await
    }

    /// The result of a call that has to go well.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        match self.drive(tool, arguments.clone()).await.outcome {
            Outcome::Complete(raw) => raw.to::<Value>().unwrap(),
            Outcome::Failed(error) => {
                panic!("{tool} {arguments}: {error} {:?}", std::error::Error::source(&error))
            }
            other => panic!("{tool} {arguments}: {other:?}"),
        }
    }

    /// The data of a call that has to go well.
    pub(crate) async fn data(&self, tool: &str, arguments: Value) -> Value {
        self.call(tool, arguments).await["structuredContent"].clone()
    }

    /// The text of a call that has to go well.
    pub(crate) async fn text(&self, tool: &str, arguments: Value) -> String {
        self.call(tool, arguments).await["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// The error of a call that has to fail.
    pub(crate) async fn fails(&self, tool: &str, arguments: Value) -> Error {
        match self.drive(tool, arguments.clone()).await.outcome {
            Outcome::Failed(error) => error,
            other => panic!("{tool} {arguments} did not fail: {other:?}"),
        }
    }

    /// Goes to a page.
    pub(crate) async fn go(&self, url: &str) -> Value {
        self.data("navigate_to_url", json!({"url": url, "timeout": 120_000})).await
    }

    /// What the page shows.
    pub(crate) async fn see(&self) -> String {
        self.text("get_page_snapshot", json!({})).await
    }

    /// The value of an expression in the page.
    pub(crate) async fn value(&self, expression: &str) -> Value {
        let told =
            self.data("evaluate_expression", json!({"expression": expression, "timeout": 60_000})).await;
        serde_json::from_str(told["value"].as_str().unwrap()).unwrap()
    }

    /// Reads a resource.
    pub(crate) async fn read(&self, uri: &str) -> Outcome {
        let params = Raw::of(&json!({"uri": uri}));
        let call = Call::new(self.who.clone(), client_legacy(), Target::Resource(uri.into()), params);
        drive(self.hub.start(call), []).await.outcome
    }
}

/// The ref of the first mark in a snapshot that begins like this, such as `button "Send"`.
#[track_caller]
pub(crate) fn ref_of(snapshot: &str, mark: &str) -> String {
    let at = snapshot.find(&format!("[{mark}")).unwrap_or_else(|| panic!("no [{mark} in {snapshot}"));
    let rest = &snapshot[at + 1 + mark.len()..];
    rest.trim_start().split([' ', ']']).next().unwrap().to_owned()
}
