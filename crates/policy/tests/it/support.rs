//! A policy from text, and hubs that go by it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_core::{Call, Hints, Hub, ListKind, Look, Outcome, Principal, Target, ToolItem};
use toolgate_policy::config::{
    LimitsConfig, PinsConfig, PolicyConfig, PrincipalConfig, ProfileConfig, RoleConfig,
};
use toolgate_policy::{Compiled, Known, Policy, PolicyError, RulesGate};
use toolgate_testkit::{
    FakeSource, builder, client_legacy, drive, prompt_item, resource_item, template_item, text, tool_item,
};
use toolgate_wire::{Raw, Version};

/// All tables of a policy, as a file holds them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Tables {
    pub(crate) policy: PolicyConfig,
    pub(crate) principals: BTreeMap<String, PrincipalConfig>,
    pub(crate) roles: BTreeMap<String, RoleConfig>,
    pub(crate) profiles: BTreeMap<String, ProfileConfig>,
    pub(crate) limits: LimitsConfig,
    pub(crate) pins: PinsConfig,
}

#[track_caller]
pub(crate) fn tables(text: &str) -> Tables {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

impl Tables {
    pub(crate) fn load(&self) -> Result<Compiled, PolicyError> {
        let policy = Policy {
            policy: &self.policy,
            principals: &self.principals,
            roles: &self.roles,
            profiles: &self.profiles,
        };
        policy.load(&Known { sources: &["files", "github"] })
    }
}

#[track_caller]
pub(crate) fn policy(text: &str) -> Compiled {
    tables(text).load().unwrap_or_else(|error| panic!("{error}"))
}

/// A tool that says something of itself.
pub(crate) fn hinted(name: &str, hints: Hints) -> ToolItem {
    ToolItem { hints, ..tool_item(name) }
}

/// A source with a thing of every kind.
pub(crate) fn files() -> Arc<FakeSource> {
    let answer = |_, _| async { Ok(Outcome::Complete(text("done"))) };
    let source = FakeSource::new("files")
        .tool_as(hinted("files_read", Hints::READ_ONLY), answer)
        .tool_as(hinted("files_write", Hints::WRITE_LOCAL), answer)
        .tool_as(hinted("files_delete", Hints::WRITE_LOCAL), answer)
        .otherwise(|_, _| async { Ok(Outcome::Complete(Raw::literal("{}"))) })
        .with(|listing| {
            listing.resources = vec![resource_item("file:///docs/a"), resource_item("file:///etc/passwd")];
            listing.templates = vec![template_item("file:///{+path}")];
            listing.prompts = vec![prompt_item("greet"), prompt_item("secret")];
        });
    Arc::new(source)
}

/// A hub over a source that goes by a policy.
pub(crate) fn hub_with(source: &Arc<FakeSource>, policy: Compiled) -> (Hub, RulesGate) {
    let gate = RulesGate::new(policy);
    let hub = builder([source.clone()]).gate(Box::new(gate.clone())).build().unwrap();
    (hub, gate)
}

/// A call of someone for something.
pub(crate) fn call_of(principal: Arc<Principal>, target: &str, args: &Value) -> Call {
    let target = toolgate_policy::read_target(target).unwrap();
    let params = if matches!(target, Target::Completion(_)) {
        json!({"argument": args})
    } else {
        json!({"name": target.name(), "arguments": args})
    };
    Call::new(principal, client_legacy(), target, Raw::of(&params))
}

/// How a call ends, in a word: `allow`, `ask`, or the kind and the words of its error.
pub(crate) async fn fate(hub: &Hub, call: Call) -> String {
    let driven = drive(hub.start(call), []).await;
    if driven.events.iter().any(|event| event.starts_with("ask ")) {
        return "ask".into();
    }
    match driven.outcome {
        Outcome::Complete(_) => "allow".into(),
        Outcome::Failed(error) => format!("{:?}: {error}", error.kind()),
        other @ (Outcome::InputRequired { .. } | Outcome::Task(_)) => format!("{other:?}"),
    }
}

/// What someone sees on a list.
pub(crate) async fn seen(
    hub: &Hub,
    principal: &Principal,
    profile: Option<&str>,
    kind: ListKind,
) -> Vec<String> {
    let profile: Option<Arc<str>> = profile.map(Into::into);
    let look = Look { principal, profile: profile.as_ref(), version: Version::LATEST_LEGACY };
    let page: Value = hub.list(&look, kind, None).await.unwrap().to().unwrap();
    let (list, key) = match kind {
        ListKind::Tools => ("tools", "name"),
        ListKind::Resources => ("resources", "uri"),
        ListKind::Templates => ("resourceTemplates", "uriTemplate"),
        ListKind::Prompts => ("prompts", "name"),
    };
    page[list].as_array().unwrap().iter().map(|item| item[key].as_str().unwrap().to_owned()).collect()
}
