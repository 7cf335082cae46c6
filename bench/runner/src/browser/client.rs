//! A client of a browser server on its standard streams.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::process;

/// How long a server may take to end by itself, with its browser.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server, and the way to it. It ends when this is dropped.
pub(super) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    /// Starts a server and shakes hands; how long that took.
    pub(super) fn start(mut command: Command) -> Result<(Self, Duration)> {
        let began = Instant::now();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().context("no standard output")?);
        let mut client = Self { child, input, output, next: 0 };
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"},
        });
        client.ask("initialize", &hello)?;
        let took = began.elapsed();
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok((client, took))
    }

    /// Calls a tool; its result, and how long it took.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<(Value, Duration)> {
        let began = Instant::now();
        let result = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        ensure!(result["isError"] != true, "`{tool}` failed: {result}");
        Ok((result, began.elapsed()))
    }

    /// Asks for something, and waits for the answer.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let mut line = String::new();
            ensure!(self.output.read_line(&mut line)? > 0, "the server ended");
            let mut message: Value = serde_json::from_str(&line)?;
            if message["id"] == id && message.get("method").is_none() {
                ensure!(message.get("error").is_none(), "`{method}` was refused: {message}");
                return Ok(message["result"].take());
            }
        }
    }

    /// The memory of the server itself, without that of its browser, by a measure of the kernel.
    pub(super) fn memory(&self, measure: &str) -> Result<u64> {
        process::memory_without(self.child.id(), &["chrom", "headless"], measure)
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let input = self.input.as_mut().context("the server ended")?;
        Ok(writeln!(input, "{message}")?)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It ends its browser when its input ends.
        drop(self.input.take());
        let began = Instant::now();
        while began.elapsed() < PATIENCE && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
