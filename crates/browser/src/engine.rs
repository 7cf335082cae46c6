//! One Chromium for all: started when first needed, and ended with us.

mod routes;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio_util::sync::{CancellationToken, DropGuard};
use toolgate_core::{Error, Kind, Result};
use toolgate_host::Tasks;

use crate::BrowserConfig;
use crate::chromium::{INSTALL, Process, Start};
use crate::devtools::{Devtools, Unanswered};
use crate::text::brief;

pub(crate) use routes::Routes;

/// How long a Chromium may take to answer at all; it is slow on a busy machine.
const READY: Duration = Duration::from_secs(90);

/// How long it has to end by itself.
const GRACE: Duration = Duration::from_secs(5);

/// How long a call about the browser itself may take.
pub(crate) const PROMPT: Duration = Duration::from_secs(30);

/// A Chromium that runs. When nobody holds it any more, it ends.
pub(crate) struct Engine {
    pub(crate) devtools: Devtools,
    pub(crate) routes: Arc<Routes>,
    /// Its name and version.
    pub(crate) version: String,
    pub(crate) program: PathBuf,
    pub(crate) process_group: Option<u32>,
    stop: CancellationToken,
    _stops: DropGuard,
}

/// The last that it said.
type Said = Arc<Mutex<VecDeque<String>>>;

/// Why there is none.
struct Unwilling {
    error: Error,
    /// Whether it ended before it said anything.
    is_over: bool,
}

impl From<Error> for Unwilling {
    fn from(error: Error) -> Self {
        Self { error, is_over: false }
    }
}

impl Engine {
    /// Starts one, and waits until it answers.
    pub(crate) async fn start(
        program: PathBuf,
        config: &BrowserConfig,
        variables: &[(String, String)],
        (tasks, stop): (&Tasks, CancellationToken),
    ) -> Result<Arc<Self>> {
        let start = Start { program, config, variables };
        let mut started = Self::try_start(&start, (tasks, stop.clone())).await;
        // Chromium crashes now and then while it starts.
        if let Err(Unwilling { is_over: true, error }) = &started {
            tracing::warn!(%error, "the browser is started once more");
            started = Self::try_start(&start, (tasks, stop)).await;
        }
        started.map_err(|unwilling| unwilling.error)
    }

    async fn try_start(
        start: &Start<'_>,
        (tasks, stop): (&Tasks, CancellationToken),
    ) -> Result<Arc<Self>, Unwilling> {
        let (program, (process, pipes)) = (start.program.clone(), start.run().await?);
        let said = Said::default();
        tasks.spawn(keep(pipes.stderr, said.clone()));
        let routes = Arc::new(Routes::default());
        let heard = routes.clone();
        let devtools = Devtools::over((pipes.stdout, pipes.stdin), tasks, move |devtools, event| {
            heard.heard(devtools, &event);
        });
        let process_group = process.running.id();
        let version = match greet(&devtools).await {
            Ok(version) => version,
            Err(why) => {
                let is_over = why == Unanswered::Over;
                return Err(Unwilling { error: unwilling(&program, &said, why, process).await, is_over });
            }
        };
        let _stops = stop.clone().drop_guard();
        tasks.spawn(supervise(process, devtools.clone(), routes.clone(), stop.clone()));
        Ok(Arc::new(Self { devtools, routes, version, program, process_group, stop, _stops }))
    }

    /// Whether it has ended, or is about to.
    pub(crate) fn is_over(&self) -> bool {
        self.devtools.is_over() || self.stop.is_cancelled()
    }

    /// Calls a method of the browser itself.
    pub(crate) async fn call(&self, method: &'static str, params: Value) -> Result<Value, Unanswered> {
        self.devtools.call(None, (method, params), PROMPT).await
    }

    /// Ends it.
    pub(crate) fn end(&self) {
        self.stop.cancel();
    }
}

/// Waits until it answers, and has it tell of every page.
async fn greet(devtools: &Devtools) -> Result<String, Unanswered> {
    let version: Value = devtools.call(None, ("Browser.getVersion", json!({})), READY).await?;
    let kinds = json!([{"type": "page"}, {"type": "service_worker"}, {"type": "shared_worker"}]);
    let attach =
        json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": kinds});
    let _: Value = devtools.call(None, ("Target.setAutoAttach", attach), READY).await?;
    Ok(version["product"].as_str().unwrap_or("unknown").to_owned())
}

async fn unwilling(program: &std::path::Path, said: &Said, error: Unanswered, mut process: Process) -> Error {
    process.running.end(GRACE).await;
    let said = said.lock().unwrap_or_else(PoisonError::into_inner);
    let last = said.iter().rev().find(|line| line.contains("ERROR") || line.contains("FATAL"));
    let last =
        last.or(said.back()).map(|line| format!("; it said: {}", brief(line, 300))).unwrap_or_default();
    let words = format!("`{}` did not start as a browser{last}", program.display());
    let hint = if last.contains("sandbox") {
        "set `browser.sandbox` to false if this machine cannot keep pages in a sandbox"
    } else {
        INSTALL
    };
    Error::new(Kind::ConnectionFailed, words).hint(hint).because(error)
}

/// Sees a Chromium to its end, whatever that is, and clears up behind it.
async fn supervise(mut process: Process, devtools: Devtools, routes: Arc<Routes>, stop: CancellationToken) {
    let ended = devtools.ended();
    tokio::select! {
        status = process.running.wait() => tracing::warn!(?status, "the browser has ended"),
        () = ended.cancelled() => tracing::warn!("the browser does not speak any more"),
        () = stop.cancelled() => {
            devtools.tell(None, "Browser.close", json!({}));
            if tokio::time::timeout(GRACE, process.running.wait()).await.is_err() {
                tracing::debug!("the browser does not close, and is killed");
            }
        }
    }
    devtools.close();
    routes.clear();
    process.running.end(GRACE).await;
    // Removing a profile takes a moment, and must not hold up others.
    drop(tokio::task::spawn_blocking(move || drop(process)).await);
}

/// Keeps the last lines of what it says.
async fn keep(stream: impl AsyncRead + Unpin, said: Said) {
    let mut lines = BufReader::new(stream).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() >= 50 {
            said.pop_front();
        }
        said.push_back(String::from_utf8_lossy(&line[..line.len().min(1000)]).into_owned());
    }
}
