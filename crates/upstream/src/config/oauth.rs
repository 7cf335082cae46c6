//! What can be set for signing in to an address: `true`, `false`, or a table.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Whether and how we sign in to an address: `true`, `false`, or a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Oauth {
    /// Never.
    Off,
    /// As the server says.
    On,
    /// As the server says, but for this.
    With(Box<OauthConfig>),
}

/// How we sign in to an address. What is not set here, the server says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OauthConfig {
    /// The name under which the authorization server knows us, or the address (`https`) of a document that describes
    /// us. Without it we register ourselves, where that is possible.
    #[schemars(example = &"my-client")]
    pub client_id: Option<String>,
    /// The secret that goes with it, if it has one.
    #[schemars(example = &"{secret:CLIENT_SECRET}")]
    pub client_secret: Option<String>,
    /// What to ask to be allowed, separated by spaces. Default: what the server says.
    #[schemars(example = &"read write")]
    pub scope: Option<String>,
    /// The only authorization server that we sign in by, as it names itself. Default: the one that the server names; a
    /// `client_id` stays with the first that it is used with.
    #[schemars(example = &"https://login.example.com")]
    pub issuer: Option<String>,
    /// Where people sign in, where the server does not say so itself; together with `token_url` and `client_id`.
    #[schemars(example = &"https://login.example.com/authorize")]
    pub auth_url: Option<String>,
    /// Where tokens are given, where the server does not say so itself.
    #[schemars(example = &"https://login.example.com/token")]
    pub token_url: Option<String>,
    /// The port of this machine to which the browser comes back, where the authorization server knows us only with
    /// that. Default: one that is free.
    #[schemars(example = 8085)]
    pub callback_port: Option<u16>,
    /// Who signs in.
    pub grant: GrantKind,
    /// Whether every principal signs in for itself; the person at this machine signs in for the lists as well.
    pub per_principal: bool,
}

/// Who signs in to a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrantKind {
    /// A person, in a browser.
    #[default]
    Code,
    /// The machine, with `client_id` and `client_secret`.
    ClientCredentials,
}

impl Serialize for Oauth {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_bool(false),
            Self::On => serializer.serialize_bool(true),
            Self::With(table) => table.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Oauth {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> serde::de::Visitor<'de> for Read {
            type Value = Oauth;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("`true`, `false`, or a table")
            }
            fn visit_bool<E: serde::de::Error>(self, on: bool) -> Result<Oauth, E> {
                Ok(if on { Oauth::On } else { Oauth::Off })
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Oauth, A::Error> {
                let table = OauthConfig::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                Ok(Oauth::With(Box::new(table)))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

impl JsonSchema for Oauth {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Oauth".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Whether and how we sign in to an address: `true`, `false`, or a table.",
            "anyOf": [{"type": "boolean"}, generator.subschema_for::<OauthConfig>()]
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn it_is_a_switch_or_a_table_and_written_as_it_was_read() {
        #[track_caller]
        fn check(written: serde_json::Value, expect: Option<Oauth>) {
            let read = serde_json::from_value::<Oauth>(written.clone());
            assert_eq!(read.as_ref().ok(), expect.as_ref(), "{written}");
            if let Ok(read) = read {
                let again = serde_json::to_value(&read).unwrap();
                assert_eq!(serde_json::from_value::<Oauth>(again).unwrap(), read);
            }
        }
        let with = |table: OauthConfig| Some(Oauth::With(Box::new(table)));
        check(json!(true), Some(Oauth::On));
        check(json!(false), Some(Oauth::Off));
        check(json!({}), with(OauthConfig::default()));
        check(
            json!({"client_id": "x", "callback_port": 8085, "grant": "client_credentials"}),
            with(OauthConfig {
                client_id: Some("x".into()),
                callback_port: Some(8085),
                grant: GrantKind::ClientCredentials,
                ..OauthConfig::default()
            }),
        );
        check(json!({"clientId": "x"}), None);
        check(json!({"grant": "password"}), None);
        check(json!("yes"), None);
    }
}
