//! Puts the hub together from what is configured, and brings new settings into force.

use std::sync::Arc;

use toolgate_core::{Hub, PackSource, ServerInfo, Settings as HubSettings, Source};
use toolgate_fixtures::Fixtures;
use toolgate_front::http::Access;
use toolgate_host::Tasks;
use toolgate_packs::{Memory, Workspace};
use toolgate_wire::Raw;

use crate::logging;
use crate::settings::{PackName, Reloaded, Reloader, Settings};

/// What a model should know before it uses the tools.
const INSTRUCTIONS: &str = "Toolgate gives you tools of several sources under one policy. A call may be refused or \
    wait for a person; the answer then says what to do next.";

/// The part that is in trouble when settings cannot be read or brought into force.
const CONFIGURATION: &str = "configuration";

/// A hub and the packs it was put together from.
pub(crate) struct Gate {
    pub(crate) hub: Hub,
    fixtures: Option<Arc<dyn Source>>,
    packs: Vec<(PackName, Arc<dyn Source>)>,
    settings: Arc<Settings>,
    tasks: Tasks,
}

impl Gate {
    /// The hub with everything that is switched on.
    pub(crate) fn new(settings: &Settings, fixtures: bool, tasks: &Tasks) -> anyhow::Result<Self> {
        let raw = Raw::of(&serde_json::json!({
            "name": "toolgate",
            "title": "Toolgate",
            "version": env!("CARGO_PKG_VERSION"),
        }));
        let info = ServerInfo { raw, instructions: Some(INSTRUCTIONS.into()) };
        let fixtures = fixtures.then(|| Arc::new(PackSource::new(Fixtures::new())) as Arc<dyn Source>);
        let packs: anyhow::Result<Vec<_>> =
            settings.packs.iter().map(|pack| Ok((*pack, source(*pack, settings, tasks)?))).collect();
        let packs = packs?;
        let mut builder = Hub::builder(info, tasks.clone()).settings(hub_settings(settings));
        for source in sources(fixtures.as_ref(), &packs) {
            builder = builder.source(source);
        }
        let hub = builder.build()?;
        Ok(Self { hub, fixtures, packs, settings: Arc::new(settings.clone()), tasks: tasks.clone() })
    }

    /// Brings into force what changes from now on, as far as that can be done while the hub runs.
    pub(crate) fn follow(mut self, reloader: &Reloader, access: Option<Access>) {
        let mut reloaded = reloader.subscribe();
        let tasks = self.tasks.clone();
        tasks.spawn(tasks.stopping().run_until_cancelled_owned(async move {
            while reloaded.changed().await.is_ok() {
                let newest = reloaded.borrow_and_update().clone();
                self.take(&newest, access.as_ref());
            }
        }));
    }

    fn take(&mut self, newest: &Reloaded, access: Option<&Access>) {
        let troubles: Vec<String> = match &newest.error {
            Some(error) => vec![error.to_string()],
            None => self.apply(&newest.settings, access).iter().map(|error| format!("{error:#}")).collect(),
        };
        if newest.error.is_none() {
            for trouble in &troubles {
                tracing::warn!("the new configuration is not used as a whole: {trouble}");
            }
        }
        self.hub.set_trouble(CONFIGURATION, (!troubles.is_empty()).then(|| troubles.join("; ")));
    }

    /// Brings settings into force, each part by itself: one that cannot be leaves the others alone.
    fn apply(&mut self, new: &Arc<Settings>, access: Option<&Access>) -> Vec<anyhow::Error> {
        let mut troubles = Vec::new();
        logging::set_level(new.log.level);
        if let Some(access) = access
            && let Err(error) = access.set(&new.http)
        {
            troubles.push(error.into());
        }
        if new.output != self.settings.output {
            self.hub.set_settings(hub_settings(new));
        }
        self.replace_packs(new, &mut troubles);
        self.settings = new.clone();
        troubles
    }

    /// Makes anew the packs that are set otherwise; the others go on with what they know.
    fn replace_packs(&mut self, new: &Settings, troubles: &mut Vec<anyhow::Error>) {
        let is_same = |pack: PackName| match pack {
            PackName::Workspace => new.workspace == self.settings.workspace,
            PackName::Memory => new.memory == self.settings.memory,
        };
        let mut packs = Vec::new();
        for pack in &new.packs {
            let old = self.packs.iter().find(|(name, _)| name == pack).map(|(_, source)| source.clone());
            let source = match old {
                Some(old) if is_same(*pack) => Some(old),
                old => source(*pack, new, &self.tasks).map_err(|error| troubles.push(error)).ok().or(old),
            };
            packs.extend(source.map(|source| (*pack, source)));
        }
        let unchanged = packs.len() == self.packs.len()
            && packs.iter().zip(&self.packs).all(|(new, old)| Arc::ptr_eq(&new.1, &old.1));
        if !unchanged {
            self.hub.set_sources(sources(self.fixtures.as_ref(), &packs));
            self.packs = packs;
        }
    }
}

fn hub_settings(settings: &Settings) -> HubSettings {
    HubSettings { compact: settings.output.compact, ..HubSettings::default() }
}

fn sources(
    fixtures: Option<&Arc<dyn Source>>,
    packs: &[(PackName, Arc<dyn Source>)],
) -> Vec<Arc<dyn Source>> {
    fixtures.cloned().into_iter().chain(packs.iter().map(|(_, source)| source.clone())).collect()
}

fn source(pack: PackName, settings: &Settings, tasks: &Tasks) -> anyhow::Result<Arc<dyn Source>> {
    let data = &settings.data_dir;
    Ok(match pack {
        PackName::Workspace => {
            let workspace = Workspace::new(settings.workspace.clone(), data.join("workspace"), tasks)?;
            Arc::new(PackSource::new(workspace))
        }
        PackName::Memory => {
            Arc::new(PackSource::new(Memory::new(settings.memory.clone(), data.join("memory"), tasks)))
        }
    })
}
