//! What is meant by the table of an upstream: checked, and with secrets in their places.

mod address;
mod program;

use std::sync::Arc;
use std::time::Duration;

use toolgate_core::SourceId;
use toolgate_host::Secret;
use toolgate_wire::Raw;

use crate::config::{
    Check, EraChoice, Oauth, Prefix, SandboxConfig, Share, Start, ToolsConfig, UpstreamConfig,
};
use crate::oauth::Authorizer;

pub(crate) use address::AddressPlan;
pub(crate) use program::ProgramPlan;

/// How long an answer may take, unless it is set.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Why an upstream cannot be as it is configured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` {message}")]
pub struct BadConfig {
    key: String,
    message: String,
    hint: String,
}

impl BadConfig {
    pub(crate) fn new(key: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { key: key.into(), message: message.into(), hint: hint.into() }
    }

    /// The dotted key it is about.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What is wrong with its value.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

/// An upstream as it is meant. It cannot be printed: it holds secrets.
pub struct Plan {
    pub(crate) name: Arc<str>,
    pub(crate) reach: Reach,
    pub(crate) timeout: Duration,
    /// What sets it.
    pub(crate) timeout_key: Arc<str>,
    pub(crate) startup_timeout: Duration,
    pub(crate) probe_timeout: Duration,
    pub(crate) enabled: bool,
    pub(crate) era: EraChoice,
    pub(crate) share: Share,
    /// What names begin with.
    pub(crate) prefix: Option<String>,
    pub(crate) check: Check,
    pub(crate) start: Start,
    pub(crate) tools: ToolsConfig,
    /// What signs us in, if anything does.
    pub(crate) authorizer: Option<Arc<Authorizer>>,
    /// Tells definitions of this server from those of another under the same name; holds no secret.
    pub(crate) fingerprint: String,
}

/// How a server is reached.
pub(crate) enum Reach {
    Program(ProgramPlan),
    Address(Box<AddressPlan>),
}

impl Plan {
    /// Reads a table; `fill` puts secrets and variables where a text refers to them, and says what is missing.
    ///
    /// # Errors
    /// The table contradicts itself, or something in it cannot be used.
    pub fn new(
        name: &str,
        config: &UpstreamConfig,
        fill: impl Fn(&str) -> Result<Secret, String>,
    ) -> Result<Self, BadConfig> {
        check_name(name)?;
        check_oauth(name, config)?;
        let filled = |key: &str, text: &str| {
            fill(text).map_err(|why| {
                BadConfig::new(
                    format!("mcp.{name}.{key}"),
                    format!("cannot be filled in: {why}"),
                    "store the secret, or set the variable",
                )
            })
        };
        let reach = match (&config.command, &config.url) {
            (Some(command), None) => Reach::Program(ProgramPlan::new(name, command, config, filled)?),
            (None, Some(_)) if config.sandbox != SandboxConfig::None => {
                return Err(BadConfig::new(
                    format!("mcp.{name}.sandbox"),
                    "is for programs, and this server is elsewhere",
                    "remove it",
                ));
            }
            (None, Some(url)) => Reach::Address(Box::new(AddressPlan::new(name, url, config, filled)?)),
            (Some(_), Some(_)) => {
                return Err(BadConfig::new(
                    format!("mcp.{name}"),
                    "has both `command` and `url`",
                    "keep the one by which the server is reached",
                ));
            }
            (None, None) => {
                return Err(BadConfig::new(
                    format!("mcp.{name}"),
                    "has neither `command` nor `url`",
                    "set `command` for a program, or `url` for a server elsewhere",
                ));
            }
        };
        let prefix = match &config.prefix {
            None => Some(name.to_owned()),
            Some(Prefix::Off) => None,
            Some(Prefix::Word(word)) => Some(word.clone()),
        };
        Ok(Self {
            name: name.into(),
            reach,
            timeout: config.timeout.map_or(TIMEOUT, millis),
            timeout_key: format!("mcp.{name}.timeout").into(),
            startup_timeout: millis(config.startup_timeout),
            probe_timeout: millis(config.probe_timeout),
            enabled: config.enabled,
            era: config.era,
            share: config.share,
            prefix,
            check: config.check,
            start: config.start,
            tools: config.tools.clone(),
            authorizer: None,
            fingerprint: fingerprint(config),
        })
    }

