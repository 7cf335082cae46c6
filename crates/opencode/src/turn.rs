//! A live turn: a prompt goes out, what happens is told as it happens, questions are answered, the reply comes back.

mod asked;
mod guard;
mod queue;
mod reply;
mod telling;
mod watch;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use toolgate_core::{Kind, Result, RunHandle};

use crate::id::message_id;
use crate::model::Model;
use crate::pack::Opencode;
use crate::server::Link;
use guard::Guard;
use watch::Watch;

pub(crate) use asked::AskedItem;
pub(crate) use guard::{is_busy, stop_session, works};
pub(crate) use queue::Queues;
pub(crate) use reply::{Answer, ToolStep};

/// How long a turn waits for the stream of events before it does without.
const STREAM: Duration = Duration::from_secs(10);

/// What is sent to a session.
pub(crate) struct Prompt<'a> {
    pub(crate) session: &'a str,
    pub(crate) directory: &'a Path,
    pub(crate) parts: Vec<Value>,
    pub(crate) model: Option<Model>,
    pub(crate) agent: Option<&'a str>,
    pub(crate) no_reply: bool,
}

impl Prompt<'_> {
    fn body(&self, id: &str) -> Value {
        let mut body = Map::new();
        body.insert("messageID".into(), id.into());
        body.insert("parts".into(), self.parts.clone().into());
        if let Some(model) = &self.model {
            body.insert("model".into(), model.of_prompt());
        }
        if let Some(agent) = self.agent {
            body.insert("agent".into(), agent.into());
        }
        if self.no_reply {
            body.insert("noReply".into(), true.into());
        }
        body.into()
    }
}

/// A part with text.
pub(crate) fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

impl Opencode {
    /// Sends a prompt and waits for its own reply, whatever else goes on in the session.
    pub(crate) async fn turn(&self, link: &Arc<Link>, run: &RunHandle, prompt: Prompt<'_>) -> Result<Answer> {
        let turn = self.queues.wait(prompt.session).await;
        let id = message_id()?;
        let body = prompt.body(&id);
        if prompt.no_reply {
            let path = ["session", prompt.session, "message"];
            link.client().post(&path).json(body).send().await?;
            return Ok(Answer::none(prompt.session, id));
        }
        let listener = link.events().subscribe(STREAM).await;
        let mut guard = Guard::send(link.clone(), prompt.session, turn, body);
        guard.sent().await?;
        let watch = Watch::new(self, link, run, (prompt.session, prompt.directory, &id));
        // An error here means that we gave up, and then the guard stops what still works.
        let answer = watch.until_done(listener).await?;
        match &answer {
            // OpenCode calls a session idle before a turn that failed is over, and would forget a prompt that comes
            // then: the guard sees to its end first.
            Err(error) if error.kind() != Kind::Cancelled => drop(guard),
            Ok(_) | Err(_) => guard.done(),
        }
        answer
    }
}
