//! OpenCode's own configuration files: one key changed, comments kept, taken up at once, and read back.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use reqwest::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_core::{Error, Kind, Result};
use toolgate_host::files::{ReadOptions, WriteMode, WriteOptions};
use toolgate_host::{FileError, RelPath, Root};

use crate::pack::Opencode;
use crate::server::Link;

/// What the file is called, as OpenCode looks for it.
const NAMES: [&str; 2] = ["opencode.jsonc", "opencode.json"];

/// The key that names the schema of the file.
const SCHEMA: &str = "$schema";

/// The largest file that is read or written.
const MOST_BYTES: u64 = 1 << 20;

/// How often it is looked whether a change is taken up, and how long.
const LOOK: Duration = Duration::from_millis(200);
const LOOKS: usize = 100;

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
    /// Each key by its path, with its new value; without one it is removed.
    pub(crate) keys: Vec<(Vec<String>, Option<Value>)>,
    /// Whether sessions that work now may be stopped by it.
    pub(crate) force: bool,
}

impl Opencode {
    /// Writes a change, makes OpenCode take it up, and sees that it did. Tells the file.
    pub(crate) async fn change(&self, link: &Link, change: Change<'_>) -> Result<PathBuf> {
        if !change.force {
            quiet(link, change.scope, change.project).await?;
        }
        let folder = match (&self.config.config_path, change.scope) {
            (Some(path), _) => path.parent().map(Path::to_owned).unwrap_or_default(),
            (None, Scope::Project) => change.project.to_owned(),
            (None, Scope::Global) => {
                let paths = link.client().get(&["path"]).within(change.project).send().await?;
                PathBuf::from(paths["config"].as_str().unwrap_or_default())
            }
        };
        let unwritable = |error: FileError| {
            Error::new(Kind::Denied, format!("OpenCode's configuration cannot be changed: {error}"))
                .hint("check who may write it")
        };
        let root = Root::create(&folder).map_err(unwritable)?;
        let name =
            self.config.config_path.as_ref().and_then(|path| path.file_name()?.to_str()).map(Into::into);
        let name: String = match name {
            Some(name) => name,
            None => existing(&root).await.map_err(unwritable)?,
        };
        let path = RelPath::parse(&name, "config").map_err(unwritable)?;
        let text = match root.read(&path, ReadOptions::whole(MOST_BYTES)).await {
            Ok(content) => String::from_utf8_lossy(&content.bytes).into_owned(),
            Err(FileError::NotFound { .. }) => "{\n}\n".to_owned(),
            Err(error) => return Err(unwritable(error)),
        };
        let mut keys = change.keys.clone();
        if change.scope == Scope::Global {
            keys.push((vec![SCHEMA.to_owned()], None));
        }
        let text = edited(&text, &keys).map_err(|why| {
            let words = format!("`{}` cannot be changed: {why}", folder.join(&name).display());
            Error::new(Kind::InvalidInput, words).hint("correct the file, then call again")
        })?;
        let options = WriteOptions {
            create_dirs: true,
            mode: WriteMode::Replace,
            max_bytes: MOST_BYTES,
            protected: |_| false,
        };
        root.write(&path, text.into_bytes(), options).await.map_err(unwritable)?;
        take_up(link, &change).await?;
        Ok(folder.join(name))
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

/// Fails while a session works: a change would stop it.
pub(crate) async fn quiet(link: &Link, scope: Scope, project: &Path) -> Result<()> {
    let all = link.client().get(&["session", "status"]).within(project).send().await?;
    let mut busy: Vec<String> = match scope {
        Scope::Project => Vec::new(),
        Scope::Global => link.busy(),
    };
    busy.extend(
        all.as_object()
            .into_iter()
            .flatten()
            .filter(|(_, status)| status["type"] != "idle")
            .map(|(id, _)| id.clone()),
    );
    busy.sort_unstable();
    busy.dedup();
    if busy.is_empty() {
        return Ok(());
    }
    let words = format!("this would stop sessions that work now: `{}`", busy.join("`, `"));
    Err(Error::new(Kind::InvalidInput, words).hint("wait for their end, or set `force` to stop them"))
}

/// Makes OpenCode read its files again: it does not watch them.
pub(crate) async fn reload(link: &Link, scope: Scope, project: &Path) -> Result<()> {
    match scope {
        Scope::Project => link.client().post(&["instance", "dispose"]).within(project).send().await?,
        Scope::Global => link.client().post(&["global", "dispose"]).send().await?,
    };
    Ok(())
}

async fn take_up(link: &Link, change: &Change<'_>) -> Result<()> {
    match change.scope {
        Scope::Project => reload(link, Scope::Project, change.project).await?,
        // It keeps what its global file said until something is changed by this route: the one key we took out.
        Scope::Global => {
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
    Err(Error::new(Kind::Upstream, words).hint("another file, nearer to the project, may say otherwise"))
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

/// The text with these keys changed, and all else as it was.
fn edited(text: &str, keys: &[(Vec<String>, Option<Value>)]) -> std::result::Result<String, String> {
    let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| error.to_string())?;
    let top = root.object_value_or_create().ok_or("it is no object")?;
    for (path, value) in keys {
        let Some((last, folders)) = path.split_last() else { continue };
        let mut object: CstObject = top.clone();
        for key in folders {
            object = object.object_value_or_create(key).ok_or_else(|| format!("`{key}` is no object"))?;
        }
        match (object.get(last), value) {
            (Some(property), Some(value)) => property.set_value(input(value)),
            (Some(property), None) => property.remove(),
            (None, Some(value)) => drop(object.append(last, input(value))),
            (None, None) => {}
        }
    }
    Ok(root.to_string())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(bool) => CstInputValue::Bool(*bool),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(object) => {
            CstInputValue::Object(object.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_keeps_comments_and_all_else() {
        #[track_caller]
        fn check(text: &str, path: &[&str], value: Option<Value>, expect: &str) {
            let path = path.iter().map(|key| (*key).to_owned()).collect();
            assert_eq!(edited(text, &[(path, value)]).as_deref(), Ok(expect));
        }
        let text =
            "{\n  // mine\n  \"model\": \"a/b\", /* old */\n  \"mcp\": {\"x\": {\"enabled\": true}},\n}\n";
        let model =
            "{\n  // mine\n  \"model\": \"c/d\", /* old */\n  \"mcp\": {\"x\": {\"enabled\": true}},\n}\n";
        check(text, &["model"], Some(json!("c/d")), model);
        let off =
            "{\n  // mine\n  \"model\": \"a/b\", /* old */\n  \"mcp\": {\"x\": {\"enabled\": false}},\n}\n";
        check(text, &["mcp", "x", "enabled"], Some(json!(false)), off);
        assert!(edited("{\"model\": ", &[]).is_err());
        assert!(edited("[]", &[(vec!["a".into()], None)]).is_err());
        assert!(edited("{\"a\": 1}", &[(vec!["a".into(), "b".into()], Some(json!(1)))]).is_err());
    }
}
