//! Puts the hub together from what is configured, and brings new settings into force.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast::error::RecvError;
use toolgate_admin::Admin;
use toolgate_core::{
    Collection, Hub, HubBuilder, PackSource, Reading, ServerInfo, Settings as HubSettings, Source, Store as _,
};
use toolgate_fixtures::Fixtures;
use toolgate_front::http::{Access, HttpConfig};
use toolgate_host::{Clock, Secret, Tasks};
use toolgate_identity::{Identity, IdentityConfig, Tokens};
use toolgate_policy::pins::{Pins, Standing};
use toolgate_policy::{Limits, RulesGate};
use toolgate_secrets::Snapshot;
use toolgate_telemetry::{Telemetry, TelemetryConfig};
use toolgate_wire::Raw;

use crate::admin::{self, AdminSources};
use crate::command::Process;
use crate::logging;
use crate::packs::{Lacking, Packs};
use crate::parts::Parts;
use crate::settings::{Reloaded, Reloader, Settings, Sources};
use crate::upstreams::{Grants, Kept, Upstreams};

/// What a model should know before it uses the tools.
const INSTRUCTIONS: &str = "Toolgate gives you tools of several sources under one policy. A call may be refused or \
    wait for a person; the answer then says what to do next.";

/// The part that is in trouble when settings cannot be read or brought into force.
const CONFIGURATION: &str = "configuration";

/// The part that is in trouble when a pack cannot be made of its table and the secrets.
const PACKS: &str = "packs";

/// How long a command waits for servers that are starting.
const SERVERS: Duration = Duration::from_secs(30);

/// A hub and the packs it was put together from.
pub(crate) struct Gate {
    pub(crate) hub: Hub,
    fixtures: Option<Arc<dyn Source>>,
    packs: Packs,
    upstreams: Upstreams,
    parts: Parts,
    pub(crate) rules: RulesGate,
    limits: Arc<Limits>,
    /// Those that are known.
    secrets: Snapshot,
    identity: Option<Identity>,
    tokens: Option<Tokens>,
    settings: Arc<Settings>,
    tasks: Tasks,
}

/// What is reached over HTTP, and can be set otherwise while it runs.
pub(crate) struct Outside {
    /// Who may speak to the server.
    pub(crate) access: Access,
    /// The admin page.
    pub(crate) admin: Option<Admin>,
}

impl Gate {
    /// What is held because it is not as it was.
    pub(crate) fn pins(&self) -> &Pins {
        &self.parts.pins
    }

    /// The hub with everything that is switched on.
    pub(crate) async fn new(settings: &Settings, fixtures: bool, process: &Process) -> anyhow::Result<Self> {
        let tasks = &process.tasks;
        let parts = Parts::new(settings, process.redactor.clone(), tasks)?;
        let secrets = parts.hide_secrets(settings).await?;
        let telemetry = telemetry(&settings.telemetry, &secrets, tasks)?;
        let rules = RulesGate::new(settings.rules()?);
        let limits = Arc::new(Limits::new(settings.limits(fixtures)?, Clock::system()));
        let raw = Raw::of(&serde_json::json!({
            "name": "toolgate",
            "title": "Toolgate",
            "version": env!("CARGO_PKG_VERSION"),
        }));
        let info = ServerInfo { raw, instructions: Some(INSTRUCTIONS.into()) };
        let fixtures = fixtures.then(|| Arc::new(PackSource::new(Fixtures::new())) as Arc<dyn Source>);
        let (mut packs, mut troubles) = (Packs::new(parts.database.clone(), tasks.clone()), Vec::new());
        packs.apply(settings, &secrets, &mut troubles);
        if let Some(error) = troubles.pop() {
            return Err(error);
        }
        let kept = Kept::new(parts.database.clone());
        let mut upstreams = Upstreams::new(kept, Grants::new(&parts, tasks), tasks.clone());
        upstreams.apply(settings, &secrets).await;
        let mut builder = Hub::builder(info, tasks.clone())
            .settings(hub_settings(settings))
            .filter(Box::new(parts.redactor.clone()))
            .gate(Box::new(rules.clone()))
            .gate(Box::new(parts.pins.gate()))
            .limiter(limits.clone())
            .recorder(Arc::new(parts.audit.clone()))
            .approvals(parts.approvals.clone())
            .results(parts.database.clone());
        builder = watched(builder, &parts, telemetry.as_ref());
        for profile in settings.profiles.keys() {
            builder = builder.profile(profile.as_str());
        }
        for source in sources(fixtures.as_ref(), &packs, &upstreams) {
            builder = builder.source(source);
        }
        let hub = builder.build()?;
        let (settings, tasks) = (Arc::new(settings.clone()), tasks.clone());
        Ok(Self {
            hub,
            fixtures,
            packs,
            upstreams,
            parts,
            rules,
            limits,
            secrets,
            identity: None,
            tokens: None,
            settings,
            tasks,
        })
    }

