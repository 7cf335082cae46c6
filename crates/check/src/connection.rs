//! A connection to the server that is checked: frames go out, and all that comes back is written down.

mod http;
mod listen;
mod old_sse;
mod pace;
mod queue;
mod stdio;

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until, timeout_at};
use toolgate_host::Tasks;
use toolgate_wire::Version;

use crate::check::Limits;
use crate::subject::{Address, Program};
use crate::transcript::{Entry, Transcript};

pub(crate) use http::{Client, client};
use listen::Happened;
pub(crate) use listen::bare;
pub(crate) use pace::pause;
use queue::{Queue, queue};
pub(crate) use stdio::Complaints;

/// The largest message that is read.
const MESSAGE_LIMIT: usize = 16 * 1024 * 1024;

/// After so many messages on one connection nobody listens any more.
const MOST_MESSAGES: usize = 20_000;

/// Why a connection is given up on which nobody takes what we say.
const NOT_READ: &str = "it does not read its standard input";
const NOT_TAKEN: &str = "it does not take what is sent to it";

/// What a transport hands over.
#[derive(Debug)]
pub(crate) enum Heard {
    /// A line, an event or a body, and the status that it came with over HTTP.
    Text(Bytes, Option<u16>),
    /// Something that was too large to be read.
    TooLarge(usize),
    /// How a request over HTTP is answered.
    Head { post: u64, status: u16, kind: String, session: Option<String> },
    /// All that will come of a request over HTTP has come.
    Over { post: u64, broken: Option<String> },
    /// Nothing will come any more, and why.
    Closed(String),
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The result, or the error object.
    pub(crate) outcome: Result<Value, Value>,
    /// The status, over HTTP.
    pub(crate) status: Option<u16>,
}

impl Reply {
    /// The code of an error.
    pub(crate) fn code(&self) -> Option<i64> {
        self.outcome.as_ref().err().and_then(|error| error["code"].as_i64())
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Lost {
    /// It did not come in time.
    #[error("no answer within {} s", .0.as_secs_f32())]
    Late(Duration),
    /// The connection is gone.
    #[error("{0}")]
    Gone(String),
    /// It was answered by a status alone.
    #[error("HTTP status {0} without a message")]
    Status(u16),
}

/// How a connection came to its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By itself, when it was asked to.
    ByItself,
    /// It had ended before.
    Before(String),
    /// It had to be ended by force.
    ByForce,
}

enum Link {
    Stdio(stdio::Stdio),
    Http(http::Http),
    OldSse(old_sse::OldSse),
}

/// A connection.
pub(crate) struct Connection {
    link: Link,
    heard: Queue,
    pub(crate) transcript: Transcript,
    limits: Limits,
    next_id: u64,
    gone: Option<String>,
}

impl Connection {
    fn new(link: Link, heard: Queue, limits: Limits) -> Self {
        Self { link, heard, transcript: Transcript::default(), limits, next_id: 1, gone: None }
    }

    /// Starts a program; what it complains goes to `complaints`.
    pub(crate) async fn start(
        program: &Program,
        limits: Limits,
        tasks: &Tasks,
        complaints: &Complaints,
    ) -> Result<Self, String> {
        let (sender, heard) = queue();
        let stdio = stdio::start(program, sender, tasks, complaints).await?;
        Ok(Self::new(Link::Stdio(stdio), heard, limits))
    }

    /// Makes ready to talk to an address; nothing is sent yet.
    pub(crate) fn http(address: &Address, client: &Client, limits: Limits, tasks: &Tasks) -> Self {
        let (sender, heard) = queue();
        Self::new(Link::Http(http::Http::new(address, client, sender, tasks)), heard, limits)
    }

    /// Opens the stream of the oldest transport.
    pub(crate) async fn old_sse(
        address: &Address,
        client: &Client,
        limits: Limits,
        tasks: &Tasks,
    ) -> Result<Self, Lost> {
        let (sender, heard) = queue();
        let opening = old_sse::connect(address, client, sender, tasks);
        let opened = tokio::time::timeout(limits.answer, opening).await;
        let sse = opened.map_err(|_| Lost::Late(limits.answer))??;
        Ok(Self::new(Link::OldSse(sse), heard, limits))
    }

    /// Whether nothing can be asked on it any more.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone.is_some()
    }

    /// Whether it speaks to a program.
    pub(crate) fn is_stdio(&self) -> bool {
        matches!(self.link, Link::Stdio(_))
    }

