//! `toolgate approvals`: the calls that wait for a person.

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::json;
use toolgate_core::{
    Approval, ApprovalState, Approvals as Inbox, Decision, Lasting, Remembered, iso8601, visible,
    visible_line,
};
use toolgate_host::{Clock, terminal};

use crate::cli::{Approvals, Lasting as LastingFlags};
use crate::command::by_hand::{recorded, recorded_if_possible};
use crate::command::table::{fit, one_line};
use crate::parts::Parts;

/// Runs one of the subcommands.
pub(crate) async fn run(parts: &Parts, approvals: &Approvals) -> anyhow::Result<ExitCode> {
    let inbox = &parts.approvals;
    match approvals {
        Approvals::List { all, json } => list(inbox, *all, *json).await?,
        Approvals::Show { id, json } => show(&inbox.find(id).await?, *json)?,
        Approvals::Approve { id, lasting } => {
            let deciding = decide(parts, id, Decision::Approve(lasting.read()));
            let decided = recorded(&parts.audit, "approvals approve", deciding).await?;
            say(&format!("approved `{}` for `{}`", visible_line(&decided.target), decided.principal))?;
        }
        Approvals::Reject { id, reason } => {
            let deciding = decide(parts, id, Decision::Reject(reason.clone()));
            let decided = recorded_if_possible(&parts.audit, "approvals reject", deciding).await?;
            say(&format!("rejected `{}` for `{}`", visible_line(&decided.target), decided.principal))?;
        }
        Approvals::Remembered { json } => remembered(&inbox.remembered().await?, *json)?,
        Approvals::Forget { id } => {
            let forgetting = async {
                inbox.forget(id).await?;
                Ok(((), id.clone()))
            };
            recorded_if_possible(&parts.audit, "approvals forget", forgetting).await?;
            say(&format!("forgot `{id}`; its rule asks again"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What was decided, and how the record names it.
async fn decide(parts: &Parts, id: &str, decision: Decision) -> anyhow::Result<(Approval, String)> {
    let decided = parts.approvals.decide(id, &decision, &by()).await?;
    let about = format!("{} {} {}", decided.id, decided.principal, decided.target);
    Ok((decided, about))
}

/// Whoever may read the data folder may answer; the record names the user of the machine.
fn by() -> String {
    format!("{} on the command line", toolgate_host::user_name())
}

fn say(line: &str) -> anyhow::Result<()> {
    Ok(writeln!(std::io::stderr().lock(), "{}", one_line(line))?)
}

async fn list(inbox: &Inbox, all: bool, as_json: bool) -> anyhow::Result<()> {
    let mut found = inbox.list().await?;
    found.retain(|approval| all || approval.state == ApprovalState::Pending);
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", serde_json::to_string_pretty(&json!({"items": found}))?)?;
        return Ok(());
    }
    if found.is_empty() {
        return say("nothing waits for a person");
    }
    let columns = terminal::columns(&out).unwrap_or(usize::MAX);
    for approval in &found {
        let line = format!(
            "{}  {:8}  {} → {}  {}",
            approval.id,
            approval.state.as_str(),
            approval.principal,
            visible_line(&approval.target),
            visible(&approval.arguments)
        );
        writeln!(out, "{}", fit(&one_line(&line), columns))?;
    }
    Ok(())
}

fn show(approval: &Approval, as_json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", serde_json::to_string_pretty(approval)?)?;
        return Ok(());
    }
    let now = Clock::system().unix_ms();
    let minutes = approval.expires_ms.saturating_sub(now) / 60_000;
    let rows = [
        ("id", approval.id.clone()),
        ("state", state(&approval.state)),
        ("caller", approval.principal.clone()),
        ("client", approval.client.clone().unwrap_or_default()),
        ("target", approval.target.clone()),
        ("what", approval.title.clone().unwrap_or_default()),
        ("source", approval.source.clone().unwrap_or_default()),
        ("rule", approval.rule.clone()),
        ("why", approval.reason.clone()),
        ("asked", iso8601(approval.asked_ms)),
        ("expires", format!("in {minutes} min")),
    ];
    for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        writeln!(out, "{name:8} {}", one_line(&visible(value)))?;
    }
    writeln!(out, "\n{}", printable(&approval.arguments))?;
    Ok(())
}

fn state(state: &ApprovalState) -> String {
    match state {
        ApprovalState::Pending => "pending".into(),
        ApprovalState::Approved { by, .. } => format!("approved by {by}"),
        ApprovalState::Rejected { by, reason: Some(reason), .. } => format!("rejected by {by}: {reason}"),
        ApprovalState::Rejected { by, .. } => format!("rejected by {by}"),
        ApprovalState::Used { by, .. } => format!("approved by {by}, and used"),
    }
}

fn remembered(rules: &[Remembered], as_json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", serde_json::to_string_pretty(&json!({"items": rules}))?)?;
        return Ok(());
    }
    if rules.is_empty() {
        return say("nothing is remembered");
    }
    for rule in rules {
        let holds = if rule.session.is_some() { "for a connection" } else { "always" };
        let line = format!(
            "{}  {} → {}  {holds}, by {}, rule {}",
            rule.id,
            rule.principal,
            visible_line(&rule.target),
            rule.by,
            rule.rule
        );
        writeln!(out, "{}", one_line(&line))?;
    }
    Ok(())
}

/// Text of others on several lines, without anything that a terminal would obey.
fn printable(text: &str) -> String {
    visible(text).lines().map(|line| line.replace(char::is_control, " ")).collect::<Vec<_>>().join("\n")
}

impl LastingFlags {
    fn read(&self) -> Lasting {
        match (self.session, self.always) {
            (_, true) => Lasting::Always,
            (true, false) => Lasting::Session,
            (false, false) => Lasting::Once,
        }
    }
}