    /// Waits until servers are up and their tools compared with those that are known: who gives a command has nothing
    /// else to look at meanwhile.
    pub(crate) async fn wait_for_servers(&self) {
        if self.settings.mcp.is_empty() {
            return;
        }
        let list_time_limit = SERVERS;
        self.hub.set_settings(HubSettings { list_time_limit, ..hub_settings(&self.settings) });
        self.hub.all_tools().await;
    }

    /// The packs that are not there, and why.
    pub(crate) fn lacking(&self) -> &[Lacking] {
        self.packs.lacking()
    }

    /// Begins to know who brings which token.
    pub(crate) async fn identify(&mut self) -> anyhow::Result<Identity> {
        let tokens = Tokens::new(self.parts.database.clone(), Clock::system());
        let config = identity_config(&self.settings.http);
        let identity = Identity::start(Some(tokens.clone()), &config, Clock::system(), &self.tasks).await?;
        (self.identity, self.tokens) = (Some(identity.clone()), Some(tokens));
        Ok(identity)
    }

    /// What the admin page is put together from; none before principals are known.
    pub(crate) fn for_admin(&self, reloader: &Arc<Reloader>, sources: Sources) -> Option<AdminSources> {
        Some(AdminSources {
            hub: self.hub.clone(),
            parts: self.parts.clone(),
            rules: self.rules.clone(),
            tokens: self.tokens.clone()?,
            reloader: reloader.clone(),
            sources,
        })
    }

    /// A link by which the first account of the admin page is set up, where there is none.
    pub(crate) async fn first_link(&self, base: &str) -> Option<String> {
        admin::first_link(&self.parts, base).await
    }

    /// Brings into force what changes from now on, as far as that can be done while the hub runs.
    pub(crate) fn follow(mut self, reloader: &Reloader, outside: Option<Outside>) {
        let mut secrets = self.parts.follow_secrets(&self.hub, self.secrets.clone());
        self.parts.follow_pins(&self.hub);
        let mut reloaded = reloader.subscribe();
        let mut changes = self.parts.database.changes();
        let tasks = self.tasks.clone();
        tasks.spawn(tasks.stopping().run_until_cancelled_owned(async move {
            loop {
                tokio::select! {
                    Ok(()) = reloaded.changed() => {
                        let newest = reloaded.borrow_and_update().clone();
                        self.take(&newest, outside.as_ref()).await;
                    }
                    Ok(()) = secrets.changed() => {
                        self.secrets = secrets.borrow_and_update().clone();
                        let settings = self.settings.clone();
                        self.replace_sources(&settings).await;
                    }
                    changed = changes.recv() => match changed {
                        Ok(Collection::Switches) | Err(RecvError::Lagged(_)) => self.upstreams.switch().await,
                        Ok(_) => {}
                        Err(RecvError::Closed) => return,
                    },
                    else => return,
                }
            }
        }));
    }

    async fn take(&mut self, newest: &Reloaded, outside: Option<&Outside>) {
        let troubles: Vec<String> = match &newest.error {
            Some(error) => vec![error.to_string()],
            None => {
                let troubles = self.apply(&newest.settings, outside).await;
                troubles.iter().map(|error| format!("{error:#}")).collect()
            }
        };
        if newest.error.is_none() {
            for trouble in &troubles {
                tracing::warn!("the new configuration is not used as a whole: {trouble}");
            }
        }
        self.hub.set_trouble(CONFIGURATION, (!troubles.is_empty()).then(|| troubles.join("; ")));
    }

    /// Brings settings into force, each part by itself: one that cannot be leaves the others alone. But what is secret in
    /// them has to be hidden first: where it cannot be, all stays as it was.
    async fn apply(&mut self, new: &Arc<Settings>, outside: Option<&Outside>) -> Vec<anyhow::Error> {
        if let Err(error) = self.parts.hide_extra(new).await {
            return vec![
                error.context("nothing of it is used, because what is secret in it cannot be hidden"),
            ];
        }
        let mut troubles = Vec::new();
        logging::set_level(new.log.level);
        if let Some(identity) = &self.identity
            && let Err(error) = identity.set_config(&identity_config(&new.http))
        {
            troubles.push(error.into());
        }
        if let Some(outside) = outside {
            troubles.extend(outside.access.set(&new.http).err().map(Into::into));
            if let Some(admin) = &outside.admin {
                admin.set(&new.admin, &admin::reach(&new.http));
            }
        }
        if hub_settings(new) != hub_settings(&self.settings) {
            self.hub.set_settings(hub_settings(new));
        }
        self.parts.audit.configure(new.audit);
        if self.parts.pins.set(new.pins.clone()) {
            self.hub.policy_changed();
        }
        self.replace_policy(new, &mut troubles);
        self.replace_sources(new).await;
        self.settings = new.clone();
        troubles
    }

