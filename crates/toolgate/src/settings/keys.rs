//! The keys of `toolgate.toml`, listed once: reading, schema, `config show` and reloading all go by this list.

use std::num::NonZeroU8;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolgate_config::{FileSchema, Sections};
use toolgate_packs::{Calendar, Chat, Github, Unready};
use toolgate_upstream::Plan;

use super::Settings;
use crate::upstreams::stand_in;

impl Settings {
    /// Shows every top-level key to a visitor; those that are no tables come first.
    fn each(&mut self, visitor: &mut impl Visitor) {
        visitor.key("transport", "How `toolgate serve` speaks.", &mut self.transport);
        visitor.key("packs", "The packs that are on.", &mut self.packs);
        let mut folder =
            DataDir(Some(std::mem::take(&mut self.data_dir)).filter(|dir| !dir.as_os_str().is_empty()));
        let doc = "The folder for everything that outlives the process. Without it: `toolgate` in the user's data folder.";
        visitor.key("data_dir", doc, &mut folder);
        self.data_dir = folder.0.unwrap_or_default();
        let mut threads = Threads(self.threads);
        let doc = "How many threads carry calls. Without it: half as many as the machine has processors, and at least one.";
        visitor.key("threads", doc, &mut threads);
        self.threads = threads.0;
        visitor.key("http", "Serving over HTTP.", &mut self.http);
        visitor.key("admin", "The admin page at `/admin`, and its API.", &mut self.admin);
        visitor.key("log", "What is logged, always to standard error.", &mut self.log);
        visitor.key("output", "How answers go out.", &mut self.output);
        visitor.key("catalog", "How clients come to know the tools.", &mut self.catalog);
        visitor.key("workspace", "The pack `workspace`: files that agents work on.", &mut self.workspace);
        visitor.key("policy", "Which calls are allowed, denied, or asked about.", &mut self.policy);
        visitor.key("principals", "What is known of callers, by name.", &mut self.principals);
        visitor.key("roles", "What callers with a role may use, by role.", &mut self.roles);
        visitor.key("profiles", "Named views of the catalog.", &mut self.profiles);
        visitor.key("limits", "How often, and how many at once.", &mut self.limits);
        visitor.key("pins", "Tools of other servers whose definition changed.", &mut self.pins);
        visitor.key("audit", "The record of all calls.", &mut self.audit);
        visitor.key("telemetry", "Traces of calls, for an OpenTelemetry collector.", &mut self.telemetry);
        visitor.key("approvals", "Asking a person before a call goes on.", &mut self.approvals);
        visitor.key("mcp", "Other MCP servers, by name.", &mut self.mcp);
        visitor.key("experimental", "What may change or go with any version.", &mut self.experimental);
        visitor.key("store", "What outlives the process.", &mut self.store);
        visitor.key("memory", "The pack `memory`: what agents remember.", &mut self.memory);
        visitor.key(
            "vault",
            "The pack `vault`: notes in Markdown, searched and kept in git.",
            &mut self.vault,
        );
        visitor.key("web", "The pack `web`: pages as text.", &mut self.web);
        visitor.key("chat", "The pack `chat`: messages to people and channels.", &mut self.chat);
        visitor.key("calendar", "The pack `calendar`: events of calendars.", &mut self.calendar);
        visitor.key("github", "The pack `github`: issues and pull requests.", &mut self.github);
        visitor.key("opencode", "The pack `opencode`: a real OpenCode to hand work to.", &mut self.opencode);
        visitor.key(
            "scripts",
            "The pack `script`: scripts that an administrator approved.",
            &mut self.scripts,
        );
        visitor.key("browser", "The pack `browser`: pages in a real Chromium.", &mut self.browser);
    }

    /// What is written in a document; what is not, is as by default.
    pub(super) fn read(sections: &mut Sections<'_>) -> Self {
        let mut settings = Self::default();
        settings.each(&mut Reading(sections));
        for error in [settings.rules().err(), settings.limits(false).err()].into_iter().flatten() {
            for fault in error.faults() {
                sections.refuse(&fault.key, &fault.message, &fault.hint);
            }
        }
        for (name, table) in &settings.mcp {
            // What it refers to is looked up when it is used: a secret may come later.
            if let Err(error) = Plan::new(name, table, |text| Ok(stand_in(text))) {
                sections.refuse(error.key(), error.message(), error.hint());
            }
            if settings.is_pack(name) {
                let hint = "choose another name for the server, or take the pack out of `packs`";
                sections.refuse(&format!("mcp.{name}"), "has the name of a pack", hint);
            }
        }
        // A reference stands for a value here, too.
        let wrong = [
            Chat::new(&settings.chat, |text| Ok(stand_in(text))).err(),
            Calendar::new(&settings.calendar, |text| Ok(stand_in(text))).err(),
            Github::new(&settings.github, |text| Ok(stand_in(text))).err(),
            settings.vault.check().err(),
        ];
        for wrong in wrong.into_iter().flatten() {
            if let Unready::Wrong { key, message, hint } = wrong {
                sections.refuse(&key, &message, hint);
            }
        }
        settings
    }

