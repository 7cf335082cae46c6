//! The DevTools protocol: calls and their answers, and events, over a pair of pipes.
//!
//! Messages are JSON between zero bytes. What is not understood is passed over: a new Chromium says new things.

mod frames;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use toolgate_host::Tasks;

use frames::Frames;

/// What a browser tells without being asked.
#[derive(Debug)]
pub(crate) struct Event<'a> {
    /// Which of its pages or frames tells it; none if it is the browser itself.
    pub(crate) session: Option<&'a str>,
    pub(crate) method: &'a str,
    params: &'a RawValue,
}

impl Event<'_> {
    /// What it says; what cannot be read is as if it were not said.
    pub(crate) fn params(&self) -> Value {
        serde_json::from_str(self.params.get()).unwrap_or(Value::Null)
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unanswered {
    /// The browser has ended.
    #[error("the browser has ended")]
    Over,
    /// It took too long.
    #[error("`{0}` was not answered in time")]
    Late(&'static str),
    /// It says no.
    #[error("{0}")]
    Refused(String),
}

/// A message, as far as it matters.
#[derive(Deserialize)]
struct Message<'a> {
    id: Option<u64>,
    #[serde(borrow, rename = "sessionId")]
    session: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow)]
    method: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<Refusal>,
}

#[derive(Deserialize)]
struct Refusal {
    message: Option<String>,
    data: Option<Value>,
}

type Answer = Result<Box<RawValue>, Unanswered>;

/// The way to a browser. Clones are the same way.
#[derive(Clone)]
pub(crate) struct Devtools(Arc<Shared>);

struct Shared {
    next: AtomicU64,
    outgoing: mpsc::UnboundedSender<Vec<u8>>,
    /// Who waits for an answer; nobody any more once the browser has ended.
    waiting: Mutex<Option<HashMap<u64, oneshot::Sender<Answer>>>>,
    over: CancellationToken,
}

/// Strikes a call off the list of those that wait, however it ends.
struct Waiting<'a> {
    shared: &'a Shared,
    id: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(waiting) = self.shared.waiting().as_mut() {
            waiting.remove(&self.id);
        }
    }
}

impl Devtools {
    /// Speaks over a pair of pipes. `heard` is told every event, in order.
    pub(crate) fn over(
        (reader, writer): (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
        tasks: &Tasks,
        heard: impl Fn(&Devtools, Event<'_>) + Send + 'static,
    ) -> Self {
        let (outgoing, to_write) = mpsc::unbounded_channel();
        let this = Self(Arc::new(Shared {
            next: AtomicU64::new(1),
            outgoing,
            waiting: Mutex::new(Some(HashMap::new())),
            over: CancellationToken::new(),
        }));
        let (reading, writing) = (this.clone(), this.0.over.clone());
        tasks.spawn(async move {
            tokio::select! {
                () = reading.read(reader, heard) => {}
                () = reading.0.over.cancelled() => {}
            }
            reading.close();
        });
        tasks.spawn(writing.run_until_cancelled_owned(write(writer, to_write)));
        this
    }

    /// Calls a method, and waits for its answer.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        session: Option<&str>,
        (method, params): (&'static str, Value),
        limit: Duration,
    ) -> Result<T, Unanswered> {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        match self.0.waiting().as_mut() {
            Some(waiting) => waiting.insert(id, answer),
            None => return Err(Unanswered::Over),
        };
        let _waiting = Waiting { shared: &self.0, id };
        self.send(id, session, (method, &params))?;
        let answer = match tokio::time::timeout(limit, answered).await {
            Ok(Ok(answer)) => answer?,
            Ok(Err(_)) => return Err(Unanswered::Over),
            Err(_) => return Err(Unanswered::Late(method)),
        };
        serde_json::from_str(answer.get()).map_err(|error| {
            Unanswered::Refused(format!("`{method}` was answered otherwise than expected: {error}"))
        })
    }

    /// Calls a method whose answer does not matter.
    pub(crate) fn tell(&self, session: Option<&str>, method: &'static str, params: Value) {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        if let Err(error) = self.send(id, session, (method, &params)) {
            tracing::trace!(%error, method, "nobody is told");
        }
    }

    /// Whether the browser has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.0.over.is_cancelled()
    }

    /// Completes when the browser has ended.
    pub(crate) fn ended(&self) -> CancellationToken {
        self.0.over.clone()
    }

    /// Ends the conversation; who waits for an answer learns it at once.
    pub(crate) fn close(&self) {
        // First the flag, so that nobody begins to wait in between.
        self.0.over.cancel();
        drop(self.0.waiting().take());
    }

    fn send(
        &self,
        id: u64,
        session: Option<&str>,
        (method, params): (&str, &Value),
    ) -> Result<(), Unanswered> {
        let mut message = json!({"id": id, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.0.outgoing.send(bytes).map_err(|_| Unanswered::Over)
    }

    async fn read(&self, reader: impl AsyncRead + Unpin, heard: impl Fn(&Devtools, Event<'_>)) {
        let mut frames = Frames::new(reader);
        loop {
            match frames.next().await {
                Ok(Some(frame)) => self.take(frame, &heard),
                Ok(None) => return,
                Err(error) => return tracing::debug!(%error, "the browser cannot be heard any more"),
            }
        }
    }

    fn take(&self, frame: &[u8], heard: &impl Fn(&Devtools, Event<'_>)) {
        let message: Message<'_> = match serde_json::from_slice(frame) {
            Ok(message) => message,
            Err(error) => return tracing::debug!(%error, bytes = frame.len(), "a message is passed over"),
        };
        if let Some(id) = message.id {
            let waiting = self.0.waiting().as_mut().and_then(|waiting| waiting.remove(&id));
            if let Some(waiting) = waiting {
                // Who gave up meanwhile misses nothing.
                drop(waiting.send(answer_of(message)));
            }
            return;
        }
        let (Some(method), Some(params)) = (&message.method, message.params) else { return };
        heard(self, Event { session: message.session.as_deref(), method, params });
    }
}

fn answer_of(message: Message<'_>) -> Answer {
    if let Some(Refusal { message, data }) = message.error {
        let detail =
            data.as_ref().and_then(Value::as_str).map(|data| format!(": {data}")).unwrap_or_default();
        return Err(Unanswered::Refused(format!("{}{detail}", message.unwrap_or_default())));
    }
    match message.result {
        Some(result) => Ok(result.to_owned()),
        None => RawValue::from_string("{}".into()).map_err(|error| Unanswered::Refused(error.to_string())),
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Option<HashMap<u64, oneshot::Sender<Answer>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn write(mut writer: impl AsyncWrite + Unpin, mut outgoing: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(bytes) = outgoing.recv().await {
        if let Err(error) = writer.write_all(&bytes).await {
            return tracing::debug!(%error, "the browser cannot be told anything any more");
        }
    }
}

#[cfg(test)]
mod tests;
