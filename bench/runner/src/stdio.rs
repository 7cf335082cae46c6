//! Calls on a server's standard input.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use crate::plan::Load;
use crate::request::{self, Era};
use crate::sample::Timed;

/// A client of a server that was started for it.
pub(crate) struct Client {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl Client {
    pub(crate) fn new(input: ChildStdin, output: BufReader<ChildStdout>) -> Self {
        Self { input, output, line: Vec::new() }
    }

    /// Opens the conversation as a legacy client does.
    pub(crate) fn shake_hands(&mut self) -> Result<()> {
        self.send(&format!("{}\n", request::INITIALIZE))?;
        self.answer()?;
        self.send(&format!("{}\n", request::INITIALIZED))
    }

    /// Writes a line, which ends with its line end.
    pub(crate) fn send(&mut self, line: &str) -> Result<()> {
        Ok(self.input.write_all(line.as_bytes())?)
    }

    /// Reads lines up to the next answer, and gives its id.
    pub(crate) fn answer(&mut self) -> Result<usize> {
        loop {
            self.line.clear();
            ensure!(self.output.read_until(b'\n', &mut self.line)? > 0, "the server ended");
            if let Some(id) = request::id(&self.line) {
                return Ok(id);
            }
        }
    }

    /// Reads the answer to a call, and gives its id.
    pub(crate) fn echo(&mut self) -> Result<usize> {
        let id = self.answer()?;
        request::check(&self.line)?;
        Ok(id)
    }

    /// Calls until the load is used up, with so many calls under way at once.
    pub(crate) fn load(&mut self, in_flight: usize, load: Load) -> Result<Timed> {
        // Ids begin behind that of the handshake; each is used again once its answer is there.
        let lines: Vec<String> =
            (1..=in_flight).map(|id| format!("{}\n", request::call_message(Era::Legacy, id))).collect();
        let began = Instant::now();
        let end = began + load.time;
        let (mut latencies, mut sent) = (Vec::new(), Vec::new());
        for line in &lines {
            sent.push(Instant::now());
            self.send(line)?;
        }
        let (mut left, mut under_way) = (load.requests.saturating_sub(lines.len() as u64), lines.len());
        while under_way > 0 {
            let place = self.echo()?.checked_sub(1).filter(|place| *place < sent.len());
            let place = place.context("an answer to no call")?;
            let now = Instant::now();
            latencies.push(now - sent[place]);
            if left == 0 || now >= end {
                under_way -= 1;
                continue;
            }
            left -= 1;
            sent[place] = now;
            self.send(&lines[place])?;
        }
        Ok(Timed { latencies, elapsed: began.elapsed() })
    }
}

/// How long a server is left alone before its memory is read.
pub(crate) const SETTLE: Duration = Duration::from_millis(200);
