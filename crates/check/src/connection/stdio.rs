//! A program's standard streams: a message a line each way.

use std::collections::VecDeque;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::ChildStdin;
use tokio::sync::oneshot;
use toolgate_host::process::Pipes;
use toolgate_host::{Program as Starts, Tasks};
use toolgate_wire::Lines;
use toolgate_wire::lines::Item;

use super::queue::Ear;
use super::{Heard, MESSAGE_LIMIT};
use crate::subject::Program;

/// How much of what a program complains is kept.
const LINES: usize = 20;
const COLUMNS: usize = 400;

/// How long a program may take to end when it is told to.
const WHEN_TOLD: Duration = Duration::from_secs(2);

/// How long output may lag behind the end of its program.
const LAG: Duration = Duration::from_secs(2);

/// The last lines that a program wrote to standard error, over all connections.
#[derive(Debug, Clone, Default)]
pub(crate) struct Complaints(Arc<Mutex<VecDeque<String>>>);

impl Complaints {
    pub(crate) fn lines(&self) -> Vec<String> {
        self.kept().iter().cloned().collect()
    }

    fn add(&self, line: &str) {
        let mut kept = self.kept();
        if kept.len() == LINES {
            kept.pop_front();
        }
        kept.push_back(line.chars().take(COLUMNS).collect());
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The standard streams of a program.
pub(super) struct Stdio {
    stdin: Option<ChildStdin>,
    /// Dropping it ends the program.
    keep: oneshot::Sender<()>,
    ended: oneshot::Receiver<()>,
}

pub(super) async fn start(
    program: &Program,
    heard: Ear,
    tasks: &Tasks,
    complaints: &Complaints,
) -> Result<Stdio, String> {
    let starts = Starts::new(&program.path).arguments(program.arguments.iter().cloned());
    let starts = program
        .variables
        .iter()
        .fold(starts, |starts, (name, value)| starts.variable(name.clone(), value.clone()));
    let starts = match &program.sandbox {
        Some(sandbox) => starts.sandbox(sandbox.clone()),
        None => starts,
    };
    let started = starts.start(program.folder.as_deref()).await;
    let (mut running, pipes) = started.map_err(|error| error.to_string())?;
    let Pipes { stdin, stdout, stderr } = pipes;
    let (keep, dropped) = oneshot::channel();
    let (over, ended) = oneshot::channel();
    let (all_read, was_read) = oneshot::channel::<()>();
    let (all_heard, was_heard) = oneshot::channel::<()>();
    let reader = heard.clone();
    tasks.spawn(async move {
        let mut lines = Reader::new(stdout, MESSAGE_LIMIT);
        while let Some(item) = lines.next().await {
            let heard = match item {
                Item::Line(line) => Heard::Text(line, None),
                Item::TooLong { dropped } => Heard::TooLarge(dropped),
            };
            if reader.send(heard).await.is_err() {
                break;
            }
        }
        drop(all_read);
    });
    let kept = complaints.clone();
    tasks.spawn(async move {
        let mut lines = Reader::new(stderr, 16 * COLUMNS);
        while let Some(item) = lines.next().await {
            match item {
                Item::Line(line) => kept.add(&String::from_utf8_lossy(&line)),
                Item::TooLong { dropped } => kept.add(&format!("(a line of {dropped} bytes)")),
            }
        }
        drop(all_heard);
    });
    tasks.spawn(async move {
        let status = tokio::select! {
            status = running.wait() => Some(status),
            _ = dropped => None,
        };
        match status {
            Some(status) => {
                // What it wrote last still counts, and tells why it ended.
                drop(tokio::time::timeout(LAG, async { tokio::join!(was_read, was_heard) }).await);
                let why = status.map_or_else(|error| error.to_string(), |status| words(&status));
                // Nobody may listen any more.
                drop(heard.send(Heard::Closed(why)).await);
            }
            None => running.end(WHEN_TOLD).await,
        }
        drop(over);
    });
    Ok(Stdio { stdin: Some(stdin), keep, ended })
}

impl Stdio {
    /// Writes a line. That nobody reads it shows at the other end.
    pub(super) async fn write(&mut self, frame: &[u8]) {
        let Some(stdin) = &mut self.stdin else { return };
        let writing = async {
            stdin.write_all(frame).await?;
            stdin.write_all(b"\n").await?;
            stdin.flush().await
        };
        if let Err(error) = writing.await {
            tracing::debug!(%error, "the program does not read its standard input");
        }
    }

    /// Ends its input.
    pub(super) fn end_input(&mut self) {
        self.stdin = None;
    }

    /// Ends the program, if it runs, and waits for its end.
    pub(super) async fn end(self) {
        drop(self.keep);
        drop(self.stdin);
        // It is only ever dropped.
        drop(self.ended.await);
    }
}

/// Reads lines.
struct Reader<R> {
    stream: R,
    lines: Lines,
    buffer: BytesMut,
    ended: bool,
}

impl<R: AsyncRead + Unpin> Reader<R> {
    fn new(stream: R, limit: usize) -> Self {
        Self { stream, lines: Lines::new(limit), buffer: BytesMut::new(), ended: false }
    }

    async fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(item) = self.lines.next() {
                return Some(item);
            }
            if self.ended {
                return None;
            }
            self.buffer.reserve(64 * 1024);
            match self.stream.read_buf(&mut self.buffer).await {
                Ok(read) if read > 0 => self.lines.push(self.buffer.split().freeze()),
                Ok(_) | Err(_) => {
                    self.lines.finish();
                    self.ended = true;
                }
            }
        }
    }
}

fn words(status: &ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it ended with exit code {code}"),
        (None, Some(signal)) => format!("it was ended by signal {signal}"),
        (None, None) => "it ended".into(),
    }
}
