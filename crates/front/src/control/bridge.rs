//! A client on standard input and output, served by a hub of another process for as long as that one lives.
//!
//! Bytes pass as they are. What goes by is noted, so that nothing hangs when the hub is gone: calls under way are
//! answered with an error, and the next hub learns what the client told the last one.

mod ledger;

use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolgate_wire::lines::Item;
use toolgate_wire::{Lines, code, write};

use crate::stdio::StdioLimits;
use ledger::{Heard, Ledger};

/// How much is read at once.
const CHUNK: usize = 64 * 1024;

/// How many questions one hub may ask before the next one's would be taken for its own.
const QUESTIONS_OF_A_HUB: u64 = 1 << 32;

/// How long a hub whose client is gone may say nothing before it is taken for dead.
const SILENCE: Duration = Duration::from_secs(5);

/// Both ways to a hub.
pub struct Link {
    input: Box<dyn AsyncRead + Send + Unpin>,
    output: Box<dyn AsyncWrite + Send + Unpin>,
}

impl Link {
    pub(super) fn new(
        (input, output): (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
    ) -> Self {
        Self { input: Box::new(input), output: Box::new(output) }
    }
}

/// Serves a client through a hub, and through the next one that `next` finds when it is lost; `next` is told from
/// where on that one has to number its questions. Ends when the client does, or `stop` is cancelled.
pub async fn bridge(
    (input, output): (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    first: Link,
    mut next: impl AsyncFnMut(u64) -> Option<Link>,
    stop: CancellationToken,
) {
    let limits = StdioLimits::default();
    let mut client = Client { input, output, lines: Lines::new(limits.line), limits, over: false };
    let ledger = Mutex::default();
    let (mut link, mut questions) = (first, 0);
    loop {
        if client.pass(link, &ledger, &stop).await == End::Client {
            return;
        }
        let lost = lock(&ledger).lost();
        // Who has said all there is to say goes without an answer, as from a hub of its own.
        if client.over || !client.say(&lost).await {
            return;
        }
        tracing::info!("the hub is gone; looking for another");
        questions += QUESTIONS_OF_A_HUB;
        let Some(mut found) = next(questions).await else { return };
        let replayed = lock(&ledger).replay();
        // A hub that is gone again is noticed by its silence, not here.
        drop(found.output.write_all(&replayed).await);
        drop(found.output.flush().await);
        link = found;
    }
}

fn lock(ledger: &Mutex<Ledger>) -> MutexGuard<'_, Ledger> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What came to its end.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// The client is gone, or has to be let go.
    Client,
    /// The hub says nothing more.
    Hub,
}

struct Client<I, O> {
    input: I,
    output: O,
    lines: Lines,
    limits: StdioLimits,
    /// Whether it will say nothing more.
    over: bool,
}

impl<I: AsyncRead + Unpin, O: AsyncWrite + Unpin> Client<I, O> {
    /// Passes everything both ways until one side ends.
    async fn pass(&mut self, link: Link, ledger: &Mutex<Ledger>, stop: &CancellationToken) -> End {
        let (refused, refusals) = mpsc::channel(16);
        let (over, stopping) = (CancellationToken::new(), CancellationToken::new());
        let Self { input, output, lines, limits, over: is_over } = self;
        let mut inward = Inward { input, lines, hub: link.output, longest: limits.line, refused };
        let grace = limits.grace + SILENCE;
        let inward = async {
            tokio::select! {
                () = inward.run(ledger) => {}
                () = stop.cancelled() => {}
                // What the client says from now on is for the next hub.
                () = stopping.cancelled() => stop.cancelled().await,
            }
            *is_over = true;
            over.cancel();
            // A hub that is gone is noticed by its silence.
            drop(inward.hub.shutdown().await);
            stop.cancelled().await;
            tokio::time::sleep(grace).await;
        };
        let outward =
            Outward { output, hub: link.input, refusals, over: &over, stopping: &stopping }.run(ledger);
        let (mut inward, mut outward) = (pin!(inward), pin!(outward));
        tokio::select! {
            end = &mut outward => end,
            () = &mut inward => End::Client,
        }
    }

