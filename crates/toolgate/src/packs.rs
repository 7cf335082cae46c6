//! The packs of a hub: those that are on and have what they need, made anew when that changes.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use toolgate_browser::Browser;
use toolgate_config::{Environment, env, process_environment};
use toolgate_core::{Pack, PackSource, SharedStore, Source, ToolItem};
use toolgate_host::{Clock, Tasks};
use toolgate_opencode::{Opencode, Surroundings};
use toolgate_packs::vault::{NoVault, Tools, Vault, VaultPlace};
use toolgate_packs::{Calendar, Chat, Github, Memory, Unready, Web, Workspace};
use toolgate_script::{ChildProgram, FindSecret, ScriptPack, ScriptParts, Scripts};
use toolgate_secrets::Snapshot;

use crate::settings::{PackName, Settings};
use crate::upstreams::Filling;

/// The packs of a hub, in the order in which they are configured.
pub(crate) struct Packs {
    running: Vec<Entry>,
    lacking: Vec<Lacking>,
    environment: Environment,
    scripts: ForScripts,
    tasks: Tasks,
}

/// What scripts need beside what is set for them.
#[derive(Clone)]
struct ForScripts {
    store: SharedStore,
    /// Those that are known now, for who reads them while it works.
    secrets: Arc<Mutex<Snapshot>>,
}

impl ForScripts {
    fn pack(&self, settings: &Settings, tasks: &Tasks) -> anyhow::Result<ScriptPack> {
        let known = self.secrets.clone();
        let secrets: FindSecret =
            Arc::new(move |name| known.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned());
        Ok(ScriptPack::new(ScriptParts {
            config: settings.scripts.clone(),
            scripts: scripts(settings, self.store.clone()),
            program: ChildProgram { path: own_program()?, arguments: vec![toolgate_script::COMMAND.into()] },
            secrets,
            tasks: tasks.clone(),
        }))
    }
}

struct Entry {
    name: PackName,
    of: Ground,
    source: Arc<dyn Source>,
}

/// What a pack is made of.
#[derive(PartialEq)]
struct Ground {
    table: Value,
    /// What the table refers to, so that a changed secret is noticed.
    filled: Vec<u8>,
}

