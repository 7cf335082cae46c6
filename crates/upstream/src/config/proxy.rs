//! What can be set for the proxy of an address: a URL, or `false` for none.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Through which proxy an address is reached: a URL, or `false` for none at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProxyConfig {
    /// None, whatever the environment says.
    Off,
    /// The one at this address.
    Url(String),
}

impl Serialize for ProxyConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_bool(false),
            Self::Url(url) => serializer.serialize_str(url),
        }
    }
}

impl<'de> Deserialize<'de> for ProxyConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl serde::de::Visitor<'_> for Read {
            type Value = ProxyConfig;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("the address of a proxy, or `false`")
            }
            fn visit_bool<E: serde::de::Error>(self, on: bool) -> Result<ProxyConfig, E> {
                if on {
                    return Err(E::invalid_value(serde::de::Unexpected::Bool(on), &self));
                }
                Ok(ProxyConfig::Off)
            }
            fn visit_str<E: serde::de::Error>(self, url: &str) -> Result<ProxyConfig, E> {
                Ok(ProxyConfig::Url(url.to_owned()))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

impl JsonSchema for ProxyConfig {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Proxy".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "The address of a proxy, or `false` for none.",
            "anyOf": [{"type": "string"}, {"const": false}]
        })
    }
}
