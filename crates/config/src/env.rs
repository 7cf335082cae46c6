//! Every environment variable, and the only place that reads them.
//!
//! An empty variable counts as one that is not set. A list stands between commas. Where a variable of ours
//! and one of the systems that Toolgate unites set the same key, ours wins.

mod environment;
mod overlay;

pub use environment::{Environment, process_environment};
pub(crate) use overlay::{overlay, warnings};

/// The configuration file to read.
pub const CONFIG: &str = "TOOLGATE_CONFIG";
/// The folder for everything that outlives the process.
pub const DATA_DIR: &str = "TOOLGATE_DATA_DIR";
/// The key that secrets are kept under.
pub const SECRET_KEY: &str = "TOOLGATE_SECRET_KEY";
/// The configuration files and data folders of the hubs in front of this one, each a server of the one before.
pub const ABOVE: &str = "TOOLGATE_ABOVE";
/// The user's home folder.
pub const HOME: &str = "HOME";
/// The folder of the user's configuration files.
pub const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";
/// The folder of the user's data files.
pub const XDG_DATA_HOME: &str = "XDG_DATA_HOME";
/// The folder of the user's sockets, by which `systemctl` finds the user's systemd.
pub const XDG_RUNTIME_DIR: &str = "XDG_RUNTIME_DIR";
/// The user's message bus, by which `systemctl` finds the user's systemd.
pub const DBUS_SESSION_BUS_ADDRESS: &str = "DBUS_SESSION_BUS_ADDRESS";
/// The folders that programs are looked for in.
pub const PATH: &str = "PATH";
/// The socket of the agent that holds the user's keys for SSH, which git pushes and pulls with.
pub const SSH_AUTH_SOCK: &str = "SSH_AUTH_SOCK";
/// The Chromium or Chrome that the browser tools start.
pub const CHROME_PATH: &str = "CHROME_PATH";
/// The screen of the user under X, where there may be a browser.
pub const DISPLAY: &str = "DISPLAY";
/// The screen of the user under Wayland, where there may be a browser.
pub const WAYLAND_DISPLAY: &str = "WAYLAND_DISPLAY";
/// The name of the Linux under Windows, where there is a browser.
pub const WSL_DISTRO_NAME: &str = "WSL_DISTRO_NAME";
/// Set to anything: no colour.
pub const NO_COLOR: &str = "NO_COLOR";

/// What the variables of our own begin with.
pub const PREFIX: &str = "TOOLGATE_";

/// An environment variable and what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// The dotted key it sets, if it sets one.
    pub key: Option<&'static str>,
    /// How its text is read.
    pub kind: Kind,
    /// What it means, in one sentence.
    pub doc: &'static str,
    /// Whether it is taken over from a system that Toolgate unites.
    pub seed: bool,
}

/// How the text of a variable is read.
///
/// Text that does not fit stays text: whoever reads the key then says what it expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// As it stands.
    Text,
    /// One of a few words, in any case.
    Word,
    /// `true` or `false`, `yes` or `no`, `on` or `off`, `1` or `0`.
    Boolean,
    /// A whole number.
    Integer,
    /// Items between commas.
    List,
    /// A path, which counts from the working folder.
    Path,
}

const fn ours(name: &'static str, key: &'static str, kind: Kind, doc: &'static str) -> Variable {
    Variable { name, key: Some(key), kind, doc, seed: false }
}

const fn seed(name: &'static str, key: &'static str, kind: Kind, doc: &'static str) -> Variable {
    Variable { name, key: Some(key), kind, doc, seed: true }
}

const fn outside(name: &'static str, kind: Kind, doc: &'static str) -> Variable {
    Variable { name, key: None, kind, doc, seed: false }
}

