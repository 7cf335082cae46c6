//! Everything that is configured.

mod approvals;
mod catalog;
mod change;
mod keys;
mod source;
mod watch;

use std::collections::BTreeMap;
use std::num::{NonZeroU8, NonZeroUsize};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_admin::AdminConfig;
use toolgate_audit::AuditConfig;
use toolgate_browser::BrowserConfig;
use toolgate_config::LogConfig;
use toolgate_front::http::HttpConfig;
use toolgate_opencode::OpencodeConfig;
use toolgate_packs::calendar::CalendarConfig;
use toolgate_packs::chat::ChatConfig;
use toolgate_packs::github::GithubConfig;
use toolgate_packs::memory::MemoryConfig;
use toolgate_packs::vault::VaultConfig;
use toolgate_packs::web::WebConfig;
use toolgate_packs::workspace::WorkspaceConfig;
use toolgate_policy::config::{
    LimitsConfig, PinsConfig, PolicyConfig, PrincipalConfig, ProfileConfig, RoleConfig,
};
use toolgate_policy::{Compiled, Known, LimitSettings, Policy, PolicyError};
use toolgate_script::ScriptsConfig;
use toolgate_store::StoreConfig;
use toolgate_telemetry::TelemetryConfig;
use toolgate_upstream::UpstreamConfig;

pub(crate) use approvals::ApprovalsConfig;
pub(crate) use catalog::CatalogConfig;
pub(crate) use source::{Loaded, Sources, check};
pub(crate) use watch::{Reloaded, Reloader, watch};

use crate::cli::Cli;

/// How `serve` speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Transport {
    /// Over standard input and output.
    #[default]
    Stdio,
    /// Over HTTP.
    Http,
}

/// A pack that can be switched on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PackName {
    /// Files of the workspace.
    Workspace,
    /// What an agent remembers.
    Memory,
    /// Notes, searched and kept in git.
    Vault,
    /// Pages of the web.
    Web,
    /// A real OpenCode.
    Opencode,
    /// Messages to people.
    Chat,
    /// Events of calendars.
    Calendar,
    /// Issues and pull requests.
    Github,
    /// Approved scripts.
    Script,
    /// Pages in a real Chromium.
    Browser,
}

impl PackName {
    /// Every pack.
    pub(crate) const ALL: [Self; 10] = [
        Self::Workspace,
        Self::Memory,
        Self::Vault,
        Self::Web,
        Self::Opencode,
        Self::Chat,
        Self::Calendar,
        Self::Github,
        Self::Script,
        Self::Browser,
    ];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::Memory => "memory",
            Self::Vault => "vault",
            Self::Web => "web",
            Self::Chat => "chat",
            Self::Calendar => "calendar",
            Self::Github => "github",
            Self::Opencode => "opencode",
            Self::Script => "script",
            Self::Browser => "browser",
        }
    }

    /// The table of the configuration that it is set by.
    pub(crate) fn table(self) -> &'static str {
        if self == Self::Script { "scripts" } else { self.word() }
    }
}

/// How answers go out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OutputConfig {
    /// Write the JSON texts of built-in tools without indentation.
    pub(crate) compact: bool,
    /// How many bytes of text a tool may answer with. A longer answer is cut, and links to a resource that holds the
    /// whole for an hour. Without it: as many as it likes.
    #[schemars(example = 100_000)]
    pub(crate) limit: Option<NonZeroUsize>,
}

/// What may change or go with any version.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ExperimentalConfig {
    /// How many milliseconds an answer of another MCP server may take, where its own table does not say. Default:
    /// 30000.
    #[schemars(range(min = 1), example = 60_000)]
    pub(crate) mcp_timeout: Option<u64>,
}

