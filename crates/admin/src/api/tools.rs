//! The catalog: every tool, what the policy makes of it, and a way to try it.

use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use toolgate_core::{Call, Outcome, Principal, SourceId, Target, ToolItem, local_client};
use toolgate_wire::Raw;

use super::{ADMIN, VIEWER};
use crate::admin::principal;
use crate::desk::{Explained, PolicyQuestion};
use crate::problem::Problem;
use crate::route::{Ask, GET, Items, POST, Query, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(
            (GET, "/tools"),
            VIEWER,
            "Every tool, whoever may use it, with what the policy makes of it.",
            list,
        ),
        Route::new(
            (GET, "/tools/{tool}"),
            VIEWER,
            "One of them, with its definition and why it may be used.",
            show,
        ),
        Route::new(
            (POST, "/tools/{tool}/call"),
            ADMIN,
            "Call it as yourself, under the same policy as everyone.",
            call,
        )
        .stopping(),
        Route::new((POST, "/policy/explain"), VIEWER, "What the policy makes of a call.", explain),
    ]
}

/// Through whose eyes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct As {
    /// Through those of this principal; `local` if nothing is said.
    principal: Option<String>,
    /// By this named view.
    profile: Option<String>,
}

/// A tool.
#[derive(Debug, Serialize, JsonSchema)]
struct Tool {
    /// Its name.
    name: String,
    /// A name for people.
    title: Option<String>,
    /// What it says it does.
    description: String,
    /// Where it comes from.
    source: String,
    /// It changes nothing.
    read_only: bool,
    /// It may overwrite or remove.
    destructive: bool,
    /// Doing it twice is as doing it once.
    idempotent: bool,
    /// It reaches other systems.
    open_world: bool,
    /// How many bytes its definition has.
    bytes: usize,
    /// What the policy makes of it without arguments: `allow`, `ask` or `deny`.
    gives: String,
    /// The rule that decides.
    rule: String,
    /// Whether it is listed.
    listed: bool,
}

/// A tool with all that is known of it.
#[derive(Debug, Serialize, JsonSchema)]
struct ToolDetail {
    /// It in short.
    tool: Tool,
    /// Its definition, as it is listed: `inputSchema` makes the form to try it.
    definition: Map<String, Value>,
    /// What the policy makes of it, and why.
    policy: Explained,
}

/// A call to try.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Try {
    /// The arguments.
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// How a call ended.
#[derive(Debug, Serialize, JsonSchema)]
struct Tried {
    /// `complete`, or why it failed in a word.
    outcome: String,
    /// Its result, where there is one: `content`, `structuredContent`, `isError`.
    result: Option<Value>,
    /// What went wrong, where it failed before there was a result.
    error: Option<String>,
    /// The next step, then.
    hint: Option<String>,
    /// How long it took, in milliseconds.
    took_ms: u64,
}

/// A call as it might be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Explain {
    /// Who calls.
    #[schemars(length(min = 1, max = 128))]
    principal: String,
    /// What for: the name of a tool, or `kind:name`.
    #[schemars(length(min = 1, max = 2048))]
    target: String,
    /// With which arguments.
    #[serde(default)]
    arguments: Map<String, Value>,
    /// By which named view.
    #[serde(default)]
    profile: Option<String>,
}

async fn list(ask: Ask, Query(eyes): Query<As>) -> Result<Items<Tool>, Problem> {
    let all = ask.admin.hub.all_tools().await;
    let item = |(source, item): &(SourceId, std::sync::Arc<ToolItem>)| {
        let policy = explained(&ask, &eyes, source, item)?;
        Ok(shown(source, item, &policy))
    };
    Ok(Items { items: all.iter().map(item).collect::<Result<_, Problem>>()? })
}

async fn show(ask: Ask, Query(eyes): Query<As>) -> Result<ToolDetail, Problem> {
    let all = ask.admin.hub.all_tools().await;
    let found = all.iter().find(|(_, item)| item.name.as_str() == ask.name());
    let Some((source, item)) = found else {
        return Err(Problem::missing("there is no such tool").hint("`GET /tools` lists them"));
    };
    let policy = explained(&ask, &eyes, source, item)?;
    let definition = item.raw.to().unwrap_or_default();
    Ok(ToolDetail { tool: shown(source, item, &policy), definition, policy })
}

async fn call(ask: Ask, given: Try) -> Result<Tried, Problem> {
    let name = ask.name().parse()?;
    let params = json!({"name": ask.name(), "arguments": given.arguments});
    let principal = principal(&ask.login()?.account);
    let call = Call::new(principal, local_client(), Target::Tool(name), Raw::of(&params));
    let begun = Instant::now();
    // When the page goes away, so does the call.
    let outcome = ask.admin.hub.start(call).outcome().await;
    let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let label = outcome.label().to_owned();
    let (result, error, hint) = match outcome {
        Outcome::Complete(raw) => (raw.to().ok(), None, None),
        Outcome::Failed(error) => {
            (None, Some(error.message().to_owned()), error.next_step().map(ToOwned::to_owned))
        }
        Outcome::InputRequired { .. } | Outcome::Task(_) => {
            let hint = "call it from an MCP client".to_owned();
            (None, Some("this tool has to ask something".to_owned()), Some(hint))
        }
    };
    Ok(Tried { outcome: label, result, error, hint, took_ms })
}

async fn explain(ask: Ask, given: Explain) -> Result<Explained, Problem> {
    let all = ask.admin.hub.all_tools().await;
    let tool = given.target.strip_prefix("tool:").unwrap_or(&given.target);
    let found = all.iter().find(|(_, item)| item.name.as_str() == tool);
    let Explain { principal, target, arguments, profile } = given;
    let question = PolicyQuestion {
        principal,
        target,
        arguments,
        profile,
        hints: found.map(|(_, item)| item.hints),
        source: found.map(|(source, _)| source.to_string()),
    };
    Ok(ask.admin.desk.explain(question)?)
}

fn explained(ask: &Ask, eyes: &As, source: &SourceId, item: &ToolItem) -> Result<Explained, Problem> {
    let question = PolicyQuestion {
        principal: eyes.principal.clone().unwrap_or_else(|| Principal::local().id.to_string()),
        target: item.name.as_str().to_owned(),
        arguments: Map::new(),
        profile: eyes.profile.clone(),
        hints: Some(item.hints),
        source: Some(source.to_string()),
    };
    Ok(ask.admin.desk.explain(question)?)
}

fn shown(source: &SourceId, item: &ToolItem, policy: &Explained) -> Tool {
    let description = item.raw.get("description");
    let description = description.as_ref().and_then(|text| text.as_string()).unwrap_or_default();
    Tool {
        name: item.name.as_str().to_owned(),
        title: item.title.clone(),
        description: description.into_owned(),
        source: source.to_string(),
        read_only: item.hints.read_only,
        destructive: item.hints.destructive,
        idempotent: item.hints.idempotent,
        open_world: item.hints.open_world,
        bytes: item.raw.as_bytes().len(),
        gives: policy.gives.clone(),
        rule: policy.rule.clone(),
        listed: policy.listed,
    }
}
