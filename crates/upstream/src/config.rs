//! What can be set for an upstream: one table `[mcp.NAME]`.

mod oauth;
mod proxy;
mod sandbox;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::SourceId;

pub use oauth::{GrantKind, Oauth, OauthConfig};
pub use proxy::ProxyConfig;
pub use sandbox::{LandlockConfig, NetworkConfig, SandboxConfig, SandboxKind};

/// Another MCP server. It has either a `command` or a `url`.
///
/// `{secret:NAME}` and `{env:NAME}` in `args`, `env`, `url`, `headers`, `proxy` and the paths of `sandbox` are filled in
/// before it is used. Written as text it shows what was written there, not what was filled in.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UpstreamConfig {
    /// The program to start, which then speaks MCP on its standard input and output.
    #[schemars(example = &"npx")]
    pub command: Option<String>,
    /// The arguments of the program.
    #[schemars(example = ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/project"])]
    pub args: Vec<String>,
    /// Variables for the program. Of our own it sees only `PATH`, `HOME`, `LANG` and `TMPDIR`.
    #[schemars(example = BTreeMap::from([("API_KEY", "{secret:API_KEY}")]))]
    pub env: BTreeMap<String, String>,
    /// The folder to start the program in; without it, ours.
    #[schemars(example = "/home/me/project")]
    pub cwd: Option<String>,
    /// What the program may touch: `none` for anything, or what the kernel lets it by Landlock.
    #[schemars(example = sandbox_example())]
    pub sandbox: SandboxConfig,
    /// The address of a server that speaks Streamable HTTP, or HTTP with server-sent events.
    #[schemars(example = "https://mcp.example.com/mcp")]
    pub url: Option<String>,
    /// Headers for every request to the address.
    #[schemars(example = BTreeMap::from([("Authorization", "Bearer {secret:TOKEN}")]))]
    pub headers: BTreeMap<String, String>,
    /// Whether and how we sign in to the address: `true`, `false`, or a table. Default: `true`, unless a header
    /// `Authorization` already says who we are.
    #[schemars(example = oauth_example())]
    pub oauth: Option<Oauth>,
    /// A file with certificates (PEM) of authorities that are trusted for the address, beside those of the machine.
    #[schemars(example = "/etc/ssl/company.pem")]
    pub ca_file: Option<String>,
    /// The proxy through which the address is reached, or `false` for none. Default: what `HTTPS_PROXY`, `HTTP_PROXY`,
    /// `ALL_PROXY` and `NO_PROXY` say, but never for this machine.
    #[schemars(example = &"http://proxy.example.com:3128")]
    pub proxy: Option<ProxyConfig>,
    /// How many milliseconds an answer may take; progress begins the time anew. Default: 30000.
    #[schemars(example = 60_000)]
    pub timeout: Option<u64>,
    /// How many milliseconds the server may take until it is ready.
    pub startup_timeout: u64,
    /// How many milliseconds a server on standard input may take to answer the question which era it speaks, before it
    /// is taken for a legacy one.
    pub probe_timeout: u64,
    /// Whether it is used at all.
    pub enabled: bool,
    /// Which era of the protocol it speaks.
    pub era: EraChoice,
    /// Who shares a connection to it, where the server keeps a state for each.
    pub share: Share,
    /// What the names of its tools and prompts begin with: a word, or `false` for nothing. Default: its own name.
    #[schemars(example = &"gh")]
    pub prefix: Option<Prefix>,
    /// Whether arguments are checked against the schemas of its tools before they are sent.
    pub check: Check,
    /// When it is started.
    pub start: Start,
    /// Which of its tools are offered, and how.
    pub tools: ToolsConfig,
}

impl Default for UpstreamConfig {
    fn default() -> Self {
        Self {
            command: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            cwd: None,
            sandbox: SandboxConfig::None,
            url: None,
            headers: BTreeMap::new(),
            oauth: None,
            ca_file: None,
            proxy: None,
            timeout: None,
            startup_timeout: 30_000,
            probe_timeout: 3_000,
            enabled: true,
            era: EraChoice::Auto,
            share: Share::Principal,
            prefix: None,
            check: Check::Off,
            start: Start::Lazy,
            tools: ToolsConfig::default(),
        }
    }
}

fn oauth_example() -> serde_json::Value {
    serde_json::json!({"client_id": "my-client", "client_secret": "{secret:CLIENT_SECRET}", "scope": "read"})
}

fn sandbox_example() -> serde_json::Value {
    serde_json::json!({"kind": "landlock", "read": ["/home/me/project"], "network": false})
}

/// Which era of the protocol a server speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EraChoice {
    /// The server is asked.
    #[default]
    Auto,
    /// 2024-11-05 to 2025-11-25, with `initialize`.
    Legacy,
    /// 2026-07-28, with `server/discover`.
    Modern,
}

/// Who shares a connection to a server that keeps a state for each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Share {
    /// Every session of a client has its own.
    Session,
    /// Every principal has its own.
    #[default]
    Principal,
    /// All share one.
    All,
}

