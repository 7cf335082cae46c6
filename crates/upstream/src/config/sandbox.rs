//! What can be set for the sandbox of a program: `"none"`, `"landlock"`, or a table.

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a program may touch: `"none"` for anything, or what the kernel lets it by Landlock. `"landlock"` alone lets it
/// read what it needs to start, write nothing, and connect to nobody; a table names more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SandboxConfig {
    /// Anything that we may.
    #[default]
    None,
    /// What is named.
    Landlock(LandlockConfig),
}

/// What a program may touch. `{env:NAME}` in paths is filled in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LandlockConfig {
    /// How it is held: `landlock`, by the kernel.
    pub kind: SandboxKind,
    /// Files and folders it may read and run, beside `/usr`, `/bin`, `/sbin`, `/lib*`, `/etc`, `cwd`, and itself.
    #[serde(default)]
    #[schemars(example = ["/home/me/project"])]
    pub read: Vec<String>,
    /// Files and folders it may change as well.
    #[serde(default)]
    #[schemars(example = ["/home/me/project/out", "/tmp"])]
    pub write: Vec<String>,
    /// Whom it may connect to by TCP: `false` for nobody, `true` for all, or a list of ports. Other ways, such as UDP,
    /// are not held.
    #[serde(default)]
    pub network: NetworkConfig,
}

/// How a program is held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SandboxKind {
    /// By the kernel's Landlock.
    #[default]
    Landlock,
}

/// Whom a program may connect to: `false` for nobody, `true` for all, or a list of ports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum NetworkConfig {
    /// Nobody.
    #[default]
    Off,
    /// All.
    On,
    /// Those that listen on these ports.
    Ports(Vec<u16>),
}

impl Serialize for SandboxConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_str("none"),
            Self::Landlock(table) => table.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SandboxConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = SandboxConfig;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("`none`, `landlock`, or a table with `kind = \"landlock\"`")
            }
            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<SandboxConfig, E> {
                match word {
                    "none" => Ok(SandboxConfig::None),
                    "landlock" => Ok(SandboxConfig::Landlock(LandlockConfig::default())),
                    other => Err(E::invalid_value(Unexpected::Str(other), &self)),
                }
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SandboxConfig, A::Error> {
                LandlockConfig::deserialize(MapAccessDeserializer::new(map)).map(SandboxConfig::Landlock)
            }
        }
        deserializer.deserialize_any(Read)
    }
}

impl JsonSchema for SandboxConfig {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Sandbox".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "What a program may touch: `none` for anything, or what the kernel lets it by Landlock.",
            "anyOf": [{"enum": ["none", "landlock"]}, generator.subschema_for::<LandlockConfig>()]
        })
    }
}

impl Serialize for NetworkConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_bool(false),
            Self::On => serializer.serialize_bool(true),
            Self::Ports(ports) => ports.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for NetworkConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = NetworkConfig;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("`true`, `false`, or a list of ports")
            }
            fn visit_bool<E: serde::de::Error>(self, on: bool) -> Result<NetworkConfig, E> {
                Ok(if on { NetworkConfig::On } else { NetworkConfig::Off })
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<NetworkConfig, A::Error> {
                let mut ports = Vec::new();
                while let Some(port) = list.next_element::<u16>()? {
                    if port == 0 {
                        return Err(A::Error::invalid_value(
                            Unexpected::Unsigned(0),
                            &"a port from 1 to 65535",
                        ));
                    }
                    ports.push(port);
                }
                Ok(NetworkConfig::Ports(ports))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

impl JsonSchema for NetworkConfig {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Network".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Whom a program may connect to by TCP: `false` for nobody, `true` for all, or a list of ports.",
            "anyOf": [
                {"type": "boolean"},
                {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 65535}}
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_sandbox_is_a_word_or_a_table() {
        #[track_caller]
        fn check(written: Value, expect: Option<Value>) {
            let read = serde_json::from_value::<SandboxConfig>(written.clone()).ok();
            assert_eq!(read.map(|read| serde_json::to_value(read).unwrap()), expect, "{written}");
        }
        let table = |read: Value, write: Value, network: Value| {
            Some(json!({"kind": "landlock", "read": read, "write": write, "network": network}))
        };
        check(json!("none"), Some(json!("none")));
        check(json!("landlock"), table(json!([]), json!([]), json!(false)));
        check(json!({"kind": "landlock"}), table(json!([]), json!([]), json!(false)));
        check(
            json!({"kind": "landlock", "read": ["/a"], "write": ["/b"], "network": [443]}),
            table(json!(["/a"]), json!(["/b"]), json!([443])),
        );
        check(json!({"kind": "landlock", "network": true}), table(json!([]), json!([]), json!(true)));
        check(json!("seccomp"), None);
        check(json!(false), None);
        check(json!({"read": ["/a"]}), None);
        check(json!({"kind": "docker"}), None);
        check(json!({"kind": "landlock", "reed": []}), None);
        check(json!({"kind": "landlock", "network": [0]}), None);
        check(json!({"kind": "landlock", "network": [70000]}), None);
        check(json!({"kind": "landlock", "network": "443"}), None);
    }
}