/// Everything that is configured. `keys.rs` lists what of it can be written in a file, once.
#[derive(Clone, PartialEq)]
pub(crate) struct Settings {
    pub(crate) transport: Transport,
    pub(crate) packs: Vec<PackName>,
    /// How many threads carry calls, where not as many as [`toolgate_host::threads()`] says.
    pub(crate) threads: Option<NonZeroU8>,
    pub(crate) http: HttpConfig,
    pub(crate) admin: AdminConfig,
    pub(crate) log: LogConfig,
    pub(crate) output: OutputConfig,
    pub(crate) catalog: CatalogConfig,
    pub(crate) workspace: WorkspaceConfig,
    pub(crate) memory: MemoryConfig,
    pub(crate) vault: VaultConfig,
    pub(crate) web: WebConfig,
    pub(crate) chat: ChatConfig,
    pub(crate) calendar: CalendarConfig,
    pub(crate) github: GithubConfig,
    pub(crate) opencode: OpencodeConfig,
    pub(crate) scripts: ScriptsConfig,
    pub(crate) browser: BrowserConfig,
    pub(crate) store: StoreConfig,
    pub(crate) policy: PolicyConfig,
    pub(crate) principals: BTreeMap<String, PrincipalConfig>,
    pub(crate) roles: BTreeMap<String, RoleConfig>,
    pub(crate) profiles: BTreeMap<String, ProfileConfig>,
    pub(crate) limits: LimitsConfig,
    pub(crate) pins: PinsConfig,
    pub(crate) audit: AuditConfig,
    pub(crate) telemetry: TelemetryConfig,
    pub(crate) approvals: ApprovalsConfig,
    pub(crate) mcp: BTreeMap<String, UpstreamConfig>,
    pub(crate) experimental: ExperimentalConfig,
    pub(crate) data_dir: PathBuf,
    /// Our file, if there is one.
    pub(crate) file: Option<PathBuf>,
    /// The files whose change may change the settings.
    pub(crate) looked_for: Vec<PathBuf>,
    pub(crate) warnings: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            transport: Transport::default(),
            packs: PackName::ALL.to_vec(),
            threads: None,
            http: HttpConfig::default(),
            admin: AdminConfig::default(),
            log: LogConfig::default(),
            output: OutputConfig::default(),
            catalog: CatalogConfig::default(),
            workspace: WorkspaceConfig::default(),
            memory: MemoryConfig::default(),
            vault: VaultConfig::default(),
            web: WebConfig::default(),
            chat: ChatConfig::default(),
            calendar: CalendarConfig::default(),
            github: GithubConfig::default(),
            opencode: OpencodeConfig::default(),
            scripts: ScriptsConfig::default(),
            browser: BrowserConfig::default(),
            store: StoreConfig::default(),
            policy: PolicyConfig::default(),
            principals: BTreeMap::new(),
            roles: BTreeMap::new(),
            profiles: BTreeMap::new(),
            limits: LimitsConfig::default(),
            pins: PinsConfig::default(),
            audit: AuditConfig::default(),
            telemetry: TelemetryConfig::default(),
            approvals: ApprovalsConfig::default(),
            mcp: BTreeMap::new(),
            experimental: ExperimentalConfig::default(),
            data_dir: PathBuf::new(),
            file: None,
            looked_for: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

impl Settings {
    /// How often, and how many at once; as often as anyone likes where the tools are those of a test.
    pub(crate) fn limits(&self, fixtures: bool) -> Result<LimitSettings, PolicyError> {
        let limits = LimitSettings::load(&self.limits, &self.principals)?;
        Ok(if fixtures { limits.at_any_pace() } else { limits })
    }

    /// Whether a name is taken by a pack; one that is not configured leaves its name to a server.
    pub(crate) fn is_pack(&self, name: &str) -> bool {
        let wanted = |pack: &PackName| match pack {
            PackName::Workspace
            | PackName::Memory
            | PackName::Web
            | PackName::Opencode
            | PackName::Script
            | PackName::Browser => true,
            PackName::Vault => self.vault.root.is_some(),
            PackName::Chat => self.chat.tokens().next().is_some(),
            PackName::Calendar => !self.calendar.feeds.is_empty(),
            PackName::Github => self.github.token.is_some(),
        };
        self.packs.iter().any(|pack| pack.word() == name && wanted(pack))
    }

    /// The policy as it is written, or all that is wrong with it.
    pub(crate) fn rules(&self) -> Result<Compiled, PolicyError> {
        let Self { policy, principals, roles, profiles, .. } = self;
        let upstreams = self.mcp.keys().map(String::as_str);
        let built_in = PackName::ALL.map(PackName::word);
        let sources: Vec<&str> = built_in.into_iter().chain(["fixtures"]).chain(upstreams).collect();
        Policy { policy, principals, roles, profiles }.load(&Known { sources: &sources })
    }
}

/// Reads files, environment and flags.
pub(crate) fn load(cli: &Cli) -> anyhow::Result<Settings> {
    Ok(Sources::of(cli)?.load()?.settings)
}