impl Ground {
    fn new(table: &Value, filling: &Filling<'_>) -> Self {
        fn fill(value: &Value, filling: &Filling<'_>) {
            match value {
                // One that is missing is told when the pack is made.
                Value::String(text) => drop(filling.fill(text)),
                Value::Array(items) => items.iter().for_each(|item| fill(item, filling)),
                Value::Object(table) => table.values().for_each(|value| fill(value, filling)),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        fill(table, filling);
        Self { table: table.clone(), filled: filling.digest() }
    }
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
    /// What its settings speak of is not there.
    Lacks(anyhow::Error),
}

impl Packs {
    /// None yet.
    pub(crate) fn new(store: SharedStore, tasks: Tasks) -> Self {
        let (running, lacking, environment) = (Vec::new(), Vec::new(), process_environment());
        let scripts = ForScripts { store, secrets: Arc::default() };
        Self { running, lacking, environment, scripts, tasks }
    }

    /// Makes what is new or set otherwise, and tells whether anything is another one. A pack that cannot be made
    /// stays as it was.
    pub(crate) fn apply(
        &mut self,
        settings: &Settings,
        secrets: &Snapshot,
        troubles: &mut Vec<anyhow::Error>,
    ) -> bool {
        *self.scripts.secrets.lock().unwrap_or_else(PoisonError::into_inner) = secrets.clone();
        let (tasks, scripts) = (self.tasks.clone(), self.scripts.clone());
        self.renew(settings, secrets, troubles, |name, filling| {
            make(name, settings, filling, (&tasks, Some(&scripts)))
        })
    }

    fn renew(
        &mut self,
        settings: &Settings,
        secrets: &Snapshot,
        troubles: &mut Vec<anyhow::Error>,
        mut make: impl FnMut(PackName, &Filling<'_>) -> anyhow::Result<Made>,
    ) -> bool {
        let mut before = std::mem::take(&mut self.running);
        let was: Vec<Arc<dyn Source>> = before.iter().map(|entry| entry.source.clone()).collect();
        let values = settings.values();
        self.lacking = all().filter(|name| !settings.packs.contains(name)).map(switched_off).collect();
        for &name in &settings.packs {
            let filling = Filling::new(secrets, &self.environment);
            let of = Ground::new(&values[name.table()], &filling);
            let old = before.iter().position(|entry| entry.name == name).map(|place| before.remove(place));
            match old {
                Some(same) if same.of == of => self.running.push(same),
                old => match make(name, &filling) {
                    Ok(Made::On(source)) => self.running.push(Entry { name, of, source }),
                    Ok(Made::Needs(needs)) => self.lacks(name, needs),
                    // The others do without it, and somebody has to learn of it.
                    Ok(Made::Lacks(error)) if old.is_none() => {
                        tracing::warn!("the pack `{}` is left out: {error:#}", name.word());
                        self.lacks(name, format!("{error:#}"));
                    }
                    Ok(Made::Lacks(error)) | Err(error) => {
                        troubles.push(error);
                        // It is what it was made of before, so the next change tries again.
                        self.running.extend(old);
                    }
                },
            }
        }
        let now = self.running.iter().map(|entry| &entry.source);
        was.len() != self.running.len() || !was.iter().zip(now).all(|(was, now)| Arc::ptr_eq(was, now))
    }

    fn lacks(&mut self, name: PackName, needs: String) {
        self.lacking.push(Lacking { name, needs, tools: tools(name) });
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

/// Makes a pack; what it refers to is filled in.
fn make(
    name: PackName,
    settings: &Settings,
    filling: &Filling<'_>,
    (tasks, scripts): (&Tasks, Option<&ForScripts>),
) -> anyhow::Result<Made> {
    let data = &settings.data_dir;
    Ok(match name {
        PackName::Workspace => {
            let (config, own) = (settings.workspace.clone(), settings.file.clone());
            match Workspace::new(config, data.join("workspace"), own, tasks) {
                Ok(workspace) => on(workspace),
                Err(error) => Made::Lacks(error.into()),
            }
        }
        PackName::Memory => on(Memory::new(settings.memory.clone(), data.join("memory"), tasks)),
        PackName::Vault => vault(settings, filling, tasks)?,
        PackName::Web => on(Web::new(&settings.web)),
        PackName::Chat => ready(Chat::new(&settings.chat, |text| filling.fill(text)))?,
        PackName::Calendar => ready(Calendar::new(&settings.calendar, |text| filling.fill(text)))?,
        PackName::Github => ready(Github::new(&settings.github, |text| filling.fill(text)))?,
        PackName::Opencode => opencode(settings, filling, tasks)?,
        PackName::Script => match scripts {
            Some(scripts) => on(scripts.pack(settings, tasks)?),
            None => Made::Needs("open the store".into()),
        },
        PackName::Browser => browser(settings, filling, tasks),
    })
}

fn vault(settings: &Settings, filling: &Filling<'_>, tasks: &Tasks) -> anyhow::Result<Made> {
    let environment = process_environment();
    let tools = Tools {
        search_path: environment.get(env::PATH).unwrap_or_default().to_owned(),
        ssh_agent: environment.get(env::SSH_AUTH_SOCK).map(ToOwned::to_owned),
    };
    let place = VaultPlace { own: settings.data_dir.join("vault"), tools, tasks };
    match Vault::new(&settings.vault, place, |text| filling.fill(text)) {
        Ok(vault) => Ok(on(vault)),
        Err(NoVault::Unready(unready)) => ready::<Vault>(Err(unready)),
        Err(error @ NoVault::CannotOpen(_)) => Ok(Made::Lacks(error.into())),
    }
}

fn opencode(settings: &Settings, filling: &Filling<'_>, tasks: &Tasks) -> anyhow::Result<Made> {
    let config = settings.opencode.clone();
    let password = config.password.as_deref().map(|text| filling.fill(text)).transpose();
    let password = match password {
        Ok(password) => password,
        Err(why) => {
            return Ok(Made::Lacks(anyhow::anyhow!("`opencode.password` cannot be used: {why}")));
        }
    };
    let around = Surroundings {
        variables: variables(filling),
        password,
        folder: std::env::current_dir()?,
        usual_url: Surroundings::USUAL_URL.into(),
    };
    Ok(on(Opencode::new(config, around, tasks)))
}

fn browser(settings: &Settings, filling: &Filling<'_>, tasks: &Tasks) -> Made {
    let workspace = settings.workspace.root.clone().unwrap_or_else(|| settings.data_dir.join("workspace"));
    let around =
        toolgate_browser::Surroundings::new(variables(filling), settings.data_dir.clone(), workspace);
    on(Browser::new(settings.browser.clone(), around, tasks))
}

/// The variables of our environment.
fn variables(filling: &Filling<'_>) -> Vec<(String, String)> {
    let environment = filling.environment();
    let named = |name: &str| Some((name.to_owned(), environment.get(name)?.to_owned()));
    environment.names().filter_map(named).collect()
}

/// What a pack still needs, of those that need no store; nothing if it could be made.
pub(crate) fn needs(
    name: PackName,
    settings: &Settings,
    filling: &Filling<'_>,
) -> anyhow::Result<Option<String>> {
    Ok(match make(name, settings, filling, (&Tasks::new(), None))? {
        Made::On(_) => None,
        Made::Needs(needs) => Some(needs),
        Made::Lacks(error) => Some(format!("{error:#}")),
    })
}

fn on(pack: impl Pack) -> Made {
    Made::On(Arc::new(PackSource::new(pack)))
}

/// A pack, or what it still needs.
fn ready<P: Pack>(pack: Result<P, Unready>) -> anyhow::Result<Made> {
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
        PackName::Vault => of::<Vault>(),
        PackName::Web => of::<Web>(),
        PackName::Chat => of::<Chat>(),
        PackName::Calendar => of::<Calendar>(),
        PackName::Github => of::<Github>(),
        PackName::Opencode => of::<Opencode>(),
        PackName::Script => of::<ScriptPack>(),
        PackName::Browser => {
            let mut usual = of::<Browser>();
            usual.retain(|tool| !toolgate_browser::STYLES.contains(&tool.name.as_str()));
            usual
        }
    }
}

#[cfg(test)]
mod tests {
    use toolgate_host::Secret;
    use toolgate_testkit::MemoryStore;

    use super::*;

    /// Packs, and which of them were made at the last change.
    struct Bench {
        packs: Packs,
        fails: bool,
    }

    impl Bench {
        fn change(&mut self, settings: &Settings, token: &str) -> (Vec<&'static str>, bool, usize) {
            let token = Secret::new(token.to_owned());
            let secrets: Snapshot = [("BOT".parse().unwrap(), token)].into_iter().collect();
            let (mut made, mut troubles) = (Vec::new(), Vec::new());
            let (tasks, fails) = (self.packs.tasks.clone(), self.fails);
            let changed = self.packs.renew(settings, &secrets, &mut troubles, |name, filling| {
                made.push(name.word());
                if fails {
                    anyhow::bail!("cannot be made");
                }
                make(name, settings, filling, (&tasks, None))
            });
            (made, changed, troubles.len())
        }
    }

    #[tokio::test]
    async fn only_a_pack_that_is_set_otherwise_is_made_again() {
        let mut bench = Bench { packs: Packs::new(Arc::new(MemoryStore::new()), Tasks::new()), fails: false };
        let mut settings = Settings { packs: vec![PackName::Web, PackName::Github], ..Settings::default() };
        settings.github.token = Some("{secret:BOT}".to_owned());
        assert_eq!(bench.change(&settings, "sesame-1"), (vec!["web", "github"], true, 0));
        assert_eq!(bench.change(&settings, "sesame-1"), (vec![], false, 0));
        // A secret that it refers to.
        assert_eq!(bench.change(&settings, "sesame-2"), (vec!["github"], true, 0));
        // A table that is another one's.
        settings.chat.max_parts = 3;
        assert_eq!(bench.change(&settings, "sesame-2"), (vec![], false, 0));
        settings.web.max_bytes = 1000;
        assert_eq!(bench.change(&settings, "sesame-2"), (vec!["web"], true, 0));
        // The order is that of the settings, and changes nothing of what they are made of.
        settings.packs.reverse();
        assert_eq!(bench.change(&settings, "sesame-2"), (vec![], true, 0));
        settings.github.token = None;
        assert_eq!(bench.change(&settings, "sesame-2"), (vec!["github"], true, 0));
        assert_eq!(bench.packs.sources().count(), 1);
    }

    #[tokio::test]
    async fn a_pack_that_cannot_be_made_stays_as_it_was_and_is_tried_again() {
        let mut bench = Bench { packs: Packs::new(Arc::new(MemoryStore::new()), Tasks::new()), fails: false };
        let mut settings = Settings { packs: vec![PackName::Web], ..Settings::default() };
        assert_eq!(bench.change(&settings, "sesame-1"), (vec!["web"], true, 0));
        settings.web.max_bytes = 1000;
        bench.fails = true;
        for _ in 0..2 {
            assert_eq!(bench.change(&settings, "sesame-1"), (vec!["web"], false, 1));
            assert_eq!(bench.packs.sources().count(), 1);
        }
        bench.fails = false;
        assert_eq!(bench.change(&settings, "sesame-1"), (vec!["web"], true, 0));
    }
}