/// Every variable that Toolgate reads.
pub const VARIABLES: &[Variable] = &[
    outside(CONFIG, Kind::Path, "The configuration file to read, as `--config`."),
    ours(DATA_DIR, "data_dir", Kind::Path, "The folder for everything that outlives the process."),
    ours(
        "TOOLGATE_STORE_URL",
        "store.url",
        Kind::Text,
        "The PostgreSQL database or SQLite file of the store.",
    ),
    outside(
        SECRET_KEY,
        Kind::Text,
        "The key that secrets are kept under, 32 bytes in base64 or hex, instead of the file `secret.key`.",
    ),
    outside(
        ABOVE,
        Kind::Text,
        "The files and folders of the hubs in front of this one, as JSON; set for programs of upstreams, against circles.",
    ),
    ours("TOOLGATE_TRANSPORT", "transport", Kind::Word, "How `serve` speaks: `stdio` or `http`."),
    ours("TOOLGATE_PACKS", "packs", Kind::List, "The packs that are on."),
    ours("TOOLGATE_WORKSPACE", "workspace.root", Kind::Path, "The folder of the workspace."),
    ours("TOOLGATE_MEMORY", "memory.root", Kind::Path, "The folder of the memory files."),
    ours("TOOLGATE_VAULT", "vault.root", Kind::Path, "The folder of the notes."),
    ours("TOOLGATE_HTTP_HOST", "http.bind", Kind::Text, "The address that HTTP listens on."),
    ours(
        "TOOLGATE_HTTP_PORT",
        "http.port",
        Kind::Integer,
        "The port that HTTP listens on; 0 takes a free one.",
    ),
    ours("TOOLGATE_HTTP_CORS_ORIGINS", "http.cors_origins", Kind::List, "The web origins that may call."),
    ours(
        "TOOLGATE_HTTP_ALLOWED_HOSTS",
        "http.allowed_hosts",
        Kind::List,
        "The `Host` names that are answered.",
    ),
    ours("TOOLGATE_HTTP_SESSIONS", "http.sessions", Kind::Boolean, "Whether HTTP keeps sessions."),
    ours(
        "TOOLGATE_HTTP_TOKEN",
        "http.token",
        Kind::Text,
        "The secret that every client of HTTP has to send.",
    ),
    ours(
        "TOOLGATE_LOG_LEVEL",
        "log.level",
        Kind::Word,
        "What is logged: `debug`, `info`, `warn`, `error` or `none`.",
    ),
    ours("TOOLGATE_LOG_FORMAT", "log.format", Kind::Word, "How log lines look: `text` or `json`."),
    ours(
        "TOOLGATE_LOG_TIMESTAMPS",
        "log.timestamps",
        Kind::Boolean,
        "Whether log lines begin with the time.",
    ),
    seed("MCP_TRANSPORT", "transport", Kind::Word, "As `TOOLGATE_TRANSPORT`."),
    seed("MCP_HTTP_HOST", "http.bind", Kind::Text, "As `TOOLGATE_HTTP_HOST`."),
    seed("MCP_HTTP_PORT", "http.port", Kind::Integer, "As `TOOLGATE_HTTP_PORT`."),
    seed("MCP_CORS_ORIGINS", "http.cors_origins", Kind::List, "As `TOOLGATE_HTTP_CORS_ORIGINS`."),
    seed("OPENCODE_LOG_LEVEL", "log.level", Kind::Word, "As `TOOLGATE_LOG_LEVEL`."),
    seed("OPENCODE_LOG_TIMESTAMP", "log.timestamps", Kind::Boolean, "As `TOOLGATE_LOG_TIMESTAMPS`."),
    seed("OPENCODE_SERVER_URL", "opencode.server_url", Kind::Text, "The address of the OpenCode server."),
    seed(
        "OPENCODE_TIMEOUT",
        "opencode.timeout",
        Kind::Integer,
        "How long OpenCode may be silent, in milliseconds.",
    ),
    seed(
        "OPENCODE_CONFIG_PATH",
        "opencode.config_path",
        Kind::Path,
        "The `opencode.json` to read and to change.",
    ),
    seed("OPENCODE_SERVER_PASSWORD", "opencode.password", Kind::Text, "The password of the OpenCode server."),
    seed("OPENCODE_SERVER_USERNAME", "opencode.username", Kind::Text, "The name to sign in with there."),
    seed(
        "OPENCODE_DEFAULT_MODEL",
        "opencode.default_model",
        Kind::Text,
        "The model of new sessions where neither the caller nor the agent names one.",
    ),
    seed(
        "OPENCODE_DEFAULT_PROJECT",
        "opencode.default_project",
        Kind::Path,
        "The project of calls that name none.",
    ),
    seed(
        "OPENCODE_AUTO_START",
        "opencode.auto_start",
        Kind::Boolean,
        "Whether an OpenCode is started when none answers.",
    ),
    outside(HOME, Kind::Path, "The user's home folder."),
    outside(XDG_CONFIG_HOME, Kind::Path, "The folder of the user's configuration files."),
    outside(XDG_DATA_HOME, Kind::Path, "The folder of the user's data files."),
    outside(XDG_RUNTIME_DIR, Kind::Path, "The folder of the user's sockets, for `toolgate service`."),
    outside(DBUS_SESSION_BUS_ADDRESS, Kind::Text, "The user's message bus, for `toolgate service`."),
    outside("USERPROFILE", Kind::Path, "The user's home folder on Windows, for `toolgate setup`."),
    outside("APPDATA", Kind::Path, "The folder of programs' settings on Windows, for `toolgate setup`."),
    outside("CLAUDE_CONFIG_DIR", Kind::Path, "The folder of Claude Code's files, for `toolgate setup`."),
    outside("CODEX_HOME", Kind::Path, "The folder of Codex's files, for `toolgate setup`."),
    outside(PATH, Kind::Text, "The folders that programs are looked for in."),
    outside(
        SSH_AUTH_SOCK,
        Kind::Path,
        "The socket of the agent that holds the user's keys, for the vault's git.",
    ),
    outside(
        "HTTPS_PROXY",
        Kind::Text,
        "The proxy to servers at `https` addresses, where their tables name none.",
    ),
    outside("HTTP_PROXY", Kind::Text, "The proxy to servers at `http` addresses."),
    outside("ALL_PROXY", Kind::Text, "The proxy to servers where neither of these is set."),
    outside("NO_PROXY", Kind::Text, "The hosts that are reached without a proxy."),
    outside(CHROME_PATH, Kind::Path, "The Chromium or Chrome that the tools of `browser` start."),
    outside(
        DISPLAY,
        Kind::Text,
        "The screen of the user under X, where `toolgate mcp auth` opens a browser.",
    ),
    outside(WAYLAND_DISPLAY, Kind::Text, "The same under Wayland."),
    outside(WSL_DISTRO_NAME, Kind::Text, "The name of the Linux under Windows, where there is a browser."),
    outside(NO_COLOR, Kind::Text, "Set to anything: no colour."),
];
