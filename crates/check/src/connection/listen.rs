//! The other half of a connection: what comes from the server, in order, and its end.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::{Connection, Ended, Heard, Link, Lost, MOST_MESSAGES, NOT_READ, NOT_TAKEN, Reply};
use crate::transcript::{Entry, MOST_KEPT, Transcript};

impl Connection {
    /// Waits until the server says something of its own accord that fits.
    pub(crate) async fn hear(&mut self, fits: impl Fn(&Value) -> bool) -> Result<Value, Lost> {
        let until = Instant::now() + self.limits.answer;
        loop {
            match self.next(until).await {
                Ok(Happened::Messages(messages)) => {
                    if let Some(message) = messages.into_iter().find(&fits) {
                        return Ok(message);
                    }
                }
                Ok(Happened::Over(..)) => {}
                Err(Lost::Late(_)) => return Err(Lost::Late(self.limits.answer)),
                Err(lost) => return Err(lost),
            }
        }
    }

    pub(super) async fn wait(
        &mut self,
        id: &Value,
        post: Option<u64>,
        until: Instant,
        limit: Duration,
    ) -> Result<Reply, Lost> {
        loop {
            let messages = match self.next(until).await {
                Ok(Happened::Messages(messages)) => messages,
                Ok(Happened::Over(over, broken)) if Some(over) == post => {
                    let status = self.status(post);
                    return Err(match (broken, status) {
                        (Some(why), _) => Lost::Gone(why),
                        (None, Some(status)) => Lost::Status(status),
                        (None, None) => Lost::Gone("no answer".into()),
                    });
                }
                Ok(Happened::Over(..)) => continue,
                Err(Lost::Late(_)) => return Err(Lost::Late(limit)),
                Err(lost) => return Err(lost),
            };
            if let Some(answer) = messages.into_iter().find(|message| answers(message, id)) {
                let outcome = match answer.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(answer["result"].clone()),
                };
                return Ok(Reply { outcome, status: self.status(post) });
            }
        }
    }

    pub(super) fn status(&self, post: Option<u64>) -> Option<u16> {
        self.transcript.entries.iter().rev().find_map(|entry| match entry {
            Entry::Head { post: of, status, .. } if Some(*of) == post => Some(*status),
            Entry::Head { .. }
            | Entry::Sent { .. }
            | Entry::Heard(_)
            | Entry::Refused { .. }
            | Entry::Noise(_) => None,
        })
    }

    /// The next thing that happens; questions of the server are answered on the way.
    pub(super) async fn next(&mut self, until: Instant) -> Result<Happened, Lost> {
        if let Some(why) = &self.gone {
            return Err(Lost::Gone(why.clone()));
        }
        // What is there already would come before any time limit, and with a server that never falls silent always.
        if Instant::now() >= until {
            return Err(Lost::Late(Duration::ZERO));
        }
        match timeout_at(until, self.heard.next()).await {
            Err(_) => Err(Lost::Late(Duration::ZERO)),
            Ok(None) => Err(self.ended("the connection is closed".into())),
            Ok(Some(heard)) => self.happened(heard, until).await,
        }
    }

    async fn happened(&mut self, heard: Heard, until: Instant) -> Result<Happened, Lost> {
        match heard {
            Heard::Closed(why) => Err(self.ended(why)),
            Heard::Over { post, broken } => Ok(Happened::Over(post, broken)),
            Heard::TooLarge(size) => {
                let what = format!("a message of more than {size} bytes, which nobody reads");
                self.transcript.entries.push(Entry::Noise(what));
                Ok(Happened::Messages(Vec::new()))
            }
            Heard::Head { post, status, kind, session } => {
                self.transcript.entries.push(Entry::Head { post, status, kind });
                if let (Link::Http(http), Some(session)) = (&mut self.link, session) {
                    http.session = Some(session);
                }
                Ok(Happened::Messages(Vec::new()))
            }
            Heard::Text(text, status) => {
                let messages = self.read(&text)?;
                // What is refused over HTTP may not have been read as far as its id.
                if status.is_some_and(|status| status >= 400) {
                    self.excuse();
                }
                for question in messages.iter().filter(|message| is_question(message)) {
                    self.answer(question, until).await?;
                }
                Ok(Happened::Messages(messages))
            }
        }
    }

    /// Reads and keeps a text, unless too much is kept already.
    fn read(&mut self, text: &Bytes) -> Result<Vec<Value>, Lost> {
        if self.transcript.entries.len() > MOST_MESSAGES {
            return Err(self.ended(format!("it sent more than {MOST_MESSAGES} messages")));
        }
        match self.transcript.take(text) {
            Some(messages) => Ok(messages),
            None => {
                let most = MOST_KEPT / 1024 / 1024;
                Err(self.ended(format!("it sent more than is kept of one conversation ({most} MiB)")))
            }
        }
    }

    /// Nothing will come any more.
    pub(super) fn ended(&mut self, why: String) -> Lost {
        self.gone = Some(why.clone());
        Lost::Gone(why)
    }

    /// Answers a question of the server: it may ask whether we are there, and nothing else. Who asks and does not take
    /// the answer is given up, for there may be thousands of questions.
    async fn answer(&mut self, question: &Value, until: Instant) -> Result<(), Lost> {
        let id = &question["id"];
        let answer = if question["method"] == "ping" {
            json!({"jsonrpc": "2.0", "id": id, "result": {}})
        } else {
            let error = json!({"code": -32601, "message": "this client has no such capability"});
            json!({"jsonrpc": "2.0", "id": id, "error": error})
        };
        let frame = Bytes::from(answer.to_string());
        let (taken, why) = match &mut self.link {
            Link::Stdio(stdio) => (timeout_at(until, stdio.write(&frame)).await.map(Ok), NOT_READ),
            Link::Http(http) => (timeout_at(until, http.answer(frame)).await.map(Ok), NOT_TAKEN),
            Link::OldSse(sse) => (timeout_at(until, sse.post(frame)).await, NOT_TAKEN),
        };
        taken.unwrap_or_else(|_| Err(self.ended(why.into())))
    }

    /// Ends it, and reads what the server still says.
    pub(crate) async fn close(mut self) -> (Transcript, Ended) {
        let until = Instant::now() + self.limits.end;
        let before = self.gone.clone();
        match &mut self.link {
            Link::Stdio(stdio) => stdio.end_input(),
            Link::Http(http) => http.good_bye(),
            Link::OldSse(_) => {}
        }
        if self.is_stdio() {
            while self.gone.is_none() && !matches!(self.next(until).await, Err(Lost::Late(_))) {}
        } else {
            self.rest(until);
        }
        let ended = match (before, &self.gone) {
            (Some(why), _) => Ended::Before(why),
            (None, Some(_)) => Ended::ByItself,
            (None, None) if self.is_stdio() => Ended::ByForce,
            (None, None) => Ended::ByItself,
        };
        // Whoever still has something to say would wait for ever to say it.
        drop(self.heard);
        match self.link {
            Link::Stdio(stdio) => stdio.end().await,
            Link::Http(http) => http.stop().await,
            Link::OldSse(sse) => sse.stop(),
        }
        (self.transcript, ended)
    }

    /// Reads what is there already: it still counts, but what may come on a stream has no end.
    fn rest(&mut self, until: Instant) {
        self.heard.shut();
        while let Some(heard) = self.heard.ready() {
            let Heard::Text(text, _) = heard else { continue };
            if self.read(&text).is_err() || Instant::now() >= until {
                return;
            }
        }
    }
}

/// What happened on a connection.
pub(super) enum Happened {
    Messages(Vec<Value>),
    Over(u64, Option<String>),
}

/// Whether a message answers a request. An id of another type is wrong, and told elsewhere.
fn answers(message: &Value, id: &Value) -> bool {
    if message.get("method").is_some() {
        return false;
    }
    let given = &message["id"];
    given == id || (!given.is_null() && bare(given) == bare(id))
}

/// An id without its quotes.
pub(crate) fn bare(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), ToOwned::to_owned)
}

fn is_question(message: &Value) -> bool {
    message.get("method").is_some() && message.get("id").is_some_and(|id| !id.is_null())
}
