//! The packs of a hub: those that are on and have what they need, made anew when that changes.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use toolgate_config::{Environment, process_environment};
use toolgate_core::{Pack, PackSource, SharedStore, Source, ToolItem};
use toolgate_host::{Clock, Tasks};
use toolgate_packs::{Chat, Github, Memory, Unready, Web, Workspace};
use toolgate_script::{ChildProgram, FindSecret, ScriptPack, ScriptParts, Scripts};
use toolgate_secrets::Snapshot;

use crate::settings::{PackName, Settings};
use crate::upstreams::Filling;

/// The packs of a hub, in the order in which they are configured.
pub(crate) struct Packs {
    running: Vec<Entry>,
    lacking: Vec<Lacking>,
    environment: Environment,
    /// Those that are known now, for who reads them while it works.
    secrets: Arc<Mutex<Snapshot>>,
    store: SharedStore,
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
    pub(crate) fn new(store: SharedStore, tasks: Tasks) -> Self {
        let (running, lacking, environment) = (Vec::new(), Vec::new(), process_environment());
        Self { running, lacking, environment, secrets: Arc::default(), store, tasks }
    }

    /// Makes what is new or set otherwise, and tells whether anything is another one. A pack that cannot be made
    /// stays as it was.
    pub(crate) fn apply(
        &mut self,
        settings: &Settings,
        secrets: &Snapshot,
        troubles: &mut Vec<anyhow::Error>,
    ) -> bool {
        *self.secrets.lock().unwrap_or_else(PoisonError::into_inner) = secrets.clone();
        let mut before = std::mem::take(&mut self.running);
        let was: Vec<Arc<dyn Source>> = before.iter().map(|entry| entry.source.clone()).collect();
        let values = settings.values();
        self.lacking = all().filter(|name| !settings.packs.contains(name)).map(switched_off).collect();
        for &name in &settings.packs {
            let filling = Filling::new(secrets, &self.environment);
            let made = self.make(name, settings, &filling);
            let (table, filled) = (values[name.table()].clone(), filling.digest());
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

    /// Makes a pack; what it refers to is filled in.
    fn make(&self, name: PackName, settings: &Settings, filling: &Filling<'_>) -> anyhow::Result<Made> {
        let (data, tasks) = (&settings.data_dir, &self.tasks);
        Ok(match name {
            PackName::Workspace => {
                on(Workspace::new(settings.workspace.clone(), data.join("workspace"), tasks)?)
            }
            PackName::Memory => on(Memory::new(settings.memory.clone(), data.join("memory"), tasks)),
            PackName::Web => on(Web::new(&settings.web)),
            PackName::Chat => ready(Chat::new(&settings.chat, |text| filling.fill(text)))?,
            PackName::Github => ready(Github::new(&settings.github, |text| filling.fill(text)))?,
            PackName::Script => on(self.scripts(settings)?),
        })
    }

    fn scripts(&self, settings: &Settings) -> anyhow::Result<ScriptPack> {
        let known = self.secrets.clone();
        let secrets: FindSecret =
            Arc::new(move |name| known.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned());
        Ok(ScriptPack::new(ScriptParts {
            config: settings.scripts.clone(),
            scripts: scripts(settings, self.store.clone()),
            program: ChildProgram { path: own_program()?, arguments: vec![toolgate_script::COMMAND.into()] },
            secrets,
            tasks: self.tasks.clone(),
        }))
    }
}

/// The scripts as configured.
pub(crate) fn scripts(settings: &Settings, store: SharedStore) -> Scripts {
    Scripts::new(&settings.scripts, settings.data_dir.join("scripts"), store, Clock::system())
}

/// This program; where the system knows it, the very one that runs, and not what has been put in its place since.
fn own_program() -> anyhow::Result<PathBuf> {
    let running = PathBuf::from("/proc/self/exe");
    Ok(if running.exists() { running } else { std::env::current_exe()? })
}

fn all() -> impl Iterator<Item = PackName> {
    PackName::ALL.into_iter()
}

fn switched_off(name: PackName) -> Lacking {
    Lacking { name, needs: format!("add `{}` to `packs`", name.word()), tools: tools(name) }
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
        PackName::Script => of::<ScriptPack>(),
    }
}
