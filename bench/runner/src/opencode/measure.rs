//! The measurement: prompts both ways, in turns.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use memchr::memmem;
use serde::Serialize;
use serde_json::json;

use super::model::{self, ANSWER};
use super::{Plan, web};
use crate::server::Server;

/// Prompts before the measurement, each way.
const WARM_UP: usize = 5;

/// A prompt both ways.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Pair {
    /// A new session and a prompt at OpenCode's own API.
    pub(super) direct_ms: f64,
    /// The same as one call of `opencode_run`.
    pub(super) toolgate_ms: f64,
}

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    pub(super) version: String,
    pub(super) pairs: Vec<Pair>,
    /// Processor time of Toolgate for a prompt.
    pub(super) cpu_ms: f64,
}

/// An OpenCode that runs, until this is dropped.
struct Opencode(Child);

impl Drop for Opencode {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Sends prompts both ways; each pair begins the other way round.
pub(super) fn turns(plan: &Plan) -> Result<Measured> {
    let home = tempfile::tempdir()?;
    // It would fetch a package of its own from there.
    fs::write(home.path().join(".npmrc"), "registry=http://127.0.0.1:9/\nfetch-retries=0\n")?;
    fs::create_dir(home.path().join(".git"))?;
    let (_opencode, direct) = opencode(plan, home.path())?;
    let server = toolgate(plan, home.path(), direct)?;
    let ours = server.address()?;
    let way = |is_ours: bool| if is_ours { through(ours) } else { straight(direct) };
    for turn in 0..2 * WARM_UP {
        way(turn % 2 == 0)?;
    }
    let before = server.cpu()?;
    let mut pairs = Vec::new();
    for turn in 0..plan.prompts {
        let first = turn % 2 == 0;
        let (one, other) = (way(first)?, way(!first)?);
        let (toolgate, direct) = if first { (one, other) } else { (other, one) };
        let pair = Pair { direct_ms: ms(direct), toolgate_ms: ms(toolgate) };
        eprintln!(
            "{}/{} direct {:.1} ms, Toolgate {:.1} ms",
            turn + 1,
            plan.prompts,
            pair.direct_ms,
            pair.toolgate_ms
        );
        pairs.push(pair);
    }
    let cpu_ms = ms(server.cpu()?.saturating_sub(before)) / plan.prompts as f64;
    Ok(Measured { version: version(&plan.opencode)?, pairs, cpu_ms })
}

fn straight(to: SocketAddr) -> Result<Duration> {
    let began = Instant::now();
    let session = web::session(&web::post(to, "/session", "{}")?)?;
    let body = json!({"parts": [{"type": "text", "text": "hello"}]}).to_string();
    let answer = web::post(to, &format!("/session/{session}/message"), &body)?;
    done(began, &answer)
}

fn through(to: SocketAddr) -> Result<Duration> {
    let began = Instant::now();
    let params = json!({"name": "opencode_run", "arguments": {"prompt": "hello"}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    done(began, &web::post(to, "/mcp", &body)?)
}

fn done(began: Instant, answer: &[u8]) -> Result<Duration> {
    let took = began.elapsed();
    let said = memmem::find(answer, ANSWER.as_bytes()).is_some();
    ensure!(said, "a wrong answer: {}", String::from_utf8_lossy(answer));
    Ok(took)
}

fn opencode(plan: &Plan, home: &Path) -> Result<(Opencode, SocketAddr)> {
    let provider = json!({"npm": "@ai-sdk/openai-compatible", "name": "Fake",
        "options": {"baseURL": model::start()?, "apiKey": "none"},
        "models": {"m": {"name": "M", "limit": {"context": 100_000, "output": 4096}}}});
    let config = json!({"model": "fake/m", "small_model": "fake/m", "autoupdate": false, "share": "disabled",
        "enabled_providers": ["fake"], "provider": {"fake": provider}});
    let mut command = Command::new(&plan.opencode);
    command.args(["serve", "--hostname", "127.0.0.1", "--port", "0"]).env_clear().current_dir(home);
    command.env("HOME", home).env("PATH", "/usr/bin:/bin").env("OPENCODE_CONFIG_CONTENT", config.to_string());
    for name in ["MODELS_FETCH", "AUTOUPDATE", "DEFAULT_PLUGINS", "LSP_DOWNLOAD"] {
        command.env(format!("OPENCODE_DISABLE_{name}"), "1");
    }
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let stdout = child.stdout.take().context("no standard output")?;
    let child = Opencode(child);
    let mut lines = BufReader::new(stdout).lines().map_while(std::io::Result::ok);
    let address =
        lines.find_map(|line| line.split_once("listening on http://")?.1.trim().parse::<SocketAddr>().ok());
    let address = address.context("OpenCode does not listen")?;
    std::thread::spawn(move || lines.for_each(drop));
    Ok((child, address))
}

fn toolgate(plan: &Plan, home: &Path, opencode: SocketAddr) -> Result<Server> {
    let toml = format!(
        "packs = ['opencode']\n[opencode]\nserver_url = 'http://{opencode}'\ndefault_project = '{}'\n\
         [limits]\nenabled = false\n",
        home.display()
    );
    fs::write(home.join("toolgate.toml"), toml)?;
    let mut command = Command::new(&plan.toolgate);
    command.args(["serve", "--http", "--port", "0"]).env_clear().env("HOME", home).current_dir(home);
    Server::listening(command)
}

fn version(opencode: &Path) -> Result<String> {
    let said = Command::new(opencode).arg("--version").output()?.stdout;
    Ok(String::from_utf8_lossy(&said).trim().to_owned())
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