/// When a server is started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// Once to learn what it has, then when it is first used.
    #[default]
    Lazy,
    /// With Toolgate, and it stays.
    Eager,
}

/// Whether arguments are checked before they are sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// The server checks them.
    #[default]
    Off,
    /// What does not fit is sent all the same, and shows in the status.
    Warn,
    /// What does not fit is refused.
    Enforce,
}

/// What names begin with: a word, or `false` for nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prefix {
    /// Nothing.
    Off,
    /// This word and an underscore.
    Word(String),
}

impl Serialize for Prefix {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_bool(false),
            Self::Word(word) => serializer.serialize_str(word),
        }
    }
}

impl<'de> Deserialize<'de> for Prefix {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl serde::de::Visitor<'_> for Read {
            type Value = Prefix;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a word, or `false`")
            }
            fn visit_bool<E: serde::de::Error>(self, on: bool) -> Result<Prefix, E> {
                if on {
                    Err(E::invalid_value(serde::de::Unexpected::Bool(on), &self))
                } else {
                    Ok(Prefix::Off)
                }
            }
            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Prefix, E> {
                // It stands where else the name does.
                if SourceId::fits(word) {
                    return Ok(Prefix::Word(word.to_owned()));
                }
                Err(E::custom("a prefix has 1 to 32 characters of A-Z a-z 0-9 _ -"))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

impl JsonSchema for Prefix {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Prefix".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "What names begin with: a word, or `false` for nothing.",
            "anyOf": [{"type": "string", "pattern": "^[A-Za-z0-9_-]{1,32}$"}, {"const": false}]
        })
    }
}

/// Which tools of a server are offered, and how. Tools are named here as the server names them; `*` stands for any
/// characters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ToolsConfig {
    /// Only these are offered; without it, all.
    #[schemars(example = ["get_*", "list_*"])]
    pub allow: Option<Vec<String>>,
    /// These are not offered.
    #[schemars(example = ["delete_*"])]
    pub deny: Vec<String>,
    /// Other names for tools.
    #[schemars(example = BTreeMap::from([("read_text_file", "read")]))]
    pub rename: BTreeMap<String, String>,
    /// Other descriptions for tools.
    #[schemars(example = BTreeMap::from([("read_text_file", "Read a file of the project.")]))]
    pub describe: BTreeMap<String, String>,
    /// Values of parameters that the caller neither sees nor chooses, by tool and parameter.
    #[schemars(example = BTreeMap::from([("create_issue", BTreeMap::from([("owner", "acme")]))]))]
    pub fixed: BTreeMap<String, BTreeMap<String, serde_json::Value>>,
    /// Parameters that the caller neither sees nor may send, by tool.
    #[schemars(example = BTreeMap::from([("create_issue", ["milestone"])]))]
    pub hidden: BTreeMap<String, Vec<String>>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_prefix_is_a_word_or_false() {
        #[track_caller]
        fn check(written: serde_json::Value, expect: Option<Prefix>) {
            let read = serde_json::from_value::<Prefix>(written.clone());
            assert_eq!(read.as_ref().ok(), expect.as_ref(), "{written}");
            if let Ok(read) = read {
                assert_eq!(serde_json::to_value(read).unwrap(), written);
            }
        }
        check(json!(false), Some(Prefix::Off));
        check(json!("gh"), Some(Prefix::Word("gh".into())));
        check(json!("a_b-C9"), Some(Prefix::Word("a_b-C9".into())));
        check(json!(true), None);
        check(json!(""), None);
        check(json!("a b"), None);
        check(json!("x".repeat(33)), None);
        check(json!(1), None);
    }

    #[test]
    fn a_table_is_read_with_its_defaults_and_nothing_unknown() {
        let read: UpstreamConfig =
            serde_json::from_value(json!({"command": "npx", "args": ["-y", "x"]})).unwrap();
        let expect = UpstreamConfig {
            command: Some("npx".into()),
            args: vec!["-y".into(), "x".into()],
            ..UpstreamConfig::default()
        };
        assert_eq!(read, expect);
        let unknown = serde_json::from_value::<UpstreamConfig>(json!({"commando": "npx"})).unwrap_err();
        assert!(unknown.to_string().contains("commando"), "{unknown}");
    }

    #[test]
    fn every_key_is_described() {
        fn undescribed(at: &str, schema: &serde_json::Value, out: &mut Vec<String>) {
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                if property["description"].as_str().is_none() && property["$ref"].as_str().is_none() {
                    out.push(format!("{at}.{name}"));
                }
            }
        }
        let schema = serde_json::to_value(schemars::schema_for!(UpstreamConfig)).unwrap();
        let mut found = Vec::new();
        undescribed("", &schema, &mut found);
        undescribed(".tools", &schema["$defs"]["ToolsConfig"], &mut found);
        undescribed(".oauth", &schema["$defs"]["OauthConfig"], &mut found);
        undescribed(".sandbox", &schema["$defs"]["LandlockConfig"], &mut found);
        assert_eq!(found, Vec::<String>::new());
    }
}
