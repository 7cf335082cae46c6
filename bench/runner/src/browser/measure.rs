//! The measurement: both servers in every round, one after the other.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde::Serialize;
use serde_json::{Value, json};

use super::client::Client;
use super::{Plan, page};
use crate::sample::median;

/// What was measured of one server in one round.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Round {
    /// From the start of the server to its first answer.
    pub(super) start_ms: f64,
    /// The first page, for which a browser is started.
    pub(super) first_ms: f64,
    /// The same page again.
    pub(super) again_ms: f64,
    pub(super) snapshot_ms: f64,
    pub(super) snapshot_bytes: f64,
    pub(super) click_ms: f64,
    /// All definitions of tools, without the schemas of their output.
    pub(super) list_bytes: f64,
    pub(super) tools: f64,
    /// Memory of the server itself, in the end; what is shared counts once.
    pub(super) memory_bytes: f64,
    /// That of it which stands in no file: without the program itself.
    pub(super) own_bytes: f64,
}

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    /// The version of the other server.
    pub(super) version: String,
    pub(super) chromium: String,
    pub(super) toolgate: Vec<Round>,
    pub(super) playwright: Vec<Round>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Toolgate,
    Playwright,
}

/// Measures both in every round; each round begins with the other one.
pub(super) fn rounds(plan: &Plan) -> Result<Measured> {
    let url = page::serve()?;
    let mut measured = Measured {
        version: version(&plan.peers)?,
        chromium: plan.chromium.file_name().map(|name| name.to_string_lossy().into()).unwrap_or_default(),
        toolgate: Vec::new(),
        playwright: Vec::new(),
    };
    for number in 0..plan.rounds {
        let mut order = [Which::Toolgate, Which::Playwright];
        order.rotate_left(number % 2);
        for which in order {
            let round = round(plan, which, &url).with_context(|| format!("{which:?}"))?;
            eprintln!("round {}/{} {which:?}: {round:?}", number + 1, plan.rounds);
            match which {
                Which::Toolgate => measured.toolgate.push(round),
                Which::Playwright => measured.playwright.push(round),
            }
        }
    }
    Ok(measured)
}

fn round(plan: &Plan, which: Which, url: &str) -> Result<Round> {
    let home = tempfile::tempdir()?;
    let command = match which {
        Which::Toolgate => toolgate(plan, home.path())?,
        Which::Playwright => playwright(plan, home.path()),
    };
    let (mut client, start) = Client::start(command)?;
    let (tools, list_bytes) = definitions(&mut client)?;
    let [go, snapshot, click] = match which {
        Which::Toolgate => ["navigate_to_url", "get_page_snapshot", "click_element"],
        Which::Playwright => ["browser_navigate", "browser_snapshot", "browser_click"],
    };
    let mut first = Duration::ZERO;
    if which == Which::Toolgate {
        first += client.call("launch_browser", &json!({}))?.1;
    }
    first += client.call(go, &json!({"url": url}))?.1;
    let again = client.call(go, &json!({"url": url}))?.1;
    let (mut looks, mut clicks, mut bytes) = (Vec::new(), Vec::new(), 0);
    for _ in 0..plan.times {
        let (seen, took) = client.call(snapshot, &json!({}))?;
        looks.push(ms(took));
        let text = text(&seen);
        bytes = text.len();
        let reference = reference(&text).context("the snapshot shows no button")?;
        let arguments = match which {
            Which::Toolgate => json!({"ref": reference}),
            Which::Playwright => theirs(&tools, &reference),
        };
        clicks.push(ms(client.call(click, &arguments)?.1));
    }
    Ok(Round {
        start_ms: ms(start),
        first_ms: ms(first),
        again_ms: ms(again),
        snapshot_ms: median(looks),
        snapshot_bytes: bytes as f64,
        click_ms: median(clicks),
        list_bytes: list_bytes as f64,
        tools: tools.len() as f64,
        memory_bytes: client.memory("Pss")? as f64,
        own_bytes: client.memory("Anonymous")? as f64,
    })
}

