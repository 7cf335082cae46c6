//! The files that are looked into, and the lists of servers in them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Look;
use crate::client::Client;
use crate::disk;
use crate::folders::Scope;
use crate::format::{Fault, Format};
use crate::problem::Problem;
use crate::server::Entry;
use crate::shape;
use crate::text::{self, Text};

/// The key below which Claude Code keeps what concerns one project.
const PROJECTS: &str = "projects";

/// A list of servers in a file.
pub(super) struct List {
    pub(super) client: Client,
    pub(super) file: PathBuf,
    pub(super) container: Vec<String>,
    /// The folder that the client starts these servers in, where it is always the same.
    pub(super) base: Option<PathBuf>,
    pub(super) entries: Vec<Entry>,
    /// What VS Code asks for before it starts a server.
    pub(super) inputs: Vec<Value>,
}

/// The files of a client, the user's first, each with the folder of the project that it belongs to.
pub(super) fn files(client: Client, look: &Look<'_>) -> Vec<(PathBuf, Option<PathBuf>)> {
    let mut users = look.folders.files(client, &Scope::User);
    let mut projects = look.folders.files(client, &Scope::Project(look.project.to_owned()));
    if client == Client::OpenCode {
        users.push(look.folders.home().join(".opencode/config.toml"));
        let below = |file: &str| look.project.join(".opencode").join(file);
        projects.extend(["opencode.json", "opencode.jsonc", "config.toml"].map(below));
    }
    // Whoever works in the home folder has one file as both.
    projects.retain(|file| !users.contains(file));
    let of_user = users.into_iter().map(|file| (file, None));
    of_user.chain(projects.into_iter().map(|file| (file, Some(look.project.to_owned())))).collect()
}

/// The language of a file, which is not always the one that its client writes now.
pub(super) fn format(client: Client, file: &Path) -> Format {
    let is_toml = file.extension().is_some_and(|extension| extension == "toml");
    if is_toml { Format::Toml } else { client.about().format }
}

/// All lists of a file; none if it is not there.
pub(super) fn read(client: Client, file: &Path, base: Option<PathBuf>) -> Result<Vec<List>, Problem> {
    let Some(bytes) = disk::read(file)? else { return Ok(Vec::new()) };
    let content = Text::read(&bytes).map_err(|place| {
        Problem::new(file, "is not a text in UTF-8").at(place).hint("save it as UTF-8 in an editor")
    })?;
    let reader = Reader { client, file, format: format(client, file), content: &content };
    let container = client.about().container;
    let mut lists = vec![reader.list(&[container], base)?];
    match client {
        Client::ClaudeCode => lists.extend(reader.projects()?),
        // The newer form of OpenCode's file has the servers one level below.
        Client::OpenCode if reader.format == Format::Json => {
            let below = reader.below(&mut lists[0]);
            lists.extend(below);
        }
        Client::VsCode => lists[0].inputs = reader.inputs(),
        Client::ClaudeDesktop | Client::Cursor | Client::Windsurf | Client::OpenCode | Client::Codex => {}
    }
    Ok(lists)
}

struct Reader<'a> {
    client: Client,
    file: &'a Path,
    format: Format,
    content: &'a Text,
}

impl Reader<'_> {
    fn list(&self, path: &[&str], base: Option<PathBuf>) -> Result<List, Problem> {
        let read = |(name, written): (String, Value)| shape::entry(&name, written);
        let entries = self.entries(path)?.into_iter().map(read).collect();
        Ok(self.of(path, base, entries))
    }

    fn of(&self, path: &[&str], base: Option<PathBuf>, entries: Vec<Entry>) -> List {
        List {
            client: self.client,
            file: self.file.to_owned(),
            container: path.iter().map(ToString::to_string).collect(),
            base,
            entries,
            inputs: Vec::new(),
        }
    }

    fn entries(&self, path: &[&str]) -> Result<Vec<(String, Value)>, Problem> {
        self.format.entries(&self.content.text, path).map_err(|fault| {
            let Fault { offset, message, hint } = fault;
            Problem::new(self.file, message).at(text::place(&self.content.text, offset)).hint(hint)
        })
    }

    /// The lists of every project in Claude Code's own file.
    fn projects(&self) -> Result<Vec<List>, Problem> {
        let container = self.client.about().container;
        let mut lists = Vec::new();
        for (folder, project) in self.entries(&[PROJECTS])? {
            let Some(servers) = project.get(container).and_then(Value::as_object) else { continue };
            let read = |(name, written): (&String, &Value)| shape::entry(name, written.clone());
            let entries = servers.iter().map(read).collect();
            lists.push(self.of(&[PROJECTS, &folder, container], Some(folder.clone().into()), entries));
        }
        Ok(lists)
    }

    /// The list at `mcp.servers`; what is no server of the outer one goes from that.
    fn below(&self, outer: &mut List) -> Option<List> {
        let settings = ["servers", "timeout"];
        let is_setting = |entry: &Entry| settings.contains(&&*entry.name) && entry.server.is_none();
        outer.entries.retain(|entry| !is_setting(entry));
        let container = self.client.about().container;
        let list = self.list(&[container, settings[0]], outer.base.clone()).ok()?;
        (!list.entries.is_empty() && list.entries.iter().all(|entry| entry.written.is_object()))
            .then_some(list)
    }

    fn inputs(&self) -> Vec<Value> {
        let root = self.format.entries(&self.content.text, &[]).unwrap_or_default();
        let inputs = root.into_iter().find(|(key, _)| key == "inputs");
        inputs.and_then(|(_, inputs)| inputs.as_array().cloned()).unwrap_or_default()
    }
}