    /// The value of every top-level key. Among them are secrets.
    pub(crate) fn values(&self) -> Value {
        let mut values = Values(Map::new());
        self.clone().each(&mut values);
        Value::Object(values.0)
    }

    /// The JSON Schema of the file.
    pub(crate) fn schema() -> Value {
        let mut schema = Schema(FileSchema::new());
        Self::default().each(&mut schema);
        schema.0.finish()
    }
}

/// Sees every top-level key, with what it means and its value.
trait Visitor {
    fn key<T: DeserializeOwned + Serialize + JsonSchema>(&mut self, name: &str, doc: &str, value: &mut T);
}

struct Reading<'a, 'b>(&'a mut Sections<'b>);

impl Visitor for Reading<'_, '_> {
    fn key<T: DeserializeOwned + Serialize + JsonSchema>(&mut self, name: &str, _doc: &str, value: &mut T) {
        if let Some(written) = self.0.value(name) {
            *value = written;
        }
    }
}

struct Values(Map<String, Value>);

impl Visitor for Values {
    fn key<T: DeserializeOwned + Serialize + JsonSchema>(&mut self, name: &str, _doc: &str, value: &mut T) {
        // What was read from text can be written as text; a path that is none is left out.
        self.0.insert(name.to_owned(), serde_json::to_value(value).unwrap_or_default());
    }
}

struct Schema(FileSchema);

impl Visitor for Schema {
    fn key<T: DeserializeOwned + Serialize + JsonSchema>(&mut self, name: &str, doc: &str, value: &mut T) {
        self.0 = std::mem::take(&mut self.0).entry(name, doc, value);
    }
}

/// The data folder as it is written: perhaps not at all.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, example = "/path/to/a/folder")]
struct DataDir(Option<PathBuf>);

/// How many threads carry calls. More than a few hundred would only take memory, and a while to start.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, example = 2)]
struct Threads(Option<NonZeroU8>);

#[cfg(test)]
mod tests {
    use toolgate_config::env::VARIABLES;
    use toolgate_config::{Loader, TableDoc, describe, template};
    use toolgate_core::OauthConfig;

    use super::*;

    fn tables() -> Vec<TableDoc> {
        describe(&Settings::schema())
    }

    #[test]
    fn every_variable_sets_a_key_that_exists() {
        let dotted = |table: &TableDoc| {
            let prefix = if table.name.is_empty() { String::new() } else { format!("{}.", table.name) };
            table.keys.iter().map(|key| format!("{prefix}{}", key.name)).collect::<Vec<_>>()
        };
        let known: Vec<String> = tables().iter().flat_map(dotted).collect();
        for variable in VARIABLES {
            let Some(key) = variable.key else { continue };
            assert!(
                known.iter().any(|known| known == key),
                "`{}` sets `{key}`, which nobody reads",
                variable.name
            );
        }
    }

    #[test]
    fn every_key_is_described_and_has_a_value_to_show() {
        for table in tables() {
            assert!(
                table.name.is_empty() || !table.description.is_empty(),
                "`{}` is not described",
                table.name
            );
            for key in &table.keys {
                let name = format!("{}.{}", table.name, key.name);
                assert!(!key.description.is_empty(), "`{name}` is not described");
                assert!(
                    key.default.is_some() || key.example.is_some(),
                    "`{name}` has neither default nor example"
                );
            }
        }
    }

