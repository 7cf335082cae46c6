//! Where the clients of a user keep their files, on each system.

use std::path::{Path, PathBuf};

use crate::client::Client;

/// A family of operating systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Linux, and what follows the same customs.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl System {
    /// The one that this program was built for.
    #[must_use]
    pub const fn here() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::MacOs
        } else {
            Self::Linux
        }
    }
}

/// Whose servers a file lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// Those of the user, in every project.
    User,
    /// Those of everyone who works in this folder.
    Project(PathBuf),
}

/// The folders of a user in which clients keep their files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    home: PathBuf,
    /// Where desktop programs keep their settings.
    settings: PathBuf,
    /// Where programs that follow the XDG specification on every system keep theirs.
    xdg: PathBuf,
    claude: Option<PathBuf>,
    codex: Option<PathBuf>,
}

/// The environment names no home folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no home folder: `{0}` is not set\nhint: set it to the folder that the clients' files are in"
)]
pub struct NoHome(&'static str);

impl Folders {
    /// The variables that [`Folders::new`] asks for.
    pub const VARIABLES: [&str; 6] =
        ["HOME", "USERPROFILE", "APPDATA", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"];

    /// The folders of the user with these variables.
    ///
    /// # Errors
    /// There is no home folder.
    pub fn new(system: System, variable: impl Fn(&str) -> Option<String>) -> Result<Self, NoHome> {
        // A relative path would count from a working folder that the client does not share.
        let folder = |name| variable(name).map(PathBuf::from).filter(|path| path.has_root());
        let home_variable = if system == System::Windows { "USERPROFILE" } else { "HOME" };
        let home = folder(home_variable).ok_or(NoHome(home_variable))?;
        let xdg = folder("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        let settings = match system {
            System::Linux => xdg.clone(),
            System::MacOs => home.join("Library/Application Support"),
            System::Windows => folder("APPDATA").unwrap_or_else(|| home.join("AppData/Roaming")),
        };
        Ok(Self { settings, xdg, claude: folder("CLAUDE_CONFIG_DIR"), codex: folder("CODEX_HOME"), home })
    }

    /// The user's home folder.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The files that a client reads, most usual first; none if it has no such scope.
    #[must_use]
    pub fn files(&self, client: Client, scope: &Scope) -> Vec<PathBuf> {
        match scope {
            Scope::User => self.user(client),
            Scope::Project(folder) => project(client).iter().map(|file| folder.join(file)).collect(),
        }
    }

    fn user(&self, client: Client) -> Vec<PathBuf> {
        let below = |folder: &Path, files: &[&str]| files.iter().map(|file| folder.join(file)).collect();
        match client {
            Client::ClaudeDesktop => below(&self.settings, &["Claude/claude_desktop_config.json"]),
            Client::ClaudeCode => below(self.claude.as_ref().unwrap_or(&self.home), &[".claude.json"]),
            Client::Cursor => below(&self.home, &[".cursor/mcp.json"]),
            Client::VsCode => below(
                &self.settings,
                &["Code/User/mcp.json", "Code - Insiders/User/mcp.json", "VSCodium/User/mcp.json"],
            ),
            Client::Windsurf => below(
                &self.home,
                &[".codeium/windsurf/mcp_config.json", ".codeium/windsurf-next/mcp_config.json"],
            ),
            Client::OpenCode => below(
                &self.xdg,
                &["opencode/opencode.json", "opencode/opencode.jsonc", "opencode/config.json"],
            ),
            Client::Codex => below(&self.codex_home(), &["config.toml"]),
        }
    }

    /// Whether a client seems to be installed: it has its file, or a folder with something in it.
    #[must_use]
    pub fn is_installed(&self, client: Client) -> bool {
        let has_content =
            |folder: &PathBuf| folder.read_dir().is_ok_and(|mut entries| entries.next().is_some());
        self.user(client).iter().any(|file| file.exists()) || self.marks(client).iter().any(has_content)
    }

    /// The folders that a client makes when it is first started.
    fn marks(&self, client: Client) -> Vec<PathBuf> {
        let (home, settings) = (&self.home, &self.settings);
        match client {
            Client::ClaudeDesktop => vec![settings.join("Claude")],
            Client::ClaudeCode => vec![self.claude.clone().unwrap_or_else(|| home.join(".claude"))],
            Client::Cursor => vec![home.join(".cursor"), settings.join("Cursor")],
            Client::VsCode => {
                ["Code", "Code - Insiders", "VSCodium"].map(|name| settings.join(name)).to_vec()
            }
            Client::Windsurf => vec![
                home.join(".codeium/windsurf"),
                home.join(".codeium/windsurf-next"),
                settings.join("Windsurf"),
            ],
            Client::OpenCode => vec![self.xdg.join("opencode")],
            Client::Codex => vec![self.codex_home()],
        }
    }

    fn codex_home(&self) -> PathBuf {
        self.codex.clone().unwrap_or_else(|| self.home.join(".codex"))
    }
}

/// The files in a project's folder.
fn project(client: Client) -> &'static [&'static str] {
    match client {
        Client::ClaudeDesktop | Client::Windsurf => &[],
        Client::ClaudeCode => &[".mcp.json"],
        Client::Cursor => &[".cursor/mcp.json"],
        Client::VsCode => &[".vscode/mcp.json"],
        Client::OpenCode => &["opencode.json", "opencode.jsonc"],
        Client::Codex => &[".codex/config.toml"],
    }
}