    /// Brings other rules into force; clients are told to look again.
    fn replace_policy(&mut self, new: &Settings, troubles: &mut Vec<anyhow::Error>) {
        match new.rules() {
            Ok(rules) if rules.version() != self.rules.current().version() => {
                self.rules.set(rules);
                self.hub.set_profiles(new.profiles.keys().map(|name| name.as_str().into()).collect());
                self.hub.policy_changed();
            }
            Ok(_) => {}
            Err(error) => troubles.push(error.into()),
        }
        match new.limits(self.fixtures.is_some()) {
            Ok(limits) => self.limits.set(limits),
            Err(error) => troubles.push(error.into()),
        }
    }

    /// Makes anew the sources that are set otherwise; the others go on with what they know.
    async fn replace_sources(&mut self, new: &Settings) {
        let mut troubles = Vec::new();
        let packs_changed = self.packs.apply(new, &self.secrets, &mut troubles);
        let troubles: Vec<String> = troubles.iter().map(|error| format!("{error:#}")).collect();
        for trouble in &troubles {
            tracing::warn!("a pack stays as it was: {trouble}");
        }
        self.hub.set_trouble(PACKS, (!troubles.is_empty()).then(|| troubles.join("; ")));
        if self.upstreams.apply(new, &self.secrets).await || packs_changed {
            self.hub.set_sources(sources(self.fixtures.as_ref(), &self.packs, &self.upstreams));
        }
    }
}

fn identity_config(http: &HttpConfig) -> IdentityConfig {
    let token = http.token.clone().map(Secret::new);
    IdentityConfig { token, public_url: http.public_url.clone(), oauth: http.oauth.clone() }
}

/// Traces, where a collector is configured. Its headers may refer to secrets.
fn telemetry(
    config: &TelemetryConfig,
    secrets: &Snapshot,
    tasks: &Tasks,
) -> anyhow::Result<Option<Telemetry>> {
    let mut config = config.clone();
    for value in config.headers.values_mut() {
        *value = toolgate_secrets::fill(value, secrets)?.expose().to_owned();
    }
    Ok(Telemetry::start(&config, env!("CARGO_PKG_VERSION"), tasks)?)
}

/// What others count and know, for the metrics and for whoever asks what is wrong.
fn watched(builder: HubBuilder, parts: &Parts, telemetry: Option<&Telemetry>) -> HubBuilder {
    let redactor = parts.redactor.clone();
    let audit = || parts.audit.clone();
    let (records, dropped, bytes, trouble) = (audit(), audit(), audit(), audit());
    let (held, warned) = (parts.pins.clone(), parts.pins.clone());
    let builder = builder
        .reading(Reading::Redactions, move || redactor.redactions())
        .reading(Reading::AuditRecords, move || records.state().head.map_or(0, |head| head.seq))
        .reading(Reading::AuditDropped, move || dropped.state().lost)
        .reading(Reading::AuditSpoolBytes, move || bytes.state().spooled_bytes)
        .reading(Reading::PinsHeld, move || held.count(Standing::Held))
        .reading(Reading::PinsWarned, move || warned.count(Standing::Warned))
        .trouble("audit", move || trouble.trouble());
    match telemetry {
        Some(telemetry) => builder
            .tracer(telemetry.tracer())
            .reading(Reading::SpansExported, telemetry.exported())
            .reading(Reading::SpansDropped, telemetry.dropped()),
        None => builder,
    }
}

fn hub_settings(settings: &Settings) -> HubSettings {
    let approvals = &settings.approvals;
    HubSettings {
        compact: settings.output.compact,
        search: settings.catalog.search(),
        output_limit: settings.output.limit.map(NonZeroUsize::get),
        ask_by: approvals.ways().into(),
        approval_wait: approvals.wait(),
        approval_ttl: approvals.expire(),
        ..HubSettings::default()
    }
}

fn sources(fixtures: Option<&Arc<dyn Source>>, packs: &Packs, upstreams: &Upstreams) -> Vec<Arc<dyn Source>> {
    fixtures.cloned().into_iter().chain(packs.sources()).chain(upstreams.sources()).collect()
}

#[cfg(test)]
mod tests;
