//! Hosts as they are written in a configuration.

use schemars::JsonSchema;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use toolgate_host::outbound::{BadHostRule, HostRule};

/// Hosts, as they are written in a configuration: a name, `*.` and a name, an address, a network, or `*`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct HostPattern(pub HostRule);

impl HostPattern {
    /// The rules of several.
    pub fn rules(hosts: &[Self]) -> Vec<HostRule> {
        hosts.iter().map(|host| host.0.clone()).collect()
    }

    /// Reads hosts that are named one by one: all of them at once would be too easy to write.
    ///
    /// # Errors
    /// One is no host, or is `*`.
    pub fn named<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Self>, D::Error> {
        let hosts = Vec::<Self>::deserialize(from)?;
        if hosts.iter().any(|host| host.0.is_all()) {
            return Err(D::Error::custom(
                "`*` allows nothing here: name the hosts, or a network such as `10.0.0.0/8`",
            ));
        }
        Ok(hosts)
    }
}

impl TryFrom<String> for HostPattern {
    type Error = BadHostRule;

    fn try_from(text: String) -> Result<Self, BadHostRule> {
        text.parse().map(Self)
    }
}

impl From<HostPattern> for String {
    fn from(pattern: HostPattern) -> Self {
        pattern.0.to_string()
    }
}
