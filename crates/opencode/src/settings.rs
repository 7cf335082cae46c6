//! OpenCode's own configuration files: one key changed, comments kept, taken up at once, and read back.

mod edit;
mod folder;
mod plain;
mod rules;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_core::{Error, Kind, Result};
use toolgate_host::Clock;

use crate::answers::{list, text};
use crate::pack::Opencode;
use crate::server::Link;
use crate::turn::works;
use folder::{Folder, SCHEMA};

pub(crate) use rules::Rules;

/// How often it is looked whether a change is taken up, and how long.
const LOOK: Duration = Duration::from_millis(200);
const LOOKS: usize = 100;

/// How often rules may be found to be overruled before they are taken to be so.
const OVERRULED: usize = 5;

/// How long ago a session that still works may have been used last, and how many are looked at.
const LATELY_MS: u64 = 6 * 60 * 60 * 1000;
const MOST_SESSIONS: &str = "1000";

/// A key by its path, with its new value; without one it is removed.
type Key = (Vec<String>, Option<Value>);

/// For whom a change counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum Scope {
    /// This project.
    Project,
    /// All projects.
    #[default]
    Global,
}

impl Scope {
    /// The project, if its own file speaks of a key.
    pub(crate) async fn of(project: &Path, key: &[String]) -> Result<Self> {
        let said = Folder::open(project)?.said().await?;
        Ok(if at(&said, key).is_null() { Self::Global } else { Self::Project })
    }
}

/// A change of the configuration.
pub(crate) struct Change<'a> {
    pub(crate) scope: Scope,
    pub(crate) project: &'a Path,
    pub(crate) keys: Vec<Key>,
    /// What may be done then, where that is what changes.
    pub(crate) rules: Option<Rules<'a>>,
    /// Whether sessions that work now may be stopped by it.
    pub(crate) force: bool,
}

impl Change<'_> {
    /// Whether it only takes away.
    fn is_removal(&self) -> bool {
        self.keys.iter().all(|(_, value)| value.is_none())
    }
}

/// What came of a change.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Changed {
    /// What was changed, and is so now as OpenCode tells.
    pub(crate) changed: Vec<String>,
    /// The file it is written in.
    pub(crate) file: String,
}

/// A file of OpenCode's configuration.
struct File {
    folder: PathBuf,
    /// What it is called, if that is not for us to find out.
    name: Option<String>,
    reader: Reader,
}

/// Who reads a file, and so how it is read again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// A project, when it is opened.
    Project,
    /// The server, once: it is the file for all projects.
    Server,
    /// Every project, when it is opened: it is the one that `OPENCODE_CONFIG` names.
    Projects,
}

impl Opencode {
    /// Writes a change, makes OpenCode take it up, and sees that it did; what it does not take is taken back.
    pub(crate) async fn change(&self, link: &Link, change: Change<'_>) -> Result<Changed> {
        plain::check(&change.keys)?;
        let _one_by_one = self.changes.lock().await;
        if !change.force {
            quiet(link, change.scope, change.project).await?;
        }
        let File { folder: path, name, reader } = self.file(link, &change).await?;
        let mut folder = Folder::open(&path)?;
        let name = match name {
            Some(name) => name,
            None => folder.existing().await?,
        };
        folder.change(&name, change.keys.clone()).await?;
        let taken = take_up(link, &change, &mut folder, reader).await;
        // What another file still says does not keep this one from saying it no more.
        let stays = taken.as_ref().is_ok_and(|is_seen| *is_seen || change.is_removal());
        if !stays && let Err(error) = take_back(link, &change, &mut folder, reader).await {
            tracing::warn!(%error, "a change that OpenCode does not take cannot be taken back");
        }
        if !taken? {
            return Err(unseen(&change, reader));
        }
        let changed = change.keys.iter().map(|(path, _)| path.join(".")).collect();
        Ok(Changed { changed, file: path.join(name).to_string_lossy().into_owned() })
    }

    /// The file that a change goes to.
    async fn file(&self, link: &Link, change: &Change<'_>) -> Result<File> {
        if change.scope == Scope::Project {
            return Ok(File { folder: change.project.to_owned(), name: None, reader: Reader::Project });
        }
        let paths = link.client().get(&["path"]).within(change.project).send().await?;
        let usual = PathBuf::from(text(&paths["config"]));
        let named = self.config.config_path.as_deref();
        let named = named.and_then(|path| Some((path.parent()?, path.file_name()?.to_str()?)));
        let Some((folder, name)) = named else {
            return Ok(File { folder: usual, name: None, reader: Reader::Server });
        };
        let reader = if folder == usual { Reader::Server } else { Reader::Projects };
        Ok(File { folder: folder.to_owned(), name: Some(name.to_owned()), reader })
    }
}

