//! What an import shows: the change as a diff, and what is to know about each server.

use std::io::Write as _;

use serde_json::{Value, json};
use toolgate_clients::Plan;

use super::Change;
use super::choice::{Fate, Item};
use crate::cli::Import;
use crate::command::mcp::told::print;
use crate::command::setup::diff;
use crate::command::table::one_line;

/// Shows a change; what is talk goes to standard error.
pub(super) fn tell(import: &Import, change: &Change) -> anyhow::Result<()> {
    let ours = diff::between(&change.file.path, change.file.text(), &change.shown);
    let theirs: Vec<(&Plan, String)> =
        change.withdrawals.iter().map(|(_, plan)| (plan, masked(&diff::unified(plan), change))).collect();
    if import.json {
        return print(&report(import, change, &ours, &theirs));
    }
    let mut out = std::io::stdout().lock();
    out.write_all(ours.as_bytes())?;
    for (_, theirs) in &theirs {
        out.write_all(theirs.as_bytes())?;
    }
    out.flush()?;
    let said = said(import, change);
    Ok(std::io::stderr().lock().write_all(said.as_bytes())?)
}

/// A client's file may show anywhere what was found to be a secret.
fn masked(diff: &str, change: &Change) -> String {
    let secrets = change.choice.items.iter().flat_map(|item| &item.found.secrets);
    secrets.fold(diff.to_owned(), |diff, secret| {
        let escaped = Value::from(secret.expose()).to_string();
        diff.replace(secret.expose(), "…").replace(escaped.trim_matches('"'), "…")
    })
}

fn said(import: &Import, change: &Change) -> String {
    let mut lines = Vec::new();
    if change.choice.items.is_empty() {
        lines.push("no client has a server that could be imported".to_owned());
    }
    for item in &change.choice.items {
        lines.extend(about(item, import));
    }
    for skipped in &change.choice.skipped {
        let origin = &skipped.origin;
        lines.push(format!("left out `{}` of {}: it {}", origin.name, origin.client, skipped.why));
    }
    for problem in &change.choice.problems {
        lines.push(format!("warning: {problem}").replace('\n', "; "));
    }
    lines.extend(next(import, change));
    lines.iter().map(|line| format!("{}\n", indented(line))).collect()
}

/// A line without what a terminal would obey; its indentation stays.
fn indented(line: &str) -> String {
    let text = line.trim_start_matches(' ');
    format!("{}{}", &line[..line.len() - text.len()], one_line(text))
}

fn about(item: &Item, import: &Import) -> Vec<String> {
    let found = &item.found;
    let mut clients: Vec<&str> = found.origins.iter().map(|origin| origin.client.title()).collect();
    clients.dedup();
    let fate = match &item.fate {
        Fate::New => "new".to_owned(),
        Fate::There => "there already".to_owned(),
        Fate::Left(why) => format!("left out: {why}"),
    };
    let mut lines = vec![format!("{} (of {}): {fate}", found.name, clients.join(", "))];
    if item.fate != Fate::New {
        return lines;
    }
    for secret in &found.secrets {
        lines.push(if import.secrets {
            format!("  `{}` is kept as the secret `{}`", secret.at, secret.name)
        } else {
            format!("  `{}` looks like a secret: `--secrets` keeps it as `{}`", secret.at, secret.name)
        });
    }
    for (name, what) in &found.missing {
        lines.push(format!("  set `{name}` by `toolgate secret set {name}`: {what}"));
    }
    lines.extend(found.notes.iter().map(|note| format!("  {note}")));
    lines
}

fn next(import: &Import, change: &Change) -> Vec<String> {
    let file = change.file.path.display();
    let count = change.choice.new_ones().count();
    let changes = count > 0 || change.withdrawals.iter().any(|(_, plan)| plan.before() != plan.after());
    if !changes {
        return vec!["there is nothing to do".to_owned()];
    }
    if !import.write {
        let mut lines = vec![format!("this would change `{file}`; nothing is written yet")];
        lines.push("next: run this again with `--write` to make this change".to_owned());
        return lines;
    }
    let servers = if count == 1 { "1 server".to_owned() } else { format!("{count} servers") };
    let mut lines = vec![format!("wrote {servers} to `{file}`")];
    for (what, plan) in &change.withdrawals {
        let backup = plan.backup().map(|backup| format!("; as it was it is kept in `{}`", backup.display()));
        let count = what.entries.len();
        let entries = if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") };
        lines.push(format!("took {entries} out of `{}`{}", what.file.display(), backup.unwrap_or_default()));
        lines.push(format!("next: {}", what.client.next_step()));
        let has_us = change.choice.skipped.iter().any(|skipped| skipped.origin.client == what.client);
        if !has_us {
            let (client, id) = (what.client, what.client.id());
            lines.push(format!("next: {client} does not use Toolgate yet: `toolgate setup {id} --write`"));
        }
    }
    lines.push("undo: toolgate mcp import --undo".to_owned());
    lines
}

fn report(import: &Import, change: &Change, ours: &str, theirs: &[(&Plan, String)]) -> Value {
    let item = |item: &Item| {
        let found = &item.found;
        let from = found
            .origins
            .iter()
            .map(|origin| json!({"client": origin.client.id(), "file": origin.file, "name": origin.name}));
        let (fate, why) = match &item.fate {
            Fate::New => ("new", None),
            Fate::There => ("there", None),
            Fate::Left(why) => ("left", Some(why)),
        };
        let secrets = found.secrets.iter().map(|secret| json!({"name": secret.name, "at": secret.at}));
        let missing = found.missing.iter().map(|(name, what)| json!({"name": name, "what": what}));
        json!({
            "name": found.name, "from": from.collect::<Vec<_>>(), "fate": fate, "why": why,
            "secrets": secrets.collect::<Vec<_>>(), "missing": missing.collect::<Vec<_>>(), "notes": found.notes,
        })
    };
    let skipped = change.choice.skipped.iter().map(|skipped| {
        let origin = &skipped.origin;
        json!({"client": origin.client.id(), "file": origin.file, "name": origin.name, "why": skipped.why})
    });
    let problems = change.choice.problems.iter().map(ToString::to_string);
    let clients =
        theirs.iter().map(|(plan, diff)| json!({"file": plan.path(), "diff": diff, "backup": plan.backup()}));
    json!({
        "file": change.file.path, "diff": ours, "done": import.write,
        "items": change.choice.items.iter().map(item).collect::<Vec<_>>(),
        "skipped": skipped.collect::<Vec<_>>(), "problems": problems.collect::<Vec<_>>(),
        "clients": clients.collect::<Vec<_>>(),
    })
}
