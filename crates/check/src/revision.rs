//! The schemas of the protocol, a revision each, and what of them a message is held against.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use jsonschema::{ValidationError, Validator};
use serde_json::{Value, json};
use toolgate_wire::{Version, method};

/// How many faults of one message are named.
const MOST_FAULTS: usize = 3;

/// Holds messages against the schema of one revision.
pub(crate) struct Revision {
    version: Version,
    schema: Value,
    compiled: Mutex<HashMap<&'static str, Option<Validator>>>,
}

impl Revision {
    /// The one of a version: its parts are compiled once.
    pub(crate) fn of(version: Version) -> &'static Self {
        static ALL: [OnceLock<Revision>; Version::ALL.len()] =
            [const { OnceLock::new() }; Version::ALL.len()];
        ALL[version as usize].get_or_init(|| Self::new(version))
    }

    fn new(version: Version) -> Self {
        let text = match version {
            Version::V2024_11_05 => include_str!("../data/2024-11-05.json"),
            Version::V2025_03_26 => include_str!("../data/2025-03-26.json"),
            Version::V2025_06_18 => include_str!("../data/2025-06-18.json"),
            Version::V2025_11_25 => include_str!("../data/2025-11-25.json"),
            Version::V2026_07_28 => include_str!("../data/2026-07-28.json"),
        };
        Self { version, schema: serde_json::from_str(text).unwrap_or_default(), compiled: Mutex::default() }
    }

    /// What is wrong with the result of a method, a line each.
    pub(crate) fn result(&self, method: &str, result: &Value) -> Vec<String> {
        // Where a modern server needs something first, it says so instead of the result.
        if result["resultType"] == "input_required" {
            return self.faults("InputRequiredResult", result);
        }
        result_definition(method).map_or_else(Vec::new, |definition| self.faults(definition, result))
    }

    /// What is wrong with an error answer.
    pub(crate) fn error(&self, message: &Value) -> Vec<String> {
        let definition = match self.version {
            Version::V2024_11_05 | Version::V2025_03_26 | Version::V2025_06_18 => "JSONRPCError",
            Version::V2025_11_25 | Version::V2026_07_28 => "JSONRPCErrorResponse",
        };
        // A message whose id cannot be read is answered without one.
        if message["id"].is_null() {
            let mut named = message.clone();
            named["id"] = json!(0);
            return self.faults(definition, &named);
        }
        self.faults(definition, message)
    }

    /// What is wrong with a notification, if it is one of the protocol.
    pub(crate) fn notification(&self, message: &Value) -> Vec<String> {
        let method = message["method"].as_str().unwrap_or_default();
        let known = notification_definition(method).filter(|definition| self.has(definition));
        self.faults(known.unwrap_or("JSONRPCNotification"), message)
    }

    /// What is wrong with a request of the server, if it is one of the protocol.
    pub(crate) fn request(&self, message: &Value) -> Vec<String> {
        let method = message["method"].as_str().unwrap_or_default();
        let known = request_definition(method).filter(|definition| self.has(definition));
        self.faults(known.unwrap_or("JSONRPCRequest"), message)
    }

    fn has(&self, definition: &str) -> bool {
        self.schema["$defs"].get(definition).is_some() || self.schema["definitions"].get(definition).is_some()
    }

    fn faults(&self, definition: &'static str, value: &Value) -> Vec<String> {
        if !self.has(definition) {
            return Vec::new();
        }
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let validator = compiled.entry(definition).or_insert_with(|| self.compile(definition));
        let Some(validator) = validator else { return Vec::new() };
        let faults = validator.iter_errors(value).map(|fault| words(&fault));
        // Rules of their own say more about the schemas of tools.
        let others = faults.filter(|fault| !fault.contains("inputSchema") && !fault.contains("outputSchema"));
        others.take(MOST_FAULTS).collect()
    }

    fn compile(&self, definition: &str) -> Option<Validator> {
        let mut schema = self.schema.clone();
        let root = if schema.get("$defs").is_some() { "$defs" } else { "definitions" };
        schema["$ref"] = json!(format!("#/{root}/{definition}"));
        jsonschema::validator_for(&schema).ok()
    }
}

