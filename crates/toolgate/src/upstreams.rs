//! The upstreams of a hub: started as configured, left alone while their tables stay the same, ended when they go.

mod fill;
mod grants;
mod keep;
mod misconfigured;

use std::collections::BTreeMap;
use std::sync::Arc;

use toolgate_config::{Environment, process_environment};
use toolgate_core::Source;
use toolgate_host::{Clock, Tasks};
use toolgate_secrets::Snapshot;
use toolgate_upstream::{
    Authorizer, BadConfig, Definitions, Plan, Report, Starts, Surroundings, Upstream, UpstreamConfig,
    Watches, WebClient,
};

pub(crate) use fill::{Filling, sensitive, stand_in, with_token};
pub(crate) use grants::Grants;
pub(crate) use keep::Kept;
use misconfigured::Misconfigured;

use crate::above::Above;
use crate::settings::Settings;

/// The upstreams of a hub, by name.
pub(crate) struct Upstreams {
    running: BTreeMap<String, Entry>,
    kept: Kept,
    grants: Arc<Grants>,
    environment: Environment,
    /// How many of their programs start at once.
    starts: Starts,
    client: WebClient,
    tasks: Tasks,
}

/// An upstream, and what it was made of.
struct Entry {
    table: UpstreamConfig,
    timeout: Option<u64>,
    /// What was filled in, so that a changed secret is noticed.
    filled: Vec<u8>,
    what: What,
}

enum What {
    Upstream(Arc<Upstream>),
    /// It cannot even be tried.
    Misconfigured(Arc<Misconfigured>),
}

/// What is known of a server from before.
struct Known {
    definitions: Option<Definitions>,
    switched: Option<bool>,
    watches: Watches,
}

impl Entry {
    fn source(&self) -> Arc<dyn Source> {
        match &self.what {
            What::Upstream(upstream) => upstream.clone(),
            What::Misconfigured(misconfigured) => misconfigured.clone(),
        }
    }

    fn watches(&self) -> Watches {
        match &self.what {
            What::Upstream(upstream) => upstream.watches(),
            What::Misconfigured(misconfigured) => misconfigured.watches.clone(),
        }
    }
}

impl Upstreams {
    /// None yet.
    pub(crate) fn new(kept: Kept, grants: Arc<Grants>, tasks: Tasks) -> Self {
        Self {
            running: BTreeMap::new(),
            kept,
            grants,
            environment: process_environment(),
            starts: Starts::default(),
            client: WebClient::default(),
            tasks,
        }
    }

    /// Starts what is new or different, ends what is gone, and tells whether anything was. Nothing is waited for.
    pub(crate) async fn apply(&mut self, settings: &Settings, secrets: &Snapshot) -> bool {
        let timeout = settings.experimental.mcp_timeout;
        let mut before = std::mem::take(&mut self.running);
        let mut wanted = Vec::new();
        if !settings.mcp.is_empty()
            && let Some(why) = Above::of(&self.environment).forbids_servers(settings)
        {
            tracing::info!("no server is started: {why}");
            let changed = !before.is_empty();
            self.end(before);
            return changed;
        }
        for (name, table) in &settings.mcp {
            let (plan, filled) = plan(name, table, Some(settings), secrets, &self.environment);
            let old = before.remove(name);
            // What clients watch goes on, whatever its table says now.
            let watches = old.as_ref().map(Entry::watches).unwrap_or_default();
            let same = old
                .filter(|entry| entry.table == *table && entry.timeout == timeout && entry.filled == filled);
            match same {
                Some(entry) => drop(self.running.insert(name.clone(), entry)),
                None => wanted.push((name, table, plan, filled, watches)),
            }
        }
        let changed = !wanted.is_empty() || !before.is_empty();
        self.end(before);
        if wanted.is_empty() {
            return changed;
        }
        let (mut definitions, switches) = (self.kept.definitions().await, self.kept.switches().await);
        for (name, table, plan, filled, watches) in wanted {
            let known = Known {
                definitions: definitions.remove(name),
                switched: switches.get(name).copied(),
                watches,
            };
            let what = self.start(name, plan, known);
            let entry = Entry { table: table.clone(), timeout, filled, what };
            self.running.insert(name.clone(), entry);
        }
        changed
    }

