//! What was found, as a table or as JSON.

use std::io::Write as _;

use serde::Serialize;

use super::{Finding, State};

/// All states, from best to worst, and how they are written.
const STATES: [(State, &str); 5] = [
    (State::Ok, "ok"),
    (State::Note, "note"),
    (State::Weak, "weak"),
    (State::Missing, "missing"),
    (State::Broken, "broken"),
];

#[derive(Serialize)]
struct Report<'a> {
    version: &'static str,
    worst: State,
    items: Vec<Item<'a>>,
}

#[derive(Serialize)]
struct Item<'a> {
    check: &'a str,
    state: State,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

/// Prints what was found.
pub(super) fn print(found: &[(&str, Finding)], json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if json {
        let worst = found.iter().map(|(_, finding)| finding.state).max().unwrap_or(State::Ok);
        let items = found.iter().map(|(check, finding)| item(check, finding)).collect();
        let report = Report { version: env!("CARGO_PKG_VERSION"), worst, items };
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
        return Ok(());
    }
    let width = found.iter().map(|(check, _)| check.len()).max().unwrap_or_default();
    // Lines after the first stand below the message, under state and check.
    let indent = " ".repeat("missing".len() + 2 + width + 2);
    for (check, finding) in found {
        let message = finding.message.replace('\n', &format!("\n{indent}"));
        writeln!(out, "{:7}  {check:width$}  {message}", word(finding.state))?;
        if let Some(hint) = &finding.hint {
            writeln!(out, "{indent}hint: {}", hint.replace('\n', &format!("\n{indent}")))?;
        }
    }
    writeln!(out, "\n{}", summary(found))?;
    Ok(())
}

fn item<'a>(check: &'a str, finding: &'a Finding) -> Item<'a> {
    Item { check, state: finding.state, message: &finding.message, hint: finding.hint.as_deref() }
}

fn word(state: State) -> &'static str {
    STATES.iter().find(|(known, _)| *known == state).map_or("", |(_, word)| word)
}

fn summary(found: &[(&str, Finding)]) -> String {
    let count = |state| found.iter().filter(|(_, finding)| finding.state == state).count();
    let counts = STATES.iter().map(|(state, word)| (count(*state), word)).filter(|(count, _)| *count > 0);
    counts.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}