    /// What a file means.
    #[track_caller]
    fn read(text: &str) -> Settings {
        let document = Loader::new().only("toolgate.toml").text(text).load();
        document
            .and_then(|document| document.read(Settings::read))
            .unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    /// What is said of a file that is refused.
    #[track_caller]
    fn refused(text: &str) -> String {
        let document = Loader::new().only("toolgate.toml").text(text).load();
        let read = document.and_then(|document| document.read(Settings::read));
        read.err().unwrap_or_else(|| panic!("this is taken:\n{text}")).to_string()
    }

    #[test]
    fn a_pack_has_its_name_once_it_is_configured() {
        let server = "[mcp.github]\ncommand = 'x'\n";
        read(server);
        read(&format!("packs = ['memory']\n{server}[github]\ntoken = 'sesame-1'"));
        let told = refused(&format!("{server}[github]\ntoken = 'sesame-1'"));
        assert!(told.contains("has the name of a pack"), "{told}");
    }

    #[test]
    fn what_packs_cannot_mean_is_refused_without_the_token() {
        #[track_caller]
        fn check(text: &str, key: &str) {
            let told = refused(text);
            assert!(told.contains(key) && !told.contains("sesame"), "{told}");
        }
        check("[chat]\ntargets = ['slack']", "chat.targets");
        check("[chat.slack]\ntoken = 'sesame 1'", "chat.slack.token");
        check(
            "[chat.discord]\ntoken = 'sesame-1'\nbase_url = 'http://chat.example'",
            "chat.discord.base_url",
        );
        check("[github]\ntoken = 'sesame-1'\nrepos = ['octo']", "github.repos");
        check("[vault.git]\nurl = 'https://me:sesame@git.example/x'", "vault.git.url");
        check("[vault.git]\nurl = 'http://git.example/x'\ntoken = 'sesame-1'", "vault.git.url");
        check("[vault.git]\nauthor = 'me'", "vault.git.author");
        read("[github]\ntoken = '{secret:GITHUB_TOKEN}'");
        check("[calendar.feeds.x]\nurl = 'http://h.example/sesame'", "calendar.feeds.x.url");
        check("[calendar.feeds.\"a b\"]\nurl = 'sesame'", "calendar.feeds.\"a b\".url");
        check("[calendar.feeds.x]\nurl = ['https://h.example/sesame']", "calendar.feeds.x.url");
        check("[calendar.feeds.x]\nurl = 'https://h.example/sesame'\nfile = 'x'", "calendar.feeds.x");
        check("[calendar]\ntime_zone = 'Mars/Olympus'", "calendar.time_zone");
        read("[calendar.feeds.x]\nurl = '{secret:WORK_CALENDAR}'\n[calendar.feeds.y]\nfile = 'y.ics'");
    }

    #[test]
    fn the_commented_file_means_the_defaults() {
        assert!(read(&template(&tables())) == Settings::default());
    }

    #[test]
    fn every_line_of_the_commented_file_can_be_made_to_count() {
        let text = template(&tables());
        let lines: Vec<&str> = text.lines().collect();
        let is_key = |line: &str| line.starts_with('#') && !line.starts_with("# ");
        let mut all = Vec::new();
        for (number, line) in lines.iter().enumerate().filter(|(_, line)| is_key(line)) {
            let mut changed = lines.clone();
            changed[number] = &line[1..];
            read(&changed.join("\n"));
            all.push(number);
        }
        assert!(all.len() >= 15, "there are keys to try: {all:?}");
        let every: Vec<&str> =
            lines.iter().map(|line| if is_key(line) { &line[1..] } else { line }).collect();
        let every = read(&every.join("\n"));
        // What has no default has an example there.
        let unset = Settings {
            http: toolgate_front::http::HttpConfig {
                token: None,
                public_url: None,
                oauth: OauthConfig::default(),
                ..every.http
            },
            workspace: toolgate_packs::workspace::WorkspaceConfig { root: None, ..every.workspace },
            memory: toolgate_packs::memory::MemoryConfig { root: None, ..every.memory },
            vault: toolgate_packs::vault::VaultConfig::default(),
            chat: toolgate_packs::chat::ChatConfig::default(),
            calendar: toolgate_packs::calendar::CalendarConfig { time_zone: None, ..every.calendar },
            github: toolgate_packs::github::GithubConfig::default(),
            opencode: toolgate_opencode::OpencodeConfig::default(),
            scripts: toolgate_script::ScriptsConfig::default(),
            browser: toolgate_browser::BrowserConfig::default(),
            store: toolgate_store::StoreConfig::default(),
            output: crate::settings::OutputConfig { limit: None, ..every.output },
            catalog: crate::settings::CatalogConfig { search_above: None, ..every.catalog },
            telemetry: toolgate_telemetry::TelemetryConfig { endpoint: None, ..every.telemetry },
            experimental: Default::default(),
            data_dir: PathBuf::new(),
            threads: None,
            ..every
        };
        assert!(unset == Settings::default(), "the values that are shown are the defaults");
    }
}
