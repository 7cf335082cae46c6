//! What hub and commands share: the store, and what is kept in it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use toolgate_audit::Audit;
use toolgate_config::{env, process_environment};
use toolgate_core::{Approvals, Collection, Hub, Principal, SharedStore, Store as _};
use toolgate_host::{Clock, Secret, Tasks};
use toolgate_identity::token_opening;
use toolgate_packs::calendar::address_forms;
use toolgate_policy::pins::Pins;
use toolgate_secrets::{KeySource, MIN_VALUE, Opening, Redactor, Secrets, Snapshot};
use toolgate_store::{Database, Options};

use crate::settings::Settings;
use crate::upstreams::{Filling, sensitive, with_token};

/// The part that is in trouble when secrets cannot be read.
const SECRETS: &str = "secrets";

/// What hub and commands share. Clones are the same.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) database: Arc<Database>,
    pub(crate) secrets: Secrets,
    pub(crate) redactor: Redactor,
    pub(crate) approvals: Approvals,
    pub(crate) audit: Audit,
    pub(crate) pins: Pins,
    /// Whoever reads the secrets last also sets last what is hidden.
    hiding: Arc<tokio::sync::Mutex<()>>,
    /// What was last found too short to be hidden, by name.
    too_short: Arc<Mutex<BTreeSet<String>>>,
}

impl Parts {
    /// The parts as configured. Nothing is read or made yet.
    pub(crate) fn new(settings: &Settings, redactor: Redactor, tasks: &Tasks) -> anyhow::Result<Self> {
        let place = settings.store.place(&settings.data_dir)?;
        let database = toolgate_store::open(place, tasks, Options::default());
        let store: SharedStore = database.clone();
        let key = match process_environment().get(env::SECRET_KEY) {
            Some(key) => KeySource::Given(Secret::new(key.to_owned())),
            None => KeySource::in_data(&settings.data_dir),
        };
        let secrets = Secrets::new(store.clone(), key, Clock::system());
        let approvals = Approvals::new(store.clone(), Clock::system());
        let pins = Pins::new(store.clone(), settings.pins.clone(), Clock::system());
        let (data_dir, tasks) = (settings.data_dir.clone(), tasks.clone());
        let audit = toolgate_audit::Parts { data_dir, store, tasks, clock: Clock::system() };
        let audit = Audit::new(audit, settings.audit);
        let (hiding, too_short) = (Arc::default(), Arc::default());
        Ok(Self { database, secrets, redactor, approvals, audit, pins, hiding, too_short })
    }

    /// Hides every secret there is from now on, and tells them. Without this nothing may go out.
    pub(crate) async fn hide_secrets(&self, settings: &Settings) -> anyhow::Result<Snapshot> {
        self.hide_extra(settings).await?;
        if !self.database.exists() {
            return Ok(Snapshot::default());
        }
        self.load_secrets().await.context("the secrets cannot be read, so nothing may go out")
    }

    /// Hides what is secret in these settings without being kept as a secret. Where that fails nothing of them may be used;
    /// what was hidden before stays so.
    pub(crate) async fn hide_extra(&self, settings: &Settings) -> anyhow::Result<()> {
        let (redactor, extra) = (self.redactor.clone(), extra(settings));
        self.tell_too_short(tokio::task::spawn_blocking(move || redactor.set_extra(extra)).await??);
        Ok(())
    }

    /// Says of what new it cannot be hidden: under which name, never what it is.
    fn tell_too_short(&self, names: Vec<String>) {
        let names: BTreeSet<String> = names.into_iter().collect();
        let mut told = self.too_short.lock().unwrap_or_else(PoisonError::into_inner);
        let new: Vec<&str> = names.difference(&told).map(String::as_str).collect();
        if !new.is_empty() {
            tracing::warn!(
                "a value of fewer than {MIN_VALUE} bytes cannot be hidden where it turns up: `{}`",
                new.join("`, `")
            );
        }
        *told = names;
    }

    /// Hides secrets that are set, by whomever, while the hub runs, and tells them; `known` are those that are hidden
    /// already.
    pub(crate) fn follow_secrets(&self, hub: &Hub, known: Snapshot) -> watch::Receiver<Snapshot> {
        let (known, told) = watch::channel(known);
        let (parts, hub, mut changes) = (self.clone(), hub.clone(), self.database.changes());
        let tasks = hub.tasks().clone();
        tasks.spawn(tasks.stopping().run_until_cancelled_owned(async move {
            loop {
                match changes.recv().await {
                    Ok(Collection::Secrets | Collection::Grants | Collection::Tokens)
                    | Err(RecvError::Lagged(_)) => {}
                    Ok(_) => continue,
                    Err(RecvError::Closed) => return,
                }
                let trouble = match parts.load_secrets().await {
                    Ok(secrets) => {
                        // Lists may name a secret, so they are made anew; but not for nothing.
                        if !is_same(&secrets, &known.borrow()) {
                            hub.policy_changed();
                            known.send_replace(secrets);
                        }
                        None
                    }
                    Err(error) => {
                        tracing::warn!(
                            "secrets changed and cannot be read, the old ones stay hidden: {error:#}"
                        );
                        Some(format!("{error:#}"))
                    }
                };
                hub.set_trouble(SECRETS, trouble);
            }
        }));
        told
    }