    /// Says something of our own; whether anybody was there to hear it.
    async fn say(&mut self, bytes: &[u8]) -> bool {
        self.output.write_all(bytes).await.is_ok() && self.output.flush().await.is_ok()
    }
}

/// From the client to the hub.
struct Inward<'a, I> {
    input: &'a mut I,
    lines: &'a mut Lines,
    hub: Box<dyn AsyncWrite + Send + Unpin>,
    longest: usize,
    refused: mpsc::Sender<Bytes>,
}

impl<I: AsyncRead + Unpin> Inward<'_, I> {
    /// Runs until the client's input ends. What is read and not yet passed on stays in `lines` when this is dropped.
    async fn run(&mut self, ledger: &Mutex<Ledger>) {
        let mut buffer = BytesMut::new();
        loop {
            self.pass_on(ledger).await;
            buffer.reserve(CHUNK);
            match self.input.read_buf(&mut buffer).await {
                Ok(0) => break,
                Ok(_) => self.lines.push(buffer.split().freeze()),
                Err(error) => {
                    tracing::error!(%error, "standard input cannot be read");
                    break;
                }
            }
        }
        self.lines.finish();
        self.pass_on(ledger).await;
    }

    async fn pass_on(&mut self, ledger: &Mutex<Ledger>) {
        for item in self.lines.by_ref() {
            match item {
                Item::Line(line) => {
                    lock(ledger).hear_client(&line);
                    let mut line = line.to_vec();
                    line.push(b'\n');
                    if self.hub.write_all(&line).await.is_err() || self.hub.flush().await.is_err() {
                        // What the hub said before it went is still on its way to the client.
                        std::future::pending::<()>().await;
                    }
                }
                Item::TooLong { dropped } => {
                    let message = format!("a line of {dropped} bytes is longer than {} bytes", self.longest);
                    let frame = write::error(None, code::INVALID_REQUEST, &message, None);
                    // Nobody hears it where the client reads no more.
                    drop(self.refused.send(frame).await);
                }
            }
        }
    }
}

/// From the hub to the client.
struct Outward<'a, O> {
    output: &'a mut O,
    hub: Box<dyn AsyncRead + Send + Unpin>,
    refusals: mpsc::Receiver<Bytes>,
    over: &'a CancellationToken,
    stopping: &'a CancellationToken,
}

impl<O: AsyncWrite + Unpin> Outward<'_, O> {
    async fn run(mut self, ledger: &Mutex<Ledger>) -> End {
        let mut lines = Lines::new(usize::MAX);
        let mut buffer = BytesMut::new();
        loop {
            buffer.reserve(CHUNK);
            let silence = async {
                self.over.cancelled().await;
                tokio::time::sleep(SILENCE).await;
            };
            let mut passed = Vec::new();
            tokio::select! {
                read = self.hub.read_buf(&mut buffer) => match read {
                    Ok(0) | Err(_) => return End::Hub,
                    Ok(_) => {
                        lines.push(buffer.split().freeze());
                        let mut ledger = lock(ledger);
                        for item in &mut lines {
                            let Item::Line(line) = item else { continue };
                            match ledger.hear_hub(&line) {
                                Heard::ForClient => put(&mut passed, &line),
                                Heard::ForUs => {}
                                Heard::Stopping => self.stopping.cancel(),
                            }
                        }
                    }
                },
                Some(frame) = self.refusals.recv() => put(&mut passed, &frame),
                () = silence => return End::Hub,
            }
            if self.output.write_all(&passed).await.is_err() || self.output.flush().await.is_err() {
                return End::Client;
            }
        }
    }
}

fn put(bytes: &mut Vec<u8>, line: &[u8]) {
    bytes.extend_from_slice(line);
    bytes.push(b'\n');
}