    /// Switches upstreams on or off as the store says.
    pub(crate) async fn switch(&self) {
        let switches = self.kept.switches().await;
        for (name, entry) in &self.running {
            if let What::Upstream(upstream) = &entry.what {
                upstream.set_enabled(switches.get(name).copied().unwrap_or(entry.table.enabled));
            }
        }
    }

    /// All of them as sources, in order.
    pub(crate) fn sources(&self) -> Vec<Arc<dyn Source>> {
        self.running.values().map(Entry::source).collect()
    }

    fn start(&self, name: &str, plan: Result<Plan, BadConfig>, known: Known) -> What {
        let mut plan = match plan {
            Ok(plan) => plan,
            Err(error) => {
                tracing::warn!(upstream = name, "it cannot be used: {error}");
                return What::Misconfigured(Arc::new(Misconfigured::new(name, &error, known.watches)));
            }
        };
        if let Some(on) = known.switched {
            plan.switch(on);
        }
        let surroundings = Surroundings {
            starts: self.starts.clone(),
            client: self.client.clone(),
            watches: known.watches,
            ..surroundings(&self.environment, &self.tasks)
        };
        plan.authorize(self.grants.clone(), &surroundings, Clock::system());
        let upstream = Arc::new(Upstream::start(plan, surroundings, known.definitions));
        self.kept.keep(name, upstream.learned(), &self.tasks);
        What::Upstream(upstream)
    }

    /// Calls under way get the time for an answer to end; nobody waits for it.
    fn end(&self, gone: BTreeMap<String, Entry>) {
        for entry in gone.into_values() {
            if let What::Upstream(upstream) = entry.what {
                self.tasks.spawn(async move { upstream.retire().await });
            }
        }
    }
}

/// Tries a server as its table says, and tells how that went.
pub(crate) async fn try_out(
    name: &str,
    table: &UpstreamConfig,
    settings: &Settings,
    secrets: &Snapshot,
    grants: &Arc<Grants>,
    tasks: &Tasks,
) -> Report {
    let environment = process_environment();
    match plan(name, table, Some(settings), secrets, &environment).0 {
        Ok(mut plan) => {
            let surroundings = surroundings(&environment, tasks);
            plan.authorize(grants.clone(), &surroundings, Clock::system());
            Upstream::test(plan, surroundings).await
        }
        Err(error) => Report { status: misconfigured::status(name, &error), definitions: None },
    }
}

/// What signs us in to a server as its table says; none where we do not sign in.
///
/// # Errors
/// The table cannot be used.
pub(crate) fn authorizer(
    name: &str,
    table: &UpstreamConfig,
    secrets: &Snapshot,
    grants: &Arc<Grants>,
    tasks: &Tasks,
) -> Result<Option<Arc<Authorizer>>, BadConfig> {
    let environment = process_environment();
    let mut plan = plan(name, table, None, secrets, &environment).0?;
    let surroundings = surroundings(&environment, tasks);
    Ok(plan.authorize(grants.clone(), &surroundings, Clock::system()))
}

fn surroundings(environment: &Environment, tasks: &Tasks) -> Surroundings {
    let (starts, client, watches) = Default::default();
    Surroundings { tasks: tasks.clone(), variables: environment.variables(), starts, client, watches }
}

/// What a table means to a hub with these settings, and a digest of what was filled in.
fn plan(
    name: &str,
    table: &UpstreamConfig,
    settings: Option<&Settings>,
    secrets: &Snapshot,
    environment: &Environment,
) -> (Result<Plan, BadConfig>, Vec<u8>) {
    let filling = Filling::new(secrets, environment);
    let mut table = table.clone();
    if let Some(settings) = settings {
        table.timeout = table.timeout.or(settings.experimental.mcp_timeout);
        Above::of(environment).tell(settings, &mut table);
    }
    (Plan::new(name, &table, |text| filling.fill(text)), filling.digest())
}
