//! The queue between calls and the collector, and who empties it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use opentelemetry::Context;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Span, SpanData, SpanExporter, SpanProcessor};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout, timeout_at};
use toolgate_host::Tasks;

/// How many spans wait at most; more are given up.
const MOST_WAITING: usize = 2048;

/// How many spans go out at once.
const MOST_AT_ONCE: usize = 512;

/// How long spans are gathered before they go out.
const GATHER: Duration = Duration::from_secs(1);

/// How long the last spans get when the process ends.
const LAST: Duration = Duration::from_secs(3);

/// What became of spans.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    exported: AtomicU64,
    dropped: AtomicU64,
}

impl Counts {
    pub(crate) fn exported(&self) -> u64 {
        self.exported.load(Ordering::Relaxed)
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

/// The end of the queue that calls see: it takes a span or gives it up, at once.
#[derive(Debug)]
pub(crate) struct Queue {
    spans: mpsc::Sender<SpanData>,
    counts: Arc<Counts>,
}

impl Queue {
    pub(crate) fn counts(&self) -> Arc<Counts> {
        self.counts.clone()
    }
}

impl SpanProcessor for Queue {
    fn on_start(&self, _span: &mut Span, _context: &Context) {}

    fn on_end(&self, span: SpanData) {
        if self.spans.try_send(span).is_err() {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    // Both are asked of the queue's other end, which can wait.
    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _timeout: Duration) -> OTelSdkResult {
        Ok(())
    }
}

/// Asks for what has gathered to be sent.
pub(crate) struct Flusher(mpsc::Sender<oneshot::Sender<()>>);

impl Flusher {
    pub(crate) async fn flush(&self) {
        let (done, sent) = oneshot::channel();
        let asked = async {
            if self.0.send(done).await.is_ok() {
                drop(sent.await);
            }
        };
        // Whether it succeeded is counted elsewhere.
        drop(timeout(LAST, asked).await);
    }
}

/// Starts to send spans, as a task that ends with its owner.
pub(crate) fn start(
    mut exporter: impl SpanExporter + 'static,
    resource: &Resource,
    tasks: &Tasks,
) -> (Queue, Flusher) {
    exporter.set_resource(resource);
    let (spans, waiting) = mpsc::channel(MOST_WAITING);
    let (flusher, flushes) = mpsc::channel(1);
    let counts = Arc::new(Counts::default());
    let sending = Sending { exporter, waiting, counts: counts.clone(), reached: None };
    let stopping = tasks.stopping();
    tasks.spawn(async move { sending.run(flushes, stopping.cancelled()).await });
    (Queue { spans, counts }, Flusher(flusher))
}

/// The end of the queue that the collector sees.
struct Sending<E> {
    exporter: E,
    waiting: mpsc::Receiver<SpanData>,
    counts: Arc<Counts>,
    /// Whether the last try reached the collector.
    reached: Option<bool>,
}

impl<E: SpanExporter> Sending<E> {
    async fn run(mut self, mut flushes: mpsc::Receiver<oneshot::Sender<()>>, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        let (mut batch, mut open) = (Vec::new(), true);
        while open {
            let flushed = tokio::select! {
                biased;
                () = &mut stop => break,
                Some(flush) = flushes.recv() => Some(flush),
                more = gather(&mut self.waiting, &mut batch) => {
                    open = more;
                    None
                }
            };
            if flushed.is_some() {
                take_all(&mut self.waiting, &mut batch);
            }
            let mut sending = std::pin::pin!(self.send(&mut batch));
            let stopped = tokio::select! {
                biased;
                () = &mut sending => false,
                () = &mut stop => true,
            };
            if stopped {
                // A collector that hangs must not keep the process from ending.
                drop(timeout(LAST / 2, sending).await);
                break;
            }
        }
        take_all(&mut self.waiting, &mut batch);
        let last = batch.len() as u64;
        if timeout(LAST / 2, self.send(&mut batch)).await.is_err() {
            tracing::debug!(spans = last, "the last spans did not reach the collector in time");
        }
        self.counts.dropped.fetch_add(batch.len() as u64, Ordering::Relaxed);
    }

    /// Sends a batch, in parts of a size that collectors take.
    async fn send(&mut self, batch: &mut Vec<SpanData>) {
        while !batch.is_empty() {
            let part: Vec<SpanData> = batch.drain(..batch.len().min(MOST_AT_ONCE)).collect();
            let mut fate = Fate { count: part.len() as u64, counts: self.counts.clone(), arrived: false };
            let sent = self.exporter.export(part).await;
            fate.arrived = sent.is_ok();
            drop(fate);
            self.tell(sent);
        }
    }

    /// Says once that the collector cannot be reached, and once that it can be again.
    fn tell(&mut self, sent: OTelSdkResult) {
        let before = self.reached.replace(sent.is_ok());
        match (sent, before) {
            (Err(error), None | Some(true)) => {
                tracing::warn!(%error, "traces do not reach the collector; they are given up until it answers");
            }
            (Ok(()), Some(false)) => tracing::info!("traces reach the collector again"),
            (Ok(()), None | Some(true)) | (Err(_), Some(false)) => {}
        }
    }
}

/// Counts what became of a part of a batch, also when nobody waited for it to be sent.
struct Fate {
    count: u64,
    counts: Arc<Counts>,
    arrived: bool,
}

impl Drop for Fate {
    fn drop(&mut self) {
        let counter = if self.arrived { &self.counts.exported } else { &self.counts.dropped };
        counter.fetch_add(self.count, Ordering::Relaxed);
    }
}

/// Waits for spans: for the first as long as it takes, for more until it is time to send. Says whether more may come.
async fn gather(waiting: &mut mpsc::Receiver<SpanData>, batch: &mut Vec<SpanData>) -> bool {
    // Only whole spans are taken, so who gives up waiting here loses none.
    if batch.is_empty() && waiting.recv_many(batch, MOST_AT_ONCE).await == 0 {
        return false;
    }
    let due = Instant::now() + GATHER;
    while batch.len() < MOST_AT_ONCE {
        let room = MOST_AT_ONCE - batch.len();
        match timeout_at(due, waiting.recv_many(batch, room)).await {
            Ok(0) => return false,
            Ok(_) => {}
            Err(_) => return true,
        }
    }
    true
}

fn take_all(waiting: &mut mpsc::Receiver<SpanData>, batch: &mut Vec<SpanData>) {
    while let Ok(span) = waiting.try_recv() {
        batch.push(span);
    }
}
