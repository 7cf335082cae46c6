//! Clients, and calls they make.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::{Call, Capabilities, Client, Principal, Resume, Target, Transport};
use toolgate_wire::{Raw, Version};

/// A client of the legacy era that can answer every question.
pub fn client_legacy() -> Arc<Client> {
    client_with(Version::LATEST_LEGACY, all())
}

/// A client of the modern era that can answer every question and understands tasks.
pub fn client_modern() -> Arc<Client> {
    client_with(Version::LATEST, Capabilities { tasks: true, ..all() })
}

/// A reachable client with these capabilities.
pub fn client_with(version: Version, capabilities: Capabilities) -> Arc<Client> {
    let transport = Transport::Stdio;
    Arc::new(Client { version, capabilities, transport, reachable: true, name: None, extensions: None })
}

/// A tool call of the local person.
pub fn call(client: Arc<Client>, tool: &str, arguments: Value) -> Call {
    let params = Raw::of(&json!({"name": tool, "arguments": arguments}));
    Call::new(Principal::local(), client, Target::Tool(tool.parse().unwrap()), params)
}

/// The call that answers what a call before it asked.
pub fn retry(call: Call, state: &str, responses: Value) -> Call {
    Call { resume: Some(Resume { responses: Some(Raw::of(&responses)), state: Some(state.into()) }), ..call }
}

fn all() -> Capabilities {
    Capabilities {
        elicitation_form: true,
        elicitation_url: true,
        sampling: true,
        roots: true,
        ..Capabilities::default()
    }
}
