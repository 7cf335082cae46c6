//! Settings that are read again when a file changes, or on SIGHUP.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch::{Receiver, Sender};
use toolgate_host::{FileWatch, Tasks};

use super::change::Change;
use super::{Settings, Sources};
use crate::cli::Cli;

/// How long a file has to rest before it is read: editors write in several steps.
const DEBOUNCE: Duration = Duration::from_millis(300);

/// The settings as they now are.
#[derive(Clone)]
pub(crate) struct Reloaded {
    /// The newest that could be read.
    pub(crate) settings: Arc<Settings>,
    /// The keys that they changed, those that can change while the program runs.
    pub(crate) changed: Vec<String>,
    /// The keys whose new values wait for a restart.
    pub(crate) restart: Vec<String>,
    /// Why something still newer could not be read: file, line, column and what to write instead.
    pub(crate) error: Option<Arc<str>>,
}

/// Reads the settings again when a file changes that counts or would count, and on SIGHUP. What cannot be read
/// changes nothing but `error`.
pub(crate) fn watch(cli: &Cli, settings: Settings, tasks: &Tasks) -> anyhow::Result<Arc<Reloader>> {
    let hangup = signal(SignalKind::hangup()).context("SIGHUP cannot be listened to")?;
    let files = FileWatch::new(&settings.looked_for, DEBOUNCE);
    let settings = Arc::new(settings);
    let first =
        Reloaded { settings: settings.clone(), changed: Vec::new(), restart: Vec::new(), error: None };
    let reloader = Reloader {
        sources: Sources::of(cli)?,
        started: settings,
        newest: Sender::new(first),
        one_at_a_time: Mutex::default(),
    };
    let reloader = Arc::new(reloader);
    tasks.spawn(tasks.stopping().run_until_cancelled_owned(run(reloader.clone(), hangup, files)));
    Ok(reloader)
}

async fn run(reloader: Arc<Reloader>, mut hangup: Signal, mut files: FileWatch) {
    // A file may have changed between the first reading and the watching.
    reloader.reload(false);
    loop {
        let asked = tokio::select! {
            _ = hangup.recv() => true,
            _ = files.next() => false,
        };
        reloader.reload(asked);
        files.watch(&reloader.newest().settings.looked_for);
    }
}

/// Reads the settings again, and tells who wants to know.
pub(crate) struct Reloader {
    sources: Sources,
    /// The settings that the program was started with.
    started: Arc<Settings>,
    newest: Sender<Reloaded>,
    one_at_a_time: Mutex<()>,
}

impl Reloader {
    /// The settings as they now are.
    pub(crate) fn newest(&self) -> Reloaded {
        self.newest.borrow().clone()
    }

    /// Every time the settings change, or cannot be read.
    pub(crate) fn subscribe(&self) -> Receiver<Reloaded> {
        self.newest.subscribe()
    }

    /// Reads the settings now; says what changed, or why they cannot be read.
    pub(crate) fn now(&self) -> Result<String, String> {
        self.reload(true);
        let Reloaded { changed, restart, error, .. } = self.newest();
        if let Some(error) = error {
            return Err(error.to_string());
        }
        let changed = if changed.is_empty() { "nothing changed".to_owned() } else { changed.join(", ") };
        let restart = restart.join(", ");
        Ok(if restart.is_empty() { changed } else { format!("{changed}; a restart is needed for {restart}") })
    }

    /// Reads the settings; `asked` says that somebody waits for an answer.
    fn reload(&self, asked: bool) {
        let _alone = self.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.newest();
        match self.sources.load() {
            Ok(loaded) => self.accept(&before, loaded.settings, asked),
            Err(error) => self.refuse(before, &error.to_string(), asked),
        }
    }

    fn accept(&self, before: &Reloaded, settings: Settings, asked: bool) {
        for warning in settings.warnings.iter().filter(|warning| !before.settings.warnings.contains(warning))
        {
            tracing::warn!("{warning}");
        }
        let changed = Change::between(&before.settings, &settings).live;
        let restart = Change::between(&self.started, &settings).restart;
        if !changed.is_empty() {
            // Names only: among the values are secrets.
            tracing::info!("the configuration changed: {}", changed.join(", "));
        }
        if !restart.is_empty() && restart != before.restart {
            tracing::warn!("the configuration changed, and needs a restart for: {}", restart.join(", "));
        }
        let is_same = *before.settings == settings;
        if is_same && (asked || before.error.is_some()) {
            tracing::info!("the configuration was read again, and nothing changed");
        }
        if asked || !is_same || before.error.is_some() {
            let settings = if is_same { before.settings.clone() } else { Arc::new(settings) };
            self.newest.send_replace(Reloaded { settings, changed, restart, error: None });
        }
    }

    fn refuse(&self, before: Reloaded, error: &str, asked: bool) {
        let is_known = before.error.as_deref() == Some(error);
        if asked || !is_known {
            tracing::warn!("the new configuration is not used, the old one stays in force: {error}");
        }
        if !is_known {
            self.newest.send_replace(Reloaded { changed: Vec::new(), error: Some(error.into()), ..before });
        }
    }
}
