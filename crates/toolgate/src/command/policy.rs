//! `toolgate policy`: what the policy makes of a call.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use toolgate_core::{Hub, Target};
use toolgate_policy::config::Effect;
use toolgate_policy::{Compiled, Expectations, Question, ToolFacts, read_target};
use toolgate_wire::Raw;

use crate::cli::Policy;
use crate::command::tools;
use crate::exit;

/// Runs one of the subcommands, on a hub that knows all tools.
pub(crate) async fn run(hub: &Hub, policy: &Compiled, command: &Policy) -> anyhow::Result<ExitCode> {
    match command {
        Policy::Explain { principal, target, arguments, roles, profile, json } => {
            let target = read_target(target)?;
            let roles: Vec<Arc<str>> = roles.iter().map(|role| role.as_str().into()).collect();
            let facts = facts(hub, &target).await;
            let question = Question {
                roles: &roles,
                args: Raw::of(&tools::read_arguments(arguments)?),
                hints: facts.as_ref().map(|facts| facts.hints),
                source: facts.as_ref().map(|facts| facts.source.as_str()),
                profile: profile.as_deref(),
                ..Question::new(principal, &target)
            };
            explain(policy, &question, *json)
        }
        Policy::Test { file, json } => test(hub, policy, file, *json).await,
    }
}

/// What the tool says of itself. Who looks at the policy sees all tools, whoever may use them.
async fn facts(hub: &Hub, target: &Target) -> Option<ToolFacts> {
    let Target::Tool(name) = target else { return None };
    let all = hub.all_tools().await;
    all.into_iter()
        .find(|(_, tool)| tool.name == *name)
        .map(|(source, tool)| ToolFacts { hints: tool.hints, source: source.to_string() })
}

fn explain(policy: &Compiled, question: &Question<'_>, as_json: bool) -> anyhow::Result<ExitCode> {
    let explanation = policy.explain(question);
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", serde_json::to_string_pretty(&explanation)?)?;
    } else {
        writeln!(out, "{}", explanation.to_string().trim_end())?;
    }
    let runs = explanation.gives == Effect::Allow;
    Ok(if runs { ExitCode::SUCCESS } else { ExitCode::from(exit::FAILED) })
}

async fn test(hub: &Hub, policy: &Compiled, file: &Path, as_json: bool) -> anyhow::Result<ExitCode> {
    let text =
        std::fs::read_to_string(file).with_context(|| format!("`{}` cannot be read", file.display()))?;
    let expectations =
        Expectations::parse(&text).map_err(|error| anyhow::anyhow!("{}: {error}", file.display()))?;
    let all = hub.all_tools().await;
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
