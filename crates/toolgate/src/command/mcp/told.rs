//! What commands say about a server: its state, how it is reached, and what to do next.

use std::io::Write as _;

use serde_json::Value;
use toolgate_clients::import::looks_secret;
use toolgate_core::{SourceState, SourceStatus};
use toolgate_upstream::UpstreamConfig;

use crate::command::table::one_line;

/// Says a line to the person.
pub(super) fn say(line: &str) -> anyhow::Result<()> {
    Ok(writeln!(std::io::stderr().lock(), "{}", one_line(line))?)
}

/// Prints JSON.
pub(super) fn print(value: &Value) -> anyhow::Result<()> {
    Ok(writeln!(std::io::stdout().lock(), "{}", serde_json::to_string_pretty(value)?)?)
}

/// A sign for a state, for who looks and does not read.
pub(super) fn sign(state: SourceState) -> char {
    match state {
        SourceState::Connected => '✓',
        SourceState::Connecting => '…',
        SourceState::Disabled => '–',
        SourceState::Failed => '✗',
        SourceState::NeedsAuth | SourceState::NeedsClientRegistration => '!',
    }
}

/// A state in words.
pub(super) fn word(state: SourceState) -> &'static str {
    match state {
        SourceState::Connected => "connected",
        SourceState::Connecting => "connecting",
        SourceState::Disabled => "disabled",
        SourceState::Failed => "failed",
        SourceState::NeedsAuth => "needs sign-in",
        SourceState::NeedsClientRegistration => "needs a client id",
    }
}

/// Whether a server that should be of use is not.
pub(super) fn is_trouble(state: SourceState) -> bool {
    match state {
        SourceState::Connected | SourceState::Connecting | SourceState::Disabled => false,
        SourceState::Failed | SourceState::NeedsAuth | SourceState::NeedsClientRegistration => true,
    }
}

/// What to do about a state: what mends it, or the command that tells more.
pub(super) fn next(status: &SourceStatus) -> Option<String> {
    let name = &status.name;
    remedy(status).or_else(|| match status.state {
        SourceState::Failed if status.stderr.is_empty() => Some(format!("toolgate mcp test {name}")),
        SourceState::Failed => Some(format!("toolgate mcp logs {name}")),
        SourceState::Connected
        | SourceState::Connecting
        | SourceState::Disabled
        | SourceState::NeedsAuth
        | SourceState::NeedsClientRegistration => None,
    })
}

/// What mends a state, where that is known.
pub(super) fn remedy(status: &SourceStatus) -> Option<String> {
    let name = &status.name;
    let cannot_start = status.error.as_deref().is_some_and(|error| error.contains("cannot be started"));
    match status.state {
        _ if status.hint.is_some() => status.hint.clone(),
        SourceState::Disabled => Some(format!("toolgate mcp enable {name}")),
        SourceState::Failed if cannot_start => {
            Some("install the program, or write its whole path in `command`".into())
        }
        SourceState::NeedsAuth => Some(format!("toolgate mcp auth {name}")),
        SourceState::NeedsClientRegistration => {
            Some(format!("set `mcp.{name}.oauth.client_id`, then `toolgate mcp auth {name}`"))
        }
        SourceState::Connected | SourceState::Connecting | SourceState::Failed => None,
    }
}

/// How a server is reached: its command line or its address, without what looks like a secret.
pub(crate) fn reach(table: &UpstreamConfig) -> String {
    if let Some(url) = &table.url {
        return address(url);
    }
    let mut words = vec![table.command.clone().unwrap_or_default()];
    let mut flag = "";
    for arg in &table.args {
        let (name, value) = arg.split_once('=').unwrap_or((flag, arg));
        let shown = if looks_secret(name, value) { arg.replace(value, "…") } else { arg.clone() };
        words.push(if shown.contains(' ') { format!("'{shown}'") } else { shown });
        flag = if arg.starts_with('-') { arg } else { "" };
    }
    one_line(&words.join(" "))
}

fn address(url: &str) -> String {
    if looks_secret("", url) {
        return "…".into();
    }
    let Some((before, query)) = url.split_once('?') else { return one_line(url) };
    let shown = |pair: &str| match pair.split_once('=') {
        Some((name, value)) if looks_secret(name, value) => format!("{name}=…"),
        _ => pair.to_owned(),
    };
    one_line(&format!("{before}?{}", query.split('&').map(shown).collect::<Vec<_>>().join("&")))
}

/// Words between commas, on lines of at most 80 columns that begin with four blanks.
pub(super) fn wrapped(words: &[String]) -> String {
    let mut lines = vec![String::new()];
    for (place, word) in words.iter().enumerate() {
        let word = if place + 1 < words.len() { format!("{word},") } else { word.clone() };
        match lines.last_mut() {
            Some(line) if line.is_empty() => *line = word,
            Some(line) if line.chars().count() + word.chars().count() < 76 => *line += &format!(" {word}"),
            _ => lines.push(word),
        }
    }
    lines.iter().map(|line| format!("    {line}\n")).collect()
}

/// `3 tools, 1 resource, no prompts`.
pub(super) fn counts(status: &SourceStatus) -> String {
    let count = |count: usize, word: &str| match count {
        0 => format!("no {word}s"),
        1 => format!("1 {word}"),
        count => format!("{count} {word}s"),
    };
    let SourceStatus { tools, resources, prompts, .. } = status;
    [count(*tools, "tool"), count(*resources, "resource"), count(*prompts, "prompt")].join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_server_is_reached_is_shown_without_its_secrets() {
        #[track_caller]
        fn check(table: Value, expect: &str) {
            assert_eq!(reach(&serde_json::from_value(table).unwrap()), expect);
        }
        use serde_json::json;
        check(json!({"command": "npx", "args": ["-y", "a b"]}), "npx -y 'a b'");
        check(
            json!({"command": "x", "args": ["--token", "abcdefgh", "--key=abcdefgh", "--n", "1"]}),
            "x --token … --key=… --n 1",
        );
        check(json!({"command": "x", "args": ["--token", "{secret:T}"]}), "x --token {secret:T}");
        check(json!({"url": "https://h/mcp?api_key=abcdefgh&a=b"}), "https://h/mcp?api_key=…&a=b");
        check(json!({"url": "https://me:hunter22@h/mcp"}), "…");
    }

    #[test]
    fn words_are_wrapped_where_the_line_ends() {
        let words: Vec<String> = (0..30).map(|count| format!("word_{count}")).collect();
        let text = wrapped(&words);
        assert!(text.lines().count() == 4 && text.lines().all(|line| line.len() <= 80), "{text}");
        assert_eq!(text.split_whitespace().collect::<String>(), words.join(","));
        assert_eq!(wrapped(&["a".into()]), "    a\n");
    }

    #[test]
    fn what_a_server_has_is_counted_in_words() {
        let status = SourceStatus { tools: 2, resources: 1, ..SourceStatus::default() };
        assert_eq!(counts(&status), "2 tools, 1 resource, no prompts");
    }
}
