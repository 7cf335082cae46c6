//! What came of a prompt, read from the messages of its session.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use toolgate_core::{Error, Kind, Result};

use super::AskedItem;
use crate::answers::{list, text};

/// What came of a prompt.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) session: String,
    /// The id of the reply; of the prompt, where there is none.
    pub(crate) message: String,
    pub(crate) content: String,
    pub(crate) model: String,
    pub(crate) agent: String,
    pub(crate) tools: Vec<ToolStep>,
    pub(crate) asked: Vec<AskedItem>,
    pub(crate) cost: f64,
    pub(crate) tokens: u64,
}

/// A tool that OpenCode used.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ToolStep {
    /// The name of the tool.
    pub(crate) tool: String,
    /// What it did, in words.
    pub(crate) title: String,
    /// How it ended: completed or error.
    pub(crate) status: String,
}

impl Answer {
    /// Nothing was to be answered.
    pub(super) fn none(session: &str, message: String) -> Self {
        Self { session: session.into(), message, ..Self::default() }
    }

    /// Reads the reply to a message of ours; none while it is not whole. A turn that is over may have ended after a
    /// tool: one that somebody forbade, for instance.
    pub(super) fn read(
        session: &str,
        prompt: &str,
        messages: &[Value],
        is_over: bool,
    ) -> Option<Result<Self>> {
        let replies = messages.iter().filter(|message| message["info"]["parentID"] == prompt);
        let replies: Vec<&Value> = replies.filter(|message| message["info"]["role"] == "assistant").collect();
        let last = replies.last()?;
        let info = &last["info"];
        if info["error"].is_object() {
            return Some(Err(failure(&info["error"])));
        }
        let is_whole = !info["time"]["completed"].is_null();
        // After such an end the next message of the same turn follows.
        let goes_on = matches!(info["finish"].as_str(), None | Some("tool-calls"));
        if !is_whole || (goes_on && !is_over) {
            return None;
        }
        let tools =
            replies.iter().flat_map(|reply| list(&reply["parts"])).filter(|part| part["type"] == "tool");
        let number = |reply: &&Value, key: &str| reply["info"]["tokens"][key].as_u64().unwrap_or(0);
        Some(Ok(Self {
            session: session.to_owned(),
            message: text(&info["id"]),
            content: content(last),
            model: format!("{}/{}", text(&info["providerID"]), text(&info["modelID"])),
            agent: text(&info["agent"]),
            tools: tools.map(step).collect(),
            asked: Vec::new(),
            cost: replies.iter().filter_map(|reply| reply["info"]["cost"].as_f64()).sum(),
            tokens: replies.iter().map(|reply| number(reply, "input") + number(reply, "output")).sum(),
        }))
    }
}

/// What a message says, without what was put there by OpenCode.
fn content(message: &Value) -> String {
    let said =
        list(&message["parts"]).iter().filter(|part| part["type"] == "text" && part["synthetic"] != true);
    said.map(|part| text(&part["text"])).collect::<Vec<_>>().join("\n")
}

fn step(part: &Value) -> ToolStep {
    let state = &part["state"];
    let title = state["title"].as_str().filter(|title| !title.is_empty()).or(state["error"].as_str());
    ToolStep {
        tool: text(&part["tool"]),
        title: title.unwrap_or_default().to_owned(),
        status: text(&state["status"]),
    }
}

/// The error of a turn, as OpenCode tells it in a message or an event.
pub(super) fn failure(error: &Value) -> Error {
    let (name, said) = (text(&error["name"]), text(&error["data"]["message"]));
    let words = if said.is_empty() { name.clone() } else { said };
    match name.as_str() {
        "MessageAbortedError" => Error::new(Kind::Cancelled, "the session was stopped before it answered"),
        "ProviderAuthError" => {
            Error::new(Kind::Unauthorized, format!("the model's provider refuses: {words}"))
                .hint("give its key with `opencode_auth_set`")
        }
        "ContextOverflowError" | "MessageOutputLengthError" => {
            Error::new(Kind::Upstream, format!("the model cannot take or give that much: {words}"))
                .hint("begin a new session, or ask for less")
        }
        _ => Error::new(Kind::Upstream, format!("the model failed: {words}"))
            .hint("try again, or choose another model with `model`"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reply(parent: &str, text: &str, more: Value) -> Value {
        let mut info = json!({"id": "msg_2", "role": "assistant", "parentID": parent,
            "time": {"completed": 1}, "finish": "stop"});
        info.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"info": info, "parts": [{"type": "text", "text": text}]})
    }

    #[track_caller]
    fn check(messages: &[Value], expect: Option<Result<&str, Kind>>) {
        let answer = Answer::read("ses_1", "msg_1", messages, false);
        let answer = answer.map(|answer| answer.map(|answer| answer.content).map_err(|error| error.kind()));
        assert_eq!(answer, expect.map(|answer| answer.map(Into::into)));
    }

    #[test]
    fn only_the_whole_reply_to_our_own_message_counts() {
        check(&[], None);
        check(&[reply("msg_0", "other", json!({}))], None);
        check(&[reply("msg_1", "mine", json!({})), reply("msg_0", "other", json!({}))], Some(Ok("mine")));
        check(&[reply("msg_1", "half", json!({"time": {}}))], None);
        let step = [reply("msg_1", "step", json!({"finish": "tool-calls"}))];
        check(&step, None);
        assert_eq!(Answer::read("ses_1", "msg_1", &step, true).unwrap().unwrap().content, "step");
        assert!(Answer::read("ses_1", "msg_1", &[], true).is_none());
        let aborted = json!({"error": {"name": "MessageAbortedError", "data": {"message": "Aborted"}}});
        check(&[reply("msg_1", "half", aborted)], Some(Err(Kind::Cancelled)));
        let refused = json!({"error": {"name": "ProviderAuthError", "data": {"message": "No key"}}});
        check(&[reply("msg_1", "", refused)], Some(Err(Kind::Unauthorized)));
        check(
            &[reply("msg_1", "", json!({"error": {"name": "APIError", "data": {}}}))],
            Some(Err(Kind::Upstream)),
        );
    }
}