/// Fails while a session works: a change would stop it.
pub(crate) async fn quiet(link: &Link, scope: Scope, project: &Path) -> Result<()> {
    let mut folders = BTreeSet::from([project.to_owned()]);
    let mut busy = BTreeSet::new();
    if scope == Scope::Global {
        busy.extend(link.busy());
        folders.extend(in_use(link).await?);
    }
    for folder in folders {
        let all = link.client().get(&["session", "status"]).within(&folder).send().await?;
        let working = all.as_object().into_iter().flatten().filter(|(_, status)| works(status));
        busy.extend(working.map(|(id, _)| id.clone()));
    }
    if busy.is_empty() {
        return Ok(());
    }
    let busy: Vec<String> = busy.into_iter().collect();
    let words = format!("this would stop sessions that work now: `{}`", busy.join("`, `"));
    Err(Error::new(Kind::InvalidInput, words).hint("wait for their end, or set `force` to stop them"))
}

/// The folders in which sessions may work now. OpenCode tells only those of a folder that it is asked for, and opens
/// it for that: those that nobody used for long are left alone.
async fn in_use(link: &Link) -> Result<BTreeSet<PathBuf>> {
    let since = Clock::system().unix_ms().saturating_sub(LATELY_MS).max(link.began()).to_string();
    let request = link.client().get(&["experimental", "session"]).query("limit", MOST_SESSIONS);
    let sessions = request.query("start", &since).send().await?;
    let folders = list(&sessions).iter().filter_map(|session| session["directory"].as_str());
    Ok(folders.map(PathBuf::from).collect())
}

/// Makes OpenCode read its files again: it does not watch them.
pub(crate) async fn reload(link: &Link, scope: Scope, project: &Path) -> Result<()> {
    match scope {
        Scope::Project => link.client().post(&["instance", "dispose"]).within(project).send().await?,
        Scope::Global => link.client().post(&["global", "dispose"]).send().await?,
    };
    Ok(())
}

/// Makes OpenCode read the file again that a change went to.
async fn reread(link: &Link, project: &Path, folder: &mut Folder, reader: Reader) -> Result<()> {
    match reader {
        Reader::Project => reload(link, Scope::Project, project).await,
        Reader::Projects => reload(link, Scope::Global, project).await,
        // It keeps what the file said until something is changed by this route: the one key we take out.
        Reader::Server => {
            let schema = folder.loosen().await?.unwrap_or_else(|| "https://opencode.ai/config.json".into());
            let request = link.client().request(Method::PATCH, &["global", "config"]);
            request.json(json!({SCHEMA: schema})).send().await.map(drop)
        }
    }
}

/// Makes OpenCode take a change up, and says whether it shows it.
async fn take_up(link: &Link, change: &Change<'_>, folder: &mut Folder, reader: Reader) -> Result<bool> {
    reread(link, change.project, folder, reader).await?;
    let mut overruled = 0;
    for _ in 0..LOOKS {
        let now = link.client().get(&["config"]).within(change.project).send().await?;
        if change.keys.iter().all(|(path, value)| fits(at(&now, path), value.as_ref())) {
            let error = match &change.rules {
                Some(rules) => rules.overruled(link, change.project, &now).await?,
                None => None,
            };
            let Some(error) = error else { return Ok(true) };
            overruled += 1;
            if overruled == OVERRULED {
                return Err(error);
            }
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(false)
}

/// A change that OpenCode does not show.
fn unseen(change: &Change<'_>, reader: Reader) -> Error {
    let named: Vec<String> = change.keys.iter().map(|(path, _)| path.join(".")).collect();
    let named = named.join("`, `");
    let words = if change.is_removal() {
        format!("`{named}` is removed, but OpenCode's configuration still shows it")
    } else {
        format!("`{named}` is not changed: OpenCode's configuration did not show it")
    };
    Error::new(Kind::Upstream, words).hint(match reader {
        Reader::Projects => "start the server with `OPENCODE_CONFIG` set to `opencode.config_path`",
        Reader::Project | Reader::Server if change.is_removal() => {
            "it may be in the other scope too: set `scope`"
        }
        Reader::Server => "a file of the project may say otherwise: set `scope` to `project`",
        Reader::Project => "another file, nearer to the project, may say otherwise",
    })
}

/// Puts the files back, and makes OpenCode read them again.
async fn take_back(link: &Link, change: &Change<'_>, folder: &mut Folder, reader: Reader) -> Result<()> {
    folder.put_back().await?;
    let taken = reread(link, change.project, folder, reader).await;
    if taken.is_err() {
        // It may be as it was before; the files are so in any case.
        folder.put_back().await?;
    }
    taken
}

fn at<'a>(value: &'a Value, path: &[String]) -> &'a Value {
    path.iter().fold(value, |value, key| &value[key])
}

/// Whether a value is as it was written: of objects, what was written is there.
fn fits(now: &Value, wanted: Option<&Value>) -> bool {
    match wanted {
        None => now.is_null(),
        Some(Value::Object(wanted)) => wanted.iter().all(|(key, wanted)| fits(&now[key], Some(wanted))),
        // What stands there then, we do not know.
        Some(Value::String(wanted)) if plain::holds_variable(wanted) => now.is_string(),
        Some(wanted) => now == wanted,
    }
}