/// The tools, and how many bytes they cost a model.
fn definitions(client: &mut Client) -> Result<(Vec<Value>, usize)> {
    let mut listed = client.ask("tools/list", &json!({}))?;
    let mut tools: Vec<Value> = serde_json::from_value(listed["tools"].take())?;
    for tool in &mut tools {
        tool.as_object_mut().context("a tool is no object")?.remove("outputSchema");
    }
    let bytes = tools.iter().map(|tool| tool.to_string().len()).sum();
    Ok((tools, bytes))
}

/// All text of a result.
fn text(result: &Value) -> String {
    let blocks = result["content"].as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// The ref of the button: `[button "Refresh" e7]` here, `button "Refresh" [ref=e7]` there.
fn reference(snapshot: &str) -> Option<String> {
    let (_, behind) = snapshot.split_once("button \"Refresh\"")?;
    let line = behind.lines().next()?;
    let rest = line.split_once("ref=").map_or(line.trim_start(), |(_, rest)| rest);
    let reference: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
    Some(reference).filter(|reference| reference.ends_with(|c: char| c.is_ascii_digit()))
}

/// The arguments of their click, whatever their version calls them.
fn theirs(tools: &[Value], reference: &str) -> Value {
    let click = tools.iter().find(|tool| tool["name"] == "browser_click");
    let known = click.and_then(|tool| tool["inputSchema"]["properties"].as_object());
    let all = json!({"element": "Refresh", "ref": reference, "target": reference});
    let all = all.as_object().into_iter().flatten();
    let wanted = all.filter(|(key, _)| known.is_some_and(|known| known.contains_key(*key)));
    wanted.map(|(key, value)| (key.clone(), value.clone())).collect::<serde_json::Map<_, _>>().into()
}

fn toolgate(plan: &Plan, home: &Path) -> Result<Command> {
    let toml = format!(
        "packs = ['browser']\n[browser]\nprogram = '{}'\nallowed_domains = ['127.0.0.1']\n[limits]\nenabled = false\n",
        plan.chromium.display()
    );
    fs::write(home.join("toolgate.toml"), toml)?;
    let mut command = Command::new(&plan.toolgate);
    command.arg("serve");
    surround(&mut command, home);
    Ok(command)
}

fn playwright(plan: &Plan, home: &Path) -> Command {
    let mut command = Command::new(plan.peers.join("bin/node"));
    command.arg(plan.peers.join("node_modules/@playwright/mcp/cli.js"));
    command.args(["--headless", "--isolated", "--no-sandbox", "--executable-path"]).arg(&plan.chromium);
    surround(&mut command, home);
    command
}

fn surround(command: &mut Command, home: &Path) {
    command.env_clear().env("HOME", home).env("PATH", "/usr/bin:/bin").current_dir(home);
}

fn version(peers: &Path) -> Result<String> {
    let text = fs::read_to_string(peers.join("node_modules/@playwright/mcp/package.json"))?;
    let package: Value = serde_json::from_str(&text)?;
    Ok(package["version"].as_str().unwrap_or("unknown").to_owned())
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_button_is_found_in_both_snapshots() {
        assert_eq!(reference("x [button \"Refresh\" e7] y").as_deref(), Some("e7"));
        assert_eq!(reference("- button \"Refresh\" [ref=e12]:").as_deref(), Some("e12"));
        assert_eq!(
            reference("- button \"Refresh\" [active] [ref=f1e12] [cursor=pointer]").as_deref(),
            Some("f1e12")
        );
        assert_eq!(reference("[button \"Send\" e7]"), None);
    }

    #[test]
    fn their_click_is_told_what_it_knows() {
        let tools =
            [json!({"name": "browser_click", "inputSchema": {"properties": {"ref": {}, "element": {}}}})];
        assert_eq!(theirs(&tools, "e7"), json!({"element": "Refresh", "ref": "e7"}));
    }
}