    /// The word for its transport.
    pub(crate) fn word(&self) -> &'static str {
        match self.link {
            Link::Stdio(_) => "stdio",
            Link::Http(_) => "HTTP",
            Link::OldSse(_) => "HTTP+SSE",
        }
    }

    /// The session that a legacy server over HTTP gave us.
    pub(crate) fn session(&self) -> Option<&str> {
        match &self.link {
            Link::Http(http) => http.session.as_deref(),
            Link::Stdio(_) | Link::OldSse(_) => None,
        }
    }

    /// Says which revision is spoken from now on.
    pub(crate) fn speaks(&mut self, version: Version) {
        self.transcript.version = Some(version);
        if let Link::Http(http) = &mut self.link {
            http.version = Some(version);
        }
    }

    /// Listens to what a legacy server over HTTP says by itself.
    pub(crate) fn listen(&self) {
        if let Link::Http(http) = &self.link {
            http.listen();
        }
    }

    /// A number that no request had yet.
    pub(crate) fn fresh_id(&mut self) -> Value {
        self.next_id += 1;
        json!(self.next_id)
    }

    /// Asks something and waits for the answer.
    pub(crate) async fn ask(
        &mut self,
        id: Value,
        method: &str,
        params: Value,
        limit: Duration,
    ) -> Result<Reply, Lost> {
        self.ask_with(id, method, params, &[], limit).await
    }

    /// Asks something with more headers than usual, where there are headers; under another id once more if the server
    /// says when it would answer.
    pub(crate) async fn ask_with(
        &mut self,
        id: Value,
        method: &str,
        params: Value,
        headers: &[(&str, &str)],
        limit: Duration,
    ) -> Result<Reply, Lost> {
        let (mut id, until) = (id, Instant::now() + limit);
        loop {
            let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            let sent = Entry::Sent { id: Some(id.clone()), method: Some(method.to_owned()) };
            let outcome = match self.send(message.to_string().into(), sent, headers, until).await {
                Ok(post) => self.wait(&id, post, until, limit).await,
                Err(lost) => Err(lost),
            };
            match pace::pause_of(&outcome).map(|pause| Instant::now() + pause) {
                Some(again) if again < until => sleep_until(again).await,
                Some(_) | None => return outcome,
            }
            id = self.fresh_id();
        }
    }

    /// Asks something without waiting for the answer.
    pub(crate) async fn begin(&mut self, id: Value, method: &str, params: Value) -> Result<(), Lost> {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let sent = Entry::Sent { id: Some(id), method: Some(method.to_owned()) };
        let until = Instant::now() + self.limits.answer;
        self.send(message.to_string().into(), sent, &[], until).await.map(drop)
    }

    /// Tells something; the status, over HTTP.
    pub(crate) async fn tell(&mut self, method: &str, params: Value) -> Result<Option<u16>, Lost> {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        let sent = Entry::Sent { id: None, method: Some(method.to_owned()) };
        self.send_whole(message.to_string().into(), sent).await
    }

    /// Lets the server answer what was sent last without its id: it may not have come to read it.
    pub(crate) fn excuse(&mut self) {
        self.transcript.entries.push(Entry::Sent { id: None, method: None });
    }

    /// Sends something that is no message.
    pub(crate) async fn say(&mut self, nonsense: impl Into<Bytes>) -> Result<Option<u16>, Lost> {
        self.send_whole(nonsense.into(), Entry::Sent { id: None, method: None }).await
    }

    /// Sends requests as a batch. Their answers are in the transcript at the end.
    pub(crate) async fn batch(&mut self, requests: &[(Value, &str)]) -> Result<Option<u16>, Lost> {
        let messages: Vec<Value> = requests
            .iter()
            .map(|(id, method)| json!({"jsonrpc": "2.0", "id": id, "method": method}))
            .collect();
        for (id, method) in requests {
            let sent = Entry::Sent { id: Some(id.clone()), method: Some((*method).to_owned()) };
            self.transcript.entries.push(sent);
        }
        // A server that has no batches may answer it as nonsense.
        self.send_whole(json!(messages).to_string().into(), Entry::Sent { id: None, method: None }).await
    }

    /// Sends a frame, and over HTTP waits until all has come of it.
    async fn send_whole(&mut self, frame: Bytes, sent: Entry) -> Result<Option<u16>, Lost> {
        let until = Instant::now() + self.limits.answer;
        let post = match self.send(frame, sent, &[], until).await {
            Ok(Some(post)) => post,
            Ok(None) => return Ok(None),
            // A refusal is an answer to what wants none.
            Err(Lost::Status(status)) => return Ok(Some(status)),
            Err(lost) => return Err(lost),
        };
        loop {
            match self.next(until).await {
                Ok(Happened::Over(over, _)) if over == post => return Ok(self.status(Some(post))),
                Ok(Happened::Over(..) | Happened::Messages(_)) => {}
                Err(Lost::Late(_)) => return Err(Lost::Late(self.limits.answer)),
                Err(lost) => return Err(lost),
            }
        }
    }

    async fn send(
        &mut self,
        frame: Bytes,
        sent: Entry,
        headers: &[(&str, &str)],
        until: Instant,
    ) -> Result<Option<u64>, Lost> {
        self.transcript.entries.push(sent);
        if let Some(why) = &self.gone {
            return Err(Lost::Gone(why.clone()));
        }
        match &mut self.link {
            Link::Stdio(stdio) => {
                // Half of a line may be on its way, so that nothing can be said behind it.
                if timeout_at(until, stdio.write(&frame)).await.is_err() {
                    return Err(self.ended(NOT_READ.into()));
                }
                Ok(None)
            }
            Link::Http(http) => Ok(Some(http.post(frame, headers))),
            Link::OldSse(sse) => match timeout_at(until, sse.post(frame)).await {
                Ok(posted) => posted.map(|()| None),
                Err(_) => Err(self.ended(NOT_TAKEN.into())),
            },
        }
    }
}
