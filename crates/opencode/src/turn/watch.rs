//! Follows a turn until its reply is there: by events, and by looking where events may be missing.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use toolgate_core::{Error, Kind, Result, RunHandle};

use super::asked::{AskedItem, Desk};
use super::reply::{Answer, failure};
use super::telling::Telling;
use crate::events::{Event, Listener};
use crate::pack::Opencode;
use crate::server::Link;

/// How often a turn is looked at without a reason.
const LOOK: Duration = Duration::from_secs(2);

/// How often a session is found idle before its turn is taken to be over.
const SETTLED: usize = 2;

/// How often a session may be found idle without a reply before that is the answer.
const IDLE: usize = 10;

/// How many of a session's last messages are read.
const MESSAGES: &str = "200";

/// A turn under way.
pub(super) struct Watch<'a> {
    link: &'a Arc<Link>,
    session: &'a str,
    directory: &'a Path,
    prompt: &'a str,
    /// The session and those that it started: a sub-agent asks in a session of its own.
    family: HashSet<String>,
    /// The requests that were answered already.
    answered: HashSet<String>,
    asked: Vec<AskedItem>,
    desk: Desk<'a>,
    telling: Telling<'a>,
    patience: Duration,
    /// When the session last showed that it lives.
    alive: Instant,
    failed: Option<Value>,
    idle: usize,
}

impl<'a> Watch<'a> {
    pub(super) fn new(
        pack: &'a Opencode,
        link: &'a Arc<Link>,
        run: &'a RunHandle,
        (session, directory, prompt): (&'a str, &'a Path, &'a str),
    ) -> Self {
        Self {
            link,
            session,
            directory,
            prompt,
            family: HashSet::from([session.to_owned()]),
            answered: HashSet::new(),
            asked: Vec::new(),
            desk: Desk { run, client: link.client(), directory, allow: &pack.config.permissions.allow },
            telling: Telling::new(run),
            patience: pack.patience(),
            alive: Instant::now(),
            failed: None,
            idle: 0,
        }
    }

    /// How the turn ended. An error of the outer kind says that it was given up.
    pub(super) async fn until_done(mut self, mut listener: Listener) -> Result<Result<Answer>> {
        let mut next_look = Instant::now() + LOOK;
        loop {
            let look = tokio::select! {
                biased;
                () = self.link.over() => return Err(self.ended()),
                event = listener.next() => match event {
                    Some(event) => self.take(&event).await?,
                    None => return Err(self.ended()),
                },
                () = tokio::time::sleep_until(next_look) => true,
            };
            if look {
                if let Some(answer) = self.look().await? {
                    return Ok(answer.map(|answer| Answer { asked: self.asked, ..answer }));
                }
                next_look = Instant::now() + LOOK;
            }
            if self.alive.elapsed() > self.patience {
                let words = format!("OpenCode was silent for {} s and was stopped", self.patience.as_secs());
                return Err(Error::new(Kind::Timeout, words).hint("raise `opencode.timeout` for slow models"));
            }
        }
    }

    fn ended(&self) -> Error {
        Error::new(Kind::ConnectionFailed, "OpenCode ended while it worked on this")
            .hint(format!("call again: it is started anew, and `{}` is still there", self.session))
    }

    /// Takes note of an event, and says whether to look at the whole.
    async fn take(&mut self, event: &Event) -> Result<bool> {
        let Event::Said { kind, properties } = event else { return Ok(true) };
        let info = &properties["info"];
        if kind.starts_with("session.") && self.is_ours(&info["parentID"]) {
            self.family.extend(info["id"].as_str().map(Into::into));
        }
        let part = &properties["part"];
        let whose = [&properties["sessionID"], &part["sessionID"], &info["sessionID"]];
        let Some(whose) = whose.into_iter().find(|id| self.is_ours(id)) else { return Ok(false) };
        self.alive = Instant::now();
        let main = *whose == self.session;
        match kind.as_str() {
            "session.idle" => return Ok(main),
            "session.status" if main => return Ok(self.status(&properties["status"]).await),
            "session.error" if main => {
                self.failed = Some(properties["error"].clone());
                return Ok(true);
            }
            "message.part.delta" if main && properties["field"] == "text" => {
                self.telling.piece(properties["delta"].as_str().unwrap_or_default()).await;
            }
            "message.part.updated" => self.telling.part(part).await,
            "todo.updated" => self.telling.todos(&properties["todos"]).await,
            "permission.asked" | "question.asked" => self.answer(properties).await?,
            _ => {}
        }
        Ok(false)
    }

    fn is_ours(&self, id: &Value) -> bool {
        id.as_str().is_some_and(|id| self.family.contains(id))
    }

    async fn status(&mut self, status: &Value) -> bool {
        match status["type"].as_str() {
            Some("retry") => self.telling.retry(status).await,
            Some("idle") => return true,
            _ => {}
        }
        false
    }

    /// Answers a request, once.
    async fn answer(&mut self, request: &Value) -> Result<()> {
        let Some(id) = request["id"].as_str() else { return Ok(()) };
        if !self.answered.insert(id.to_owned()) {
            return Ok(());
        }
        let asked = if request["questions"].is_array() {
            self.desk.question(request).await?
        } else {
            self.desk.permission(request).await?
        };
        self.asked.push(asked);
        // The time that a person took is not OpenCode's.
        self.alive = Instant::now();
        Ok(())
    }

    /// Looks at the whole: how the session stands, what it asks, what it has answered.
    async fn look(&mut self) -> Result<Option<Result<Answer>>> {
        let client = self.link.client();
        let all = client.get(&["session", "status"]).within(self.directory).send().await?;
        let status = &all[self.session];
        if status["type"].as_str().is_some_and(|kind| kind != "idle") {
            self.idle = 0;
            for kind in ["permission", "question"] {
                let open = client.get(&[kind]).within(self.directory).send().await?;
                for request in open.as_array().into_iter().flatten() {
                    if self.is_ours(&request["sessionID"]) {
                        self.answer(request).await?;
                    }
                }
            }
            return Ok(None);
        }
        let path = ["session", self.session, "message"];
        let messages = client.get(&path).query("limit", MESSAGES).send().await?;
        let messages = messages.as_array().map(Vec::as_slice).unwrap_or_default();
        if let Some(answer) = Answer::read(self.session, self.prompt, messages, self.idle >= SETTLED) {
            return Ok(Some(answer));
        }
        self.idle += 1;
        if let Some(error) = &self.failed {
            return Ok(Some(Err(failure(error))));
        }
        if self.idle >= IDLE {
            return Ok(Some(Err(Error::new(Kind::Upstream, "OpenCode ended the turn without a reply")
                .hint("read the session with `opencode_session_prompt`, or try again"))));
        }
        Ok(None)
    }
}