    /// Keeps the definitions of other servers' tools under watch, where there are other servers.
    pub(crate) fn follow_pins(&self, hub: &Hub) {
        let (pins, hub) = (self.pins.clone(), hub.clone());
        let tasks = hub.tasks().clone();
        tasks.spawn(tasks.stopping().run_until_cancelled_owned(async move {
            let mut changes = hub.changes(&Principal::local());
            let watching = async {
                loop {
                    if pins.look(&hub.listings()).await {
                        hub.policy_changed();
                    }
                    if changes.next().await.is_none() {
                        return;
                    }
                }
            };
            tokio::join!(watching, pins.follow(|| hub.policy_changed()));
        }));
    }

    /// Hides what lets us in to other servers, as it is now.
    pub(crate) async fn hide_grants(&self) -> anyhow::Result<()> {
        self.load_secrets().await.map(drop)
    }

    async fn load_secrets(&self) -> anyhow::Result<Snapshot> {
        let _hiding = self.hiding.lock().await;
        let secrets = self.secrets.load().await?;
        let mut all: Vec<(String, Secret)> =
            secrets.iter().map(|(name, secret)| (name.to_string(), secret.clone())).collect();
        for (_, grant) in self.secrets.texts(Collection::Grants).await? {
            let parts = toolgate_upstream::secrets_in(&grant).into_iter();
            all.extend(parts.map(|secret| ("OAUTH_TOKEN".to_owned(), secret)));
        }
        // Of the tokens that we made only their hashes are kept, but each begins with its id.
        let tokens = self.database.list(Collection::Tokens).await?;
        let opening = |(text, rest)| ("TOKEN", Opening { text, rest });
        let openings: Vec<_> = tokens.iter().map(|token| opening(token_opening(&token.id))).collect();
        let redactor = self.redactor.clone();
        let hide = move || redactor.set_openings(openings).and_then(|_| redactor.set(all));
        self.tell_too_short(tokio::task::spawn_blocking(hide).await??);
        Ok(secrets)
    }
}

fn is_same(one: &Snapshot, other: &Snapshot) -> bool {
    let equal = |((name, secret), (other_name, other)): ((_, &Secret), (_, &Secret))| {
        name == other_name && secret.expose() == other.expose()
    };
    one.iter().count() == other.iter().count() && one.iter().zip(other.iter()).all(equal)
}

/// What is secret without being kept as a secret.
fn extra(settings: &Settings) -> Vec<(String, Secret)> {
    let secret = |name: &str, value: String| (name.to_owned(), Secret::new(value));
    let mut all = Vec::new();
    all.extend(settings.http.token.clone().map(|token| secret("HTTP_TOKEN", token)));
    all.extend(settings.store.url.as_deref().and_then(password).map(|word| secret("STORE_PASSWORD", word)));
    let server = settings.opencode.server_url.as_deref().and_then(password);
    all.extend(server.map(|word| secret("OPENCODE_PASSWORD", word)));
    let headers = settings.telemetry.headers.values().flat_map(|value| with_token(value));
    all.extend(headers.map(|value| secret("TELEMETRY_HEADER", value)));
    let environment = process_environment();
    for table in settings.mcp.values() {
        all.extend(sensitive(table, &environment).into_iter().map(|value| ("UPSTREAM".to_owned(), value)));
    }
    // What refers to a secret is hidden as that secret.
    let (vault, opencode) = (settings.vault.git.token.as_deref(), settings.opencode.password.as_deref());
    let tokens = settings.chat.tokens().chain(settings.github.token.as_deref()).chain(vault).chain(opencode);
    let none = Snapshot::default();
    let filling = Filling::new(&none, &environment);
    all.extend(
        tokens.filter_map(|text| filling.fill(text).ok()).map(|value| ("PACK_TOKEN".to_owned(), value)),
    );
    let feeds = settings.calendar.urls().filter_map(|text| filling.fill(text).ok());
    all.extend(feeds.flat_map(|url| address_forms(&url)).map(|form| ("CALENDAR".to_owned(), form)));
    all.extend(environment.get(env::SECRET_KEY).map(|key| secret("SECRET_KEY", key.to_owned())));
    // What is empty is no secret.
    all.retain(|(_, value)| !value.expose().trim().is_empty());
    all
}

/// The password in an address.
fn password(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let (user, _) = rest.split(['/', '?', '#']).next()?.rsplit_once('@')?;
    user.split_once(':').map(|(_, password)| password.to_owned())
}
