//! OpenCode's own configuration files: one key changed, comments kept, taken up at once, and read back.

mod edit;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_core::{Error, Kind, Result};
use toolgate_host::files::{ReadOptions, WriteMode, WriteOptions};
use toolgate_host::{Clock, FileError, RelPath, Root};

use crate::answers::{list, text};
use crate::pack::Opencode;
use crate::server::Link;
use crate::turn::works;
use edit::edited;

/// What the file is called, as OpenCode looks for it.
const NAMES: [&str; 2] = ["opencode.jsonc", "opencode.json"];

/// The key that names the schema of the file.
const SCHEMA: &str = "$schema";

/// The largest file that is read or written.
const MOST_BYTES: u64 = 1 << 20;

/// How often it is looked whether a change is taken up, and how long.
const LOOK: Duration = Duration::from_millis(200);
const LOOKS: usize = 100;

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

/// A change of the configuration.
pub(crate) struct Change<'a> {
    pub(crate) scope: Scope,
    pub(crate) project: &'a Path,
    pub(crate) keys: Vec<Key>,
    /// Whether sessions that work now may be stopped by it.
    pub(crate) force: bool,
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
    /// Writes a change, makes OpenCode take it up, and sees that it did.
    pub(crate) async fn change(&self, link: &Link, change: Change<'_>) -> Result<Changed> {
        if !change.force {
            quiet(link, change.scope, change.project).await?;
        }
        let File { folder, name, reader } = self.file(link, &change).await?;
        let unwritable = |error: FileError| {
            Error::new(Kind::Denied, format!("OpenCode's configuration cannot be changed: {error}"))
                .hint("check who may write it")
        };
        let root = Root::create(&folder).map_err(unwritable)?;
        let name = match name {
            Some(name) => name,
            None => existing(&root).await.map_err(unwritable)?,
        };
        let file = folder.join(&name);
        let path = RelPath::parse(&name, "config").map_err(unwritable)?;
        let text = read(&root, &path).await.map_err(unwritable)?;
        let text = rewritten(&file, &text, &change.keys)?;
        write(&root, &path, text).await.map_err(unwritable)?;
        if reader == Reader::Server {
            loosen(&root).await.map_err(unwritable)?;
        }
        take_up(link, &change, reader).await?;
        let changed = change.keys.iter().map(|(path, _)| path.join(".")).collect();
        Ok(Changed { changed, file: file.to_string_lossy().into_owned() })
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

/// The file that is there, else the one to make.
async fn existing(root: &Root) -> std::result::Result<String, FileError> {
    for name in NAMES {
        if root.exists(&RelPath::parse(name, "config")?).await? {
            return Ok(name.to_owned());
        }
    }
    Ok(NAMES[0].to_owned())
}

async fn read(root: &Root, path: &RelPath) -> std::result::Result<String, FileError> {
    match root.read(path, ReadOptions::whole(MOST_BYTES)).await {
        Ok(content) => Ok(String::from_utf8_lossy(&content.bytes).into_owned()),
        Err(FileError::NotFound { .. }) => Ok("{\n}\n".to_owned()),
        Err(error) => Err(error),
    }
}

async fn write(root: &Root, path: &RelPath, text: String) -> std::result::Result<(), FileError> {
    let options = WriteOptions {
        create_dirs: true,
        mode: WriteMode::Replace,
        max_bytes: MOST_BYTES,
        protected: |_| false,
    };
    root.write(path, text.into_bytes(), options).await.map(|_| ())
}

/// Takes the schema out of the file that the server itself would change: that it is put back later makes it read all
/// its files again.
async fn loosen(root: &Root) -> std::result::Result<(), FileError> {
    let path = RelPath::parse(&existing(root).await?, "config")?;
    let text = read(root, &path).await?;
    match edited(&text, &[(vec![SCHEMA.to_owned()], None)]) {
        Ok(now) if now != text => write(root, &path, now).await,
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The text of a file with these keys changed.
fn rewritten(file: &Path, text: &str, keys: &[Key]) -> Result<String> {
    let refused = |words: String, hint: &'static str| Error::new(Kind::InvalidInput, words).hint(hint);
    let now = edited(text, keys).map_err(|why| {
        let words = format!("`{}` cannot be changed: {why}", file.display());
        refused(words, "correct the file, then call again")
    })?;
    if now == text && keys.iter().all(|(_, value)| value.is_none()) {
        let named: Vec<String> = keys.iter().map(|(path, _)| path.join(".")).collect();
        let words = format!("`{}` is not in `{}`", named.join("`, `"), file.display());
        return Err(refused(words, "it may be in the other scope: set `scope` to `project` or `global`"));
    }
    Ok(now)
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

async fn take_up(link: &Link, change: &Change<'_>, reader: Reader) -> Result<()> {
    match reader {
        Reader::Project => reload(link, Scope::Project, change.project).await?,
        Reader::Projects => reload(link, Scope::Global, change.project).await?,
        // It keeps what the file said until something is changed by this route: the one key we took out.
        Reader::Server => {
            let body = json!({SCHEMA: "https://opencode.ai/config.json"});
            link.client().request(Method::PATCH, &["global", "config"]).json(body).send().await?;
        }
    }
    for _ in 0..LOOKS {
        let now = link.client().get(&["config"]).within(change.project).send().await?;
        if change.keys.iter().all(|(path, value)| fits(at(&now, path), value.as_ref())) {
            return Ok(());
        }
        tokio::time::sleep(LOOK).await;
    }
    let named: Vec<String> = change.keys.iter().map(|(path, _)| path.join(".")).collect();
    let words = format!("`{}` is written, but OpenCode's configuration does not show it", named.join("`, `"));
    let is_removal = change.keys.iter().all(|(_, value)| value.is_none());
    Err(Error::new(Kind::Upstream, words).hint(match reader {
        Reader::Projects => "start the server with `OPENCODE_CONFIG` set to `opencode.config_path`",
        Reader::Project | Reader::Server if is_removal => "it may be in the other scope too: set `scope`",
        Reader::Project | Reader::Server => "another file, nearer to the project, may say otherwise",
    }))
}

fn at<'a>(value: &'a Value, path: &[String]) -> &'a Value {
    path.iter().fold(value, |value, key| &value[key])
}

/// Whether a value is as it was written: of objects, what was written is there.
fn fits(now: &Value, wanted: Option<&Value>) -> bool {
    match wanted {
        None => now.is_null(),
        Some(Value::Object(wanted)) => wanted.iter().all(|(key, wanted)| fits(&now[key], Some(wanted))),
        Some(wanted) => now == wanted,
    }
}
