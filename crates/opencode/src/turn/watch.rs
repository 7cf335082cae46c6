//! Follows a turn until its reply is there: by events, and by looking where events may be missing.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use toolgate_core::{Error, Kind, Result, RunHandle};
use toolgate_host::Clock;

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

/// How often in a row it may fail to be looked at, or to be told an answer.
const MISSES: usize = 3;

/// How long OpenCode may wait at most before it asks a model again.
const LONGEST_WAIT: Duration = Duration::from_secs(60 * 60);

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
    /// The requests that are to be answered.
    open: VecDeque<Value>,
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
    /// When it asks a model again that could not answer.
    waits: Instant,
    /// The last messages of the family when it was last silent.
    last: Vec<Value>,
    failed: Option<Value>,
    idle: usize,
    misses: usize,
    /// How often in a row an answer could not be sent.
    unsent: usize,
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
            open: VecDeque::new(),
            answered: HashSet::new(),
            replies: HashMap::new(),
            asked: Vec::new(),
            desk: Desk { run, client: link.client(), directory, allow: &pack.config.permissions.allow },
            telling: Telling::new(run),
            patience: pack.patience(),
            alive: Instant::now(),
            waits: Instant::now(),
            last: Vec::new(),
            failed: None,
            idle: 0,
            misses: 0,
            unsent: 0,
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
            while let Some(request) = self.open.pop_front() {
                if self.answer(&request, &mut listener).await? {
                    next_look = Instant::now();
                }
            }
            if self.alive.max(self.waits).elapsed() > self.patience {
                let words = format!("OpenCode was silent for {} s and was stopped", self.patience.as_secs());
                return Err(Error::new(Kind::Timeout, words).hint("raise `opencode.timeout` for slow models"));
            }
        }
    }

    fn ended(&self) -> Error {
        Error::new(Kind::ConnectionFailed, "OpenCode ended while it worked on this")
            .hint(format!("call again: it is started anew, and `{}` is still there", self.session))
    }

    /// Notes that the session lives; then the call has its time anew.
    fn lives(&mut self) {
        self.alive = Instant::now();
        self.desk.run.gets_on();
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
        self.lives();
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
            "permission.asked" | "question.asked" => self.open.push_back(properties.clone()),
            _ => {}
        }
        false
    }

    fn is_ours(&self, id: &Value) -> bool {
        id.as_str().is_some_and(|id| self.family.contains(id))
    }

    async fn status(&mut self, status: &Value) -> bool {
        match status["type"].as_str() {
            Some("retry") => {
                self.wait(status);
                self.telling.retry(status).await;
            }
            Some("idle") => return true,
            _ => {}
        }
        false
    }

    /// Notes until when it waits to ask a model again.
    fn wait(&mut self, status: &Value) {
        let left = status["next"].as_u64().unwrap_or(0).saturating_sub(Clock::system().unix_ms());
        self.waits = Instant::now() + Duration::from_millis(left).min(LONGEST_WAIT);
        self.desk.run.gets_on();
    }

    /// Answers a request, once, and says whether to look at the whole: somebody else has settled it. What cannot be sent
    /// is found again. It fails if nobody is left to ask or to tell.
    async fn answer(&mut self, request: &Value, listener: &mut Listener) -> Result<bool> {
        let Some(id) = request["id"].as_str().filter(|id| !self.answered.contains(*id)) else {
            return Ok(false);
        };
        let reply = match self.replies.remove(id) {
            Some(reply) => Some(reply),
            None => self.decide(request, id, listener).await?,
        };
        // The time that a person took is not OpenCode's.
        self.lives();
        let Some(reply) = reply else {
            self.answered.insert(id.to_owned());
            return Ok(true);
        };
        if let Err(error) = self.desk.send(&reply).await {
            self.replies.insert(id.to_owned(), reply);
            self.unsent += 1;
            return if self.unsent < MISSES { Ok(false) } else { Err(error) };
        }
        self.unsent = 0;
        self.answered.insert(id.to_owned());
        self.asked.push(reply.item);
        Ok(false)
    }

    /// Finds out what to answer, while all else goes on; nothing if it is not to be answered any more.
    async fn decide(&mut self, request: &Value, id: &str, listener: &mut Listener) -> Result<Option<Reply>> {
        let (desk, link) = (self.desk, self.link);
        let mut reply = pin!(desk.decide(request));
        loop {
            let event = tokio::select! {
                biased;
                () = link.over() => return Err(self.ended()),
                reply = &mut reply => return reply.map(Some),
                event = listener.next() => event.ok_or_else(|| self.ended())?,
            };
            // Sooner or later the whole is looked at in any case.
            self.take(&event).await;
            if self.settles(&event, id) {
                return Ok(None);
            }
        }
    }

    /// Whether a request needs no answer after this: it has one, or the turn is over.
    fn settles(&self, event: &Event, id: &str) -> bool {
        let Event::Said { kind, properties } = event else { return false };
        match kind.as_str() {
            "permission.replied" | "question.replied" | "question.rejected" => properties["requestID"] == id,
            "session.idle" | "session.error" => properties["sessionID"] == self.session,
            _ => false,
        }
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
        let status = &all[self.session];
        if works(status) {
            self.idle = 0;
            if status["type"] == "retry" {
                self.wait(status);
            }
            self.find_open().await?;
            if self.alive.elapsed() > self.patience / 4 {
                self.listen().await?;
            }
            return Ok(None);
        }
        let messages = self.messages(self.session, MESSAGES).await?;
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

    /// Sees whether a session that tells nothing gets on all the same: a tool takes its time, or the stream of events is
    /// broken.
    async fn listen(&mut self) -> Result<()> {
        let mut family: Vec<String> = self.family.iter().cloned().collect();
        family.sort_unstable();
        let mut now = Vec::new();
        for session in &family {
            now.push(self.messages(session, "1").await?);
        }
        if now.iter().any(runs_a_tool) || (!self.last.is_empty() && self.last != now) {
            self.lives();
        }
        self.last = now;
        Ok(())
    }

    async fn messages(&self, session: &str, limit: &str) -> Result<Value> {
        let path = ["session", session, "message"];
        self.link.client().get(&path).query("limit", limit).send().await
    }

    /// Finds what is asked and was not told, or could not be answered.
    async fn find_open(&mut self) -> Result<()> {
        let client = self.link.client();
        for kind in ["permission", "question"] {
            let open = client.get(&[kind]).within(self.directory).send().await?;
            let open = list(&open);
            if open.iter().any(|request| !self.is_ours(&request["sessionID"])) {
                self.relatives().await?;
            }
            let ours = open.iter().filter(|request| self.is_ours(&request["sessionID"]));
            let ours: Vec<Value> = ours.cloned().collect();
            self.open.extend(ours);
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

/// Whether a tool runs in the last of these messages. That of a helper says nothing: the helper has messages of its own.
fn runs_a_tool(messages: &Value) -> bool {
    let parts = list(messages).last().map(|message| list(&message["parts"])).unwrap_or_default();
    let runs = |part: &Value| part["state"]["status"] == "running" && part["tool"] != "task";
    parts.iter().any(|part| part["type"] == "tool" && runs(part))
}
