//! The program on the other end of a call, and what it can do.

use std::str::FromStr;
use std::sync::Arc;

use toolgate_wire::{Era, Raw, Version, meta};

use crate::ClientName;

/// How a client is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// This process's standard input and output.
    Stdio,
    /// The standard input and output of another process on this machine, which attached itself to this one.
    Attached,
    /// Streamable HTTP.
    Http,
    /// The old HTTP with server-sent events.
    Sse,
    /// No client: a command or the admin page, in this process.
    Local,
}

impl Transport {
    /// The word for it, in metrics, records and for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Attached => "attached",
            Self::Http => "http",
            Self::Sse => "sse",
            Self::Local => "local",
        }
    }
}

/// The program on the other end of a call.
#[derive(Debug, Clone)]
pub struct Client {
    /// The protocol revision it speaks.
    pub version: Version,
    /// What it declared it can do.
    pub capabilities: Capabilities,
    /// How it is connected.
    pub transport: Transport,
    /// Whether a request can be sent to it while a call runs. The modern era asks by result and always can.
    pub reachable: bool,
    /// What it calls itself, where it has said so.
    pub name: Option<Arc<ClientName>>,
    /// The extensions it declared: an object, from [`carried_extensions`](crate::carried_extensions) on to others.
    pub extensions: Option<Raw>,
}

impl Client {
    /// A client that declared nothing, such as a bare `curl`.
    pub fn unknown(transport: Transport) -> Self {
        Self {
            version: Version::V2025_11_25,
            capabilities: Capabilities::default(),
            transport,
            reachable: false,
            name: None,
            extensions: None,
        }
    }

    /// The era it speaks.
    pub fn era(&self) -> Era {
        self.version.era()
    }

    /// Whether it takes a task for an answer that it did not ask to be one.
    pub fn takes_tasks(&self) -> bool {
        self.capabilities.tasks && self.era() == Era::Modern
    }

    /// Whether it can look at tasks: those of its revision, or those of the extension.
    pub fn knows_tasks(&self) -> bool {
        self.takes_tasks() || self.version.has_core_tasks()
    }
}

/// What a client declared it can do, as far as Toolgate acts on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// It can fill in a form.
    pub elicitation_form: bool,
    /// It can send a person to a URL.
    pub elicitation_url: bool,
    /// It can ask its model.
    pub sampling: bool,
    /// Its model can be given tools.
    pub sampling_tools: bool,
    /// Its model can be given what other servers said.
    pub sampling_context: bool,
    /// It can name the folders it works on.
    pub roots: bool,
    /// It understands the tasks extension.
    pub tasks: bool,
    /// It wants to know which questions are asked together, and by which keys: it is another Toolgate.
    pub keyed_questions: bool,
}

impl Capabilities {
    /// Reads the `capabilities` object of a client.
    pub fn read(raw: &Raw) -> Self {
        let mut this = Self::default();
        for (key, value) in raw.entries() {
            match key.as_ref() {
                "sampling" => {
                    this.sampling = true;
                    this.sampling_tools = value.get("tools").is_some();
                    this.sampling_context = value.get("context").is_some();
                }
                "roots" => this.roots = true,
                "elicitation" => {
                    this.elicitation_url = value.get("url").is_some();
                    // Before 2025-11-25 an empty object meant forms, and it still does.
                    this.elicitation_form = value.get("form").is_some() || !this.elicitation_url;
                }
                "experimental" => this.keyed_questions = value.get(meta::TOOLGATE_QUESTION).is_some(),
                "extensions" => this.tasks = value.get("io.modelcontextprotocol/tasks").is_some(),
                _ => {}
            }
        }
        this
    }
}

/// The severity of a log message, least severe first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the eight syslog severities name themselves")]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl LogLevel {
    /// Every level, least severe first.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// Its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}

impl FromStr for LogLevel {
    type Err = crate::Error;

    fn from_str(text: &str) -> crate::Result<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == text).ok_or_else(|| {
            crate::Error::new(
                crate::Kind::InvalidParams,
                format!("`level` is `{text}`, which is no log level"),
            )
            .hint("use one of debug, info, notice, warning, error, critical, alert, emergency")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_read_as_every_revision_writes_them() {
        #[track_caller]
        fn check(declared: &'static str, expect: &str) {
            let can = Capabilities::read(&Raw::literal(declared));
            let all = [
                ("form", can.elicitation_form),
                ("url", can.elicitation_url),
                ("sampling", can.sampling),
                ("tools", can.sampling_tools),
                ("context", can.sampling_context),
                ("roots", can.roots),
                ("tasks", can.tasks),
            ];
            let had: Vec<&str> = all.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect();
            assert_eq!(had.join(" "), expect, "{declared}");
        }
        check("{}", "");
        check(r#"{"elicitation":{}}"#, "form");
        check(r#"{"elicitation":{"form":{}}}"#, "form");
        check(r#"{"elicitation":{"url":{}}}"#, "url");
        check(r#"{"elicitation":{"url":{},"form":{}}}"#, "form url");
        check(r#"{"sampling":{},"roots":{"listChanged":true}}"#, "sampling roots");
        check(r#"{"extensions":{"io.modelcontextprotocol/tasks":{}},"experimental":{"x":1}}"#, "tasks");
        check(r#"{"sampling":{"tools":{}}}"#, "sampling tools");
        check(r#"{"sampling":{"context":{}}}"#, "sampling context");
        check(r#"{"extensions":{"io.modelcontextprotocol/ui":{}}}"#, "");
    }

    #[test]
    fn log_levels_are_read_by_name_and_ordered_by_severity() {
        for pair in LogLevel::ALL.windows(2) {
            assert!(pair[0] < pair[1]);
        }
        for level in LogLevel::ALL {
            assert_eq!(level.as_str().parse::<LogLevel>().unwrap(), level);
        }
        assert_eq!("loud".parse::<LogLevel>().unwrap_err().kind(), crate::Kind::InvalidParams);
    }
}