    /// Switches it on or off, whatever its table says.
    pub fn switch(&mut self, on: bool) {
        self.enabled = on;
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

fn millis(number: u64) -> Duration {
    Duration::from_millis(number.max(1))
}

fn check_name(name: &str) -> Result<(), BadConfig> {
    if SourceId::fits(name) {
        return Ok(());
    }
    Err(BadConfig::new(
        format!("mcp.\"{}\"", name.escape_default()),
        "is no name for a server",
        "a name has 1 to 32 characters of A-Z a-z 0-9 _ -",
    ))
}

/// Programs are not signed in to.
fn check_oauth(name: &str, config: &UpstreamConfig) -> Result<(), BadConfig> {
    if config.url.is_some() || matches!(config.oauth, None | Some(Oauth::Off)) {
        return Ok(());
    }
    Err(BadConfig::new(
        format!("mcp.{name}.oauth"),
        "is for addresses, and this server is a program",
        "remove it; give the program what it needs by `env`",
    ))
}

/// What was written, not what was filled in.
fn fingerprint(config: &UpstreamConfig) -> String {
    let said = serde_json::json!({
        "command": config.command, "args": config.args, "cwd": config.cwd, "url": config.url,
        "env": config.env, "headers": config.headers, "era": config.era,
    });
    let digest = toolgate_wire::digest(&Raw::of(&said));
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(text: &str) -> Result<Secret, String> {
        if text.contains("{secret:NONE}") {
            return Err("there is no secret `NONE`".into());
        }
        Ok(Secret::new(text.replace("{secret:T}", "hunter22")))
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_a_hint() {
        #[track_caller]
        fn check(name: &str, toml: serde_json::Value, expect: &str) {
            let config: UpstreamConfig = serde_json::from_value(toml).unwrap();
            let error = Plan::new(name, &config, fill).err().map(|error| {
                assert!(!error.hint().is_empty());
                error.to_string()
            });
            assert_eq!(error.as_deref().unwrap_or("fine"), expect);
        }
        use serde_json::json;
        check("a", json!({"command": "x"}), "fine");
        check("a", json!({"url": "http://127.0.0.1:1/mcp", "headers": {"X-Key": "{secret:T}"}}), "fine");
        check("a", json!({}), "`mcp.a` has neither `command` nor `url`");
        check("a", json!({"command": "x", "url": "http://h"}), "`mcp.a` has both `command` and `url`");
        check("a b", json!({"command": "x"}), "`mcp.\"a b\"` is no name for a server");
        check("a", json!({"url": "file:///x"}), "`mcp.a.url` is no address");
        check("a", json!({"url": "nonsense"}), "`mcp.a.url` is no address");
        check("a", json!({"url": "http://h", "proxy": "http://u:p@p:3128"}), "fine");
        check("a", json!({"url": "http://h", "proxy": false}), "fine");
        check("a", json!({"url": "http://h", "proxy": "socks5://p"}), "`mcp.a.proxy` is no address");
        check("a", json!({"command": "x", "sandbox": {"kind": "landlock", "read": ["/x"]}}), "fine");
        check("a", json!({"url": "https://h", "oauth": true}), "fine");
        check("a", json!({"url": "http://127.0.0.1:1", "oauth": {"client_id": "x"}}), "fine");
        check(
            "a",
            json!({"command": "x", "oauth": true}),
            "`mcp.a.oauth` is for addresses, and this server is a program",
        );
        check(
            "a",
            json!({"command": "x", "sandbox": {"kind": "landlock", "write": ["out"]}}),
            "`mcp.a.sandbox.write` has `out`, which is no whole path",
        );
        check(
            "a",
            json!({"url": "http://h", "sandbox": "landlock"}),
            "`mcp.a.sandbox` is for programs, and this server is elsewhere",
        );
        check(
            "a",
            json!({"url": "http://h", "headers": {"a b": "x"}}),
            "`mcp.a.headers` has `a b`, which cannot be a header",
        );
        check(
            "a",
            json!({"command": "x", "args": ["{secret:NONE}"]}),
            "`mcp.a.args` cannot be filled in: there is no secret `NONE`",
        );
    }

    #[test]
    fn secrets_are_filled_in_and_stay_out_of_the_fingerprint() {
        let config = UpstreamConfig {
            command: Some("x".into()),
            args: vec!["--key={secret:T}".into()],
            ..UpstreamConfig::default()
        };
        let plan = Plan::new("a", &config, fill).unwrap();
        let Reach::Program(program) = &plan.reach else { panic!("not a program") };
        assert_eq!(program.args[0].expose(), "--key=hunter22");
        let other = Plan::new("a", &config, |_| Ok(Secret::new("other".into()))).unwrap();
        assert_eq!(plan.fingerprint, other.fingerprint);
    }
}
