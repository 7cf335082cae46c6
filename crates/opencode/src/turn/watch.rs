//! Follows a turn until its reply is there: by events, and by looking where events may be missing.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use toolgate_core::{Error, Kind, Result, RunHandle};

use super::asked::{AskedItem, Desk, Reply};
use super::guard::works;
use super::reply::{Answer, failure};
use super::telling::Telling;
use crate::answers::list;
use crate::events::{Event, Listener};
use crate::pack::Opencode;
use crate::server::Link;

/// How often a turn is looked at without a reason.
const LOOK: Duration = Duration::from_secs(2);

/// How often a session is found idle before its turn is taken to be over.
const SETTLED: usize = 2;

/// How often a session may be found idle without a reply before that is the answer.
const IDLE: usize = 10;

/// How often in a row it may fail to be looked at.
const MISSES: usize = 3;

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
    /// Answers that OpenCode could not be given yet: a person is asked only once.
    replies: HashMap<String, Reply>,
    asked: Vec<AskedItem>,
    desk: Desk<'a>,
    telling: Telling<'a>,
    patience: Duration,
    /// When the session last showed that it lives.
    alive: Instant,
    /// Its last message when it was last silent.
    message: Option<Value>,
    failed: Option<Value>,
    /// Why there is nobody any more who could be asked.
    left: Option<Error>,
    idle: usize,
    misses: usize,
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
            replies: HashMap::new(),
            asked: Vec::new(),
            desk: Desk { run, client: link.client(), directory, allow: &pack.config.permissions.allow },
            telling: Telling::new(run),
            patience: pack.patience(),
            alive: Instant::now(),
            message: None,
            failed: None,
            left: None,
            idle: 0,
            misses: 0,
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
                    Some(event) => self.take(&event).await,
                    None => return Err(self.ended()),
                },
                () = tokio::time::sleep_until(next_look) => true,
            };
            // After one that failed the next has to wait: events may come fast.
            if look && (self.misses == 0 || Instant::now() >= next_look) {
                if let Some(answer) = self.look_again().await? {
                    return Ok(answer.map(|answer| Answer { asked: self.asked, ..answer }));
                }
                next_look = Instant::now() + LOOK;
            }
            if let Some(error) = self.left.take() {
                return Err(error);
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
    async fn take(&mut self, event: &Event) -> bool {
        let Event::Said { kind, properties } = event else { return true };
        let info = &properties["info"];
        if kind.starts_with("session.") && self.is_ours(&info["parentID"]) {
            self.family.extend(info["id"].as_str().map(Into::into));
        }
        let part = &properties["part"];
        let whose = [&properties["sessionID"], &part["sessionID"], &info["sessionID"]];
        let Some(whose) = whose.into_iter().find(|id| self.is_ours(id)) else { return false };
        self.alive = Instant::now();
        let main = *whose == self.session;
        match kind.as_str() {
            "session.idle" => return main,
            "session.status" if main => return self.status(&properties["status"]).await,
            "session.error" if main => {
                self.failed = Some(properties["error"].clone());
                return true;
            }
            "message.part.delta" if main && properties["field"] == "text" => {
                self.telling.piece(properties["delta"].as_str().unwrap_or_default()).await;
            }
            "message.part.updated" => self.telling.part(part).await,
            "todo.updated" => self.telling.todos(&properties["todos"]).await,
            "permission.asked" | "question.asked" => return self.answer(properties).await.is_err(),
            _ => {}
        }
        false
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

    /// Answers a request, once. It fails if OpenCode cannot be told; then it is to be tried again.
    async fn answer(&mut self, request: &Value) -> Result<()> {
        let Some(id) = request["id"].as_str().filter(|id| !self.answered.contains(*id)) else {
            return Ok(());
        };
        let reply = match self.replies.remove(id) {
            Some(reply) => Ok(reply),
            None => self.desk.decide(request).await,
        };
        // The time that a person took is not OpenCode's.
        self.alive = Instant::now();
        let reply = match reply {
            Ok(reply) => reply,
            Err(error) => {
                self.left = Some(error);
                return Ok(());
            }
        };
        if let Err(error) = self.desk.send(&reply).await {
            self.replies.insert(id.to_owned(), reply);
            return Err(error);
        }
        self.answered.insert(id.to_owned());
        self.asked.push(reply.item);
        Ok(())
    }

    /// Looks at the whole, unless that has failed too often.
    async fn look_again(&mut self) -> Result<Option<Result<Answer>>> {
        match self.look().await {
            Ok(answer) => {
                self.misses = 0;
                Ok(answer)
            }
            Err(error) if self.misses + 1 < MISSES => {
                tracing::debug!(%error, session = self.session, "a session of OpenCode cannot be looked at");
                self.misses += 1;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Looks at the whole: how the session stands, what it asks, what it has answered.
    async fn look(&mut self) -> Result<Option<Result<Answer>>> {
        let client = self.link.client();
        let all = client.get(&["session", "status"]).within(self.directory).send().await?;
        if works(&all[self.session]) {
            self.idle = 0;
            self.answer_all().await?;
            if self.alive.elapsed() > self.patience / 4 {
                self.listen().await?;
            }
            return Ok(None);
        }
        let messages = self.messages(MESSAGES).await?;
        let is_over = self.idle >= SETTLED;
        if let Some(answer) = Answer::read(self.session, self.prompt, list(&messages), is_over) {
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

    /// Sees whether a session that tells nothing gets on all the same: the stream of events may be broken.
    async fn listen(&mut self) -> Result<()> {
        let now = self.messages("1").await?;
        if self.message.as_ref().is_some_and(|before| *before != now) {
            self.alive = Instant::now();
        }
        self.message = Some(now);
        Ok(())
    }

    async fn messages(&self, limit: &str) -> Result<Value> {
        let path = ["session", self.session, "message"];
        self.link.client().get(&path).query("limit", limit).send().await
    }

    /// Answers what is asked and was not told, or could not be answered.
    async fn answer_all(&mut self) -> Result<()> {
        let client = self.link.client();
        for kind in ["permission", "question"] {
            let open = client.get(&[kind]).within(self.directory).send().await?;
            let open = list(&open);
            if open.iter().any(|request| !self.is_ours(&request["sessionID"])) {
                self.relatives().await?;
            }
            for request in open {
                if self.is_ours(&request["sessionID"]) {
                    self.answer(request).await?;
                }
            }
        }
        Ok(())
    }

    /// Learns which sessions this one has started, and those in their turn: events may have been missed.
    async fn relatives(&mut self) -> Result<()> {
        let mut open: Vec<String> = self.family.iter().cloned().collect();
        while let Some(id) = open.pop() {
            let children = self.link.client().get(&["session", &id, "children"]).send().await?;
            let children = list(&children).iter().filter_map(|child| child["id"].as_str());
            for child in children {
                if self.family.insert(child.to_owned()) {
                    open.push(child.to_owned());
                }
            }
        }
        Ok(())
    }
}
