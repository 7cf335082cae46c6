//! `toolgate policy`: what the policy makes of a call.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use toolgate_config::nearest;
use toolgate_core::{SourceId, Target, ToolItem};
use toolgate_policy::config::Effect;
use toolgate_policy::pins::{Pins, Standing};
use toolgate_policy::{Compiled, Expectations, Question, ToolFacts, read_target};
use toolgate_wire::Raw;

use crate::cli::Policy;
use crate::command::table::one_line;
use crate::command::tools;
use crate::exit;
use crate::gate::Gate;

/// All tools, with where they come from.
type Tools = [(SourceId, Arc<ToolItem>)];

/// Runs one of the subcommands, on a hub that knows all tools.
pub(crate) async fn run(gate: &Gate, command: &Policy) -> anyhow::Result<ExitCode> {
    let policy = &gate.rules.current();
    // Who looks at the policy sees all tools, whoever may use them.
    let all = gate.hub.all_tools().await;
    match command {
        Policy::Explain { principal, target, arguments, roles, profile, json } => {
            let target = read_target(target)?;
            let roles: Vec<Arc<str>> = roles.iter().map(|role| role.as_str().into()).collect();
            let facts = facts(&all, &target);
            let held = note(&all, &target, facts.as_ref(), gate.pins()).await?;
            let question = Question {
                roles: &roles,
                args: Raw::of(&tools::read_arguments(arguments)?),
                hints: facts.as_ref().map(|facts| facts.hints),
                source: facts.as_ref().map(|facts| facts.source.as_str()),
                profile: profile.as_deref(),
                ..Question::new(principal, &target)
            };
            let allowed = explain(policy, &question, *json)?;
            Ok(if allowed && !held { ExitCode::SUCCESS } else { ExitCode::from(exit::FAILED) })
        }
        Policy::Test { file, json } => test(&all, policy, file, *json),
    }
}

/// What the tool says of itself.
fn facts(all: &Tools, target: &Target) -> Option<ToolFacts> {
    let Target::Tool(name) = target else { return None };
    all.iter()
        .find(|(_, tool)| tool.name == *name)
        .map(|(source, tool)| ToolFacts { hints: tool.hints, source: source.to_string() })
}

/// Says what rules do not know of a tool: that there is none of this name, or that it is held whatever they say. Tells
/// whether it is.
async fn note(all: &Tools, target: &Target, facts: Option<&ToolFacts>, pins: &Pins) -> anyhow::Result<bool> {
    let Target::Tool(name) = target else { return Ok(false) };
    let Some(facts) = facts else {
        let near = nearest(name.as_str(), all.iter().map(|(_, tool)| tool.name.as_str()));
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        say(&format!("note: there is no tool `{name}` now{near}"))?;
        return Ok(false);
    };
    let Ok(pin) = pins.show(&facts.source, name.as_str()).await else { return Ok(false) };
    let held = pin.standing == Standing::Held;
    if held {
        let show = format!("`toolgate pins show {} {name}` tells why", facts.source);
        say(&format!("note: `{name}` is held whatever the rules say; {show}"))?;
    }
    Ok(held)
}

fn say(line: &str) -> anyhow::Result<()> {
    Ok(writeln!(std::io::stderr().lock(), "{}", one_line(line))?)
}

/// Prints what the rules make of a call, and tells whether they allow it.
fn explain(policy: &Compiled, question: &Question<'_>, as_json: bool) -> anyhow::Result<bool> {
    let explanation = policy.explain(question);
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", serde_json::to_string_pretty(&explanation)?)?;
    } else {
        writeln!(out, "{}", explanation.to_string().trim_end())?;
    }
    Ok(explanation.gives == Effect::Allow)
}

fn test(all: &Tools, policy: &Compiled, file: &Path, as_json: bool) -> anyhow::Result<ExitCode> {
    let text =
        std::fs::read_to_string(file).with_context(|| format!("`{}` cannot be read", file.display()))?;
    let expectations =
        Expectations::parse(&text).map_err(|error| anyhow::anyhow!("{}: {error}", file.display()))?;
    let report = expectations.run(policy, |name| {
        let found = all.iter().find(|(_, tool)| tool.name.as_str() == name);
        found.map(|(source, tool)| ToolFacts { hints: tool.hints, source: source.to_string() })
    });
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        writeln!(out, "{}", report.to_string().trim_end())?;
    }
    Ok(if report.is_met() { ExitCode::SUCCESS } else { ExitCode::from(exit::FAILED) })
}
