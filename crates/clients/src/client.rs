//! The table of clients.

use std::fmt;
use std::str::FromStr;

use crate::format::Format;
use crate::shape::Shape;

/// A program that uses MCP servers, and keeps their list in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    /// Claude Desktop.
    ClaudeDesktop,
    /// Claude Code.
    ClaudeCode,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    VsCode,
    /// Windsurf.
    Windsurf,
    /// OpenCode.
    OpenCode,
    /// Codex.
    Codex,
}

/// What is to know of a client's file.
pub(crate) struct About {
    id: &'static str,
    title: &'static str,
    pub(crate) format: Format,
    /// The key of the object that holds the entries.
    pub(crate) container: &'static str,
    pub(crate) shape: Shape,
    next_step: &'static str,
}

impl Client {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::Cursor,
        Self::VsCode,
        Self::Windsurf,
        Self::OpenCode,
        Self::Codex,
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn id(self) -> &'static str {
        self.about().id
    }

    /// Its name as its makers write it.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.about().title
    }

    /// What its user does so that it reads a changed file: a fragment.
    #[must_use]
    pub fn next_step(self) -> &'static str {
        self.about().next_step
    }

    /// Whether its file can name a server that runs elsewhere.
    #[must_use]
    pub fn takes_remote(self) -> bool {
        self.about().shape != Shape::LocalOnly
    }

    pub(crate) fn about(self) -> &'static About {
        match self {
            Self::ClaudeDesktop => &About {
                id: "claude-desktop",
                title: "Claude Desktop",
                format: Format::Json,
                container: "mcpServers",
                shape: Shape::LocalOnly,
                next_step: "quit Claude Desktop and start it again",
            },
            Self::ClaudeCode => &About {
                id: "claude-code",
                title: "Claude Code",
                format: Format::Json,
                container: "mcpServers",
                shape: Shape::Typed,
                next_step: "start `claude` again; `/mcp` shows it",
            },
            Self::Cursor => &About {
                id: "cursor",
                title: "Cursor",
                format: Format::Json,
                container: "mcpServers",
                shape: Shape::Plain,
                next_step: "restart Cursor, and see that it is switched on among the MCP servers of its settings",
            },
            Self::VsCode => &About {
                id: "vscode",
                title: "VS Code",
                format: Format::Json,
                container: "servers",
                shape: Shape::Typed,
                next_step: "run `MCP: List Servers` in the command palette and start it",
            },
            Self::Windsurf => &About {
                id: "windsurf",
                title: "Windsurf",
                format: Format::Json,
                container: "mcpServers",
                shape: Shape::ServerUrl,
                next_step: "refresh the MCP servers in Cascade, or restart Windsurf",
            },
            Self::OpenCode => &About {
                id: "opencode",
                title: "OpenCode",
                format: Format::Json,
                container: "mcp",
                shape: Shape::OpenCode,
                next_step: "start `opencode` again; `opencode mcp list` shows it",
            },
            Self::Codex => &About {
                id: "codex",
                title: "Codex",
                format: Format::Toml,
                container: "mcp_servers",
                shape: Shape::Codex,
                next_step: "start `codex` again; `/mcp` shows it",
            },
        }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

/// There is no client of that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no client `{0}`")]
pub struct UnknownClient(String);

impl FromStr for Client {
    type Err = UnknownClient;

    fn from_str(id: &str) -> Result<Self, UnknownClient> {
        Self::ALL.into_iter().find(|client| client.id() == id).ok_or_else(|| UnknownClient(id.to_owned()))
    }
}
