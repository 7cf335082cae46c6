//! The packs of a hub: those that are on and have what they need, made anew when that changes.

use std::sync::Arc;

use serde_json::Value;
use toolgate_config::{Environment, process_environment};
use toolgate_core::{Pack, PackSource, Source, ToolItem};
use toolgate_host::Tasks;
use toolgate_opencode::{Opencode, Surroundings};
use toolgate_packs::{Chat, Github, Memory, Unready, Web, Workspace};
use toolgate_secrets::Snapshot;

use crate::settings::{PackName, Settings};
use crate::upstreams::Filling;

/// The packs of a hub, in the order in which they are configured.
pub(crate) struct Packs {
    running: Vec<Entry>,
    lacking: Vec<Lacking>,
    environment: Environment,
    tasks: Tasks,
}

/// A pack, and what it was made of.
struct Entry {
    name: PackName,
    table: Value,
    /// What was filled in, so that a changed secret is noticed.
    filled: Vec<u8>,
    source: Arc<dyn Source>,
}

/// A pack that is not there.
pub(crate) struct Lacking {
    pub(crate) name: PackName,
    /// What has to be done for it.
    pub(crate) needs: String,
    /// What it would bring.
    pub(crate) tools: Vec<Arc<ToolItem>>,
}

/// What came of making a pack.
enum Made {
    On(Arc<dyn Source>),
    /// What it still needs.
    Needs(String),
}

impl Packs {
    /// None yet.
    pub(crate) fn new(tasks: Tasks) -> Self {
        Self { running: Vec::new(), lacking: Vec::new(), environment: process_environment(), tasks }
    }

    /// Makes what is new or set otherwise, and tells whether anything is another one. A pack that cannot be made
    /// stays as it was.
    pub(crate) fn apply(
        &mut self,
        settings: &Settings,
        secrets: &Snapshot,
        troubles: &mut Vec<anyhow::Error>,
    ) -> bool {
        let mut before = std::mem::take(&mut self.running);
        let was: Vec<Arc<dyn Source>> = before.iter().map(|entry| entry.source.clone()).collect();
        let values = settings.values();
        self.lacking = all().filter(|name| !settings.packs.contains(name)).map(switched_off).collect();
        for &name in &settings.packs {
            let filling = Filling::new(secrets, &self.environment);
            let made = make(name, settings, (&filling, &self.environment), &self.tasks);
            let (table, filled) = (values[name.word()].clone(), filling.digest());
            let old = before.iter().position(|entry| entry.name == name).map(|place| before.remove(place));
            let source = match (made, old) {
                (_, Some(old)) if old.table == table && old.filled == filled => old.source,
                (Ok(Made::On(source)), _) => source,
                (Ok(Made::Needs(needs)), _) => {
                    self.lacking.push(Lacking { name, needs, tools: tools(name) });
                    continue;
                }
                (Err(error), old) => {
                    troubles.push(error);
                    let Some(old) = old else { continue };
                    old.source
                }
            };
            self.running.push(Entry { name, table, filled, source });
        }
        let now = self.running.iter().map(|entry| &entry.source);
        was.len() != self.running.len() || !was.iter().zip(now).all(|(was, now)| Arc::ptr_eq(was, now))
    }

    /// All of them as sources, in order.
    pub(crate) fn sources(&self) -> impl Iterator<Item = Arc<dyn Source>> {
        self.running.iter().map(|entry| entry.source.clone())
    }

    /// Those that are not there, and why.
    pub(crate) fn lacking(&self) -> &[Lacking] {
        &self.lacking
    }
}

fn all() -> impl Iterator<Item = PackName> {
    PackName::ALL.into_iter()
}

fn switched_off(name: PackName) -> Lacking {
    Lacking { name, needs: format!("add `{}` to `packs`", name.word()), tools: tools(name) }
}

/// Makes a pack; what it refers to is filled in.
fn make(
    name: PackName,
    settings: &Settings,
    (filling, environment): (&Filling<'_>, &Environment),
    tasks: &Tasks,
) -> anyhow::Result<Made> {
    let data = &settings.data_dir;
    Ok(match name {
        PackName::Workspace => on(Workspace::new(settings.workspace.clone(), data.join("workspace"), tasks)?),
        PackName::Memory => on(Memory::new(settings.memory.clone(), data.join("memory"), tasks)),
        PackName::Web => on(Web::new(&settings.web)),
        PackName::Chat => ready(Chat::new(&settings.chat, |text| filling.fill(text)))?,
        PackName::Github => ready(Github::new(&settings.github, |text| filling.fill(text)))?,
        PackName::Opencode => opencode(settings, filling, environment, tasks)?,
    })
}

fn opencode(
    settings: &Settings,
    filling: &Filling<'_>,
    environment: &Environment,
    tasks: &Tasks,
) -> anyhow::Result<Made> {
    let config = settings.opencode.clone();
    let password = config.password.as_deref().map(|text| filling.fill(text)).transpose();
    let password = password.map_err(|why| anyhow::anyhow!("`opencode.password` cannot be used: {why}"))?;
    let variables =
        environment.names().filter_map(|name| Some((name.to_owned(), environment.get(name)?.to_owned())));
    let around = Surroundings {
        variables: variables.collect(),
        password,
        folder: std::env::current_dir()?,
        usual_url: Surroundings::USUAL_URL.into(),
    };
    Ok(on(Opencode::new(config, around, tasks)))
}

fn on(pack: impl Pack) -> Made {
    Made::On(Arc::new(PackSource::new(pack)))
}

/// A pack, or what it still needs.
fn ready(pack: Result<impl Pack, Unready>) -> anyhow::Result<Made> {
    match pack {
        Ok(pack) => Ok(on(pack)),
        Err(Unready::Needs(needs)) => Ok(Made::Needs(needs)),
        Err(wrong @ Unready::Wrong { .. }) => Err(wrong.into()),
    }
}

/// The tools of a pack, whether it is there or not.
fn tools(name: PackName) -> Vec<Arc<ToolItem>> {
    fn of<P: Pack>() -> Vec<Arc<ToolItem>> {
        P::tools().iter().map(|tool| tool.item().clone()).collect()
    }
    match name {
        PackName::Workspace => of::<Workspace>(),
        PackName::Memory => of::<Memory>(),
        PackName::Web => of::<Web>(),
        PackName::Chat => of::<Chat>(),
        PackName::Github => of::<Github>(),
        PackName::Opencode => of::<Opencode>(),
    }
}