/// What a fault is, and where: without the value, which may be long.
pub(crate) fn words(fault: &ValidationError<'_>) -> String {
    let at = fault.instance_path().to_string();
    let what = fault.masked_with("the value").to_string();
    if at.is_empty() { what } else { format!("`{}`: {what}", at.trim_start_matches('/').replace('/', ".")) }
}

fn result_definition(method: &str) -> Option<&'static str> {
    Some(match method {
        method::INITIALIZE => "InitializeResult",
        method::DISCOVER => "DiscoverResult",
        method::PING => "EmptyResult",
        method::TOOLS_LIST => "ListToolsResult",
        method::TOOLS_CALL => "CallToolResult",
        method::RESOURCES_LIST => "ListResourcesResult",
        method::RESOURCES_TEMPLATES_LIST => "ListResourceTemplatesResult",
        method::PROMPTS_LIST => "ListPromptsResult",
        method::SUBSCRIPTIONS_LISTEN => "SubscriptionsListenResult",
        _ => return None,
    })
}

fn notification_definition(method: &str) -> Option<&'static str> {
    Some(match method {
        method::CANCELLED => "CancelledNotification",
        method::PROGRESS => "ProgressNotification",
        method::MESSAGE => "LoggingMessageNotification",
        method::TOOLS_LIST_CHANGED => "ToolListChangedNotification",
        method::PROMPTS_LIST_CHANGED => "PromptListChangedNotification",
        method::RESOURCES_LIST_CHANGED => "ResourceListChangedNotification",
        method::RESOURCES_UPDATED => "ResourceUpdatedNotification",
        method::SUBSCRIPTIONS_ACKNOWLEDGED => "SubscriptionsAcknowledgedNotification",
        method::TASKS_STATUS => "TaskStatusNotification",
        method::ELICITATION_COMPLETE => "ElicitationCompleteNotification",
        _ => return None,
    })
}

fn request_definition(method: &str) -> Option<&'static str> {
    Some(match method {
        method::PING => "PingRequest",
        method::SAMPLING_CREATE_MESSAGE => "CreateMessageRequest",
        method::ROOTS_LIST => "ListRootsRequest",
        method::ELICITATION_CREATE => "ElicitRequest",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_definition_that_is_named_compiles_where_it_exists() {
        for version in Version::ALL {
            let revision = Revision::new(version);
            assert!(revision.has("Tool"), "{version} is not read");
            let mut compiled = 0;
            for method in method::ALL {
                for definition in
                    [result_definition(method), notification_definition(method), request_definition(method)]
                {
                    let Some(definition) = definition.filter(|definition| revision.has(definition)) else {
                        continue;
                    };
                    assert!(revision.compile(definition).is_some(), "{version}: {definition}");
                    compiled += 1;
                }
            }
            assert!(compiled > 10, "{version}: only {compiled}");
        }
    }

    #[test]
    fn messages_are_held_against_their_revision() {
        #[track_caller]
        fn check(version: Version, method: &str, result: &Value, expect: &[&str]) {
            assert_eq!(Revision::new(version).result(method, result), expect);
        }
        let tools = json!({"tools": [{"name": "a", "inputSchema": {"type": "object"}}]});
        check(Version::V2025_11_25, "tools/list", &tools, &[]);
        check(
            Version::V2025_11_25,
            "tools/list",
            &json!({"tools": [{"name": 1, "inputSchema": {"type": "object"}}]}),
            &["`tools.0.name`: the value is not of type \"string\""],
        );
        check(
            Version::V2026_07_28,
            "tools/list",
            &tools,
            &[
                "\"cacheScope\" is a required property",
                "\"resultType\" is a required property",
                "\"ttlMs\" is a required property",
            ],
        );
        check(Version::V2024_11_05, "some/method", &json!({}), &[]);
        let nameless = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "no"}});
        for version in Version::ALL {
            assert_eq!(Revision::of(version).error(&nameless), Vec::<String>::new());
        }
    }
}
