//! What OpenCode asks a person: put to the client where it can ask one, else answered by the policy.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use toolgate_core::{Answers, Kind, Question, Result, RunHandle};
use toolgate_wire::Raw;

use crate::answers::{list, text};
use crate::client::Client;

/// What the model hears of a person who gives no reason.
const DECLINED: &str = "the person declined";

/// Something that OpenCode asked during a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct AskedItem {
    /// What it asked for: the name of a permission, or `question`.
    pub(crate) what: String,
    /// What it was about, in words.
    pub(crate) details: String,
    /// What was answered.
    pub(crate) answer: String,
    /// Who answered: person, or policy.
    pub(crate) by: String,
}

/// What OpenCode is told, and what is told of it.
pub(super) struct Reply {
    /// What kind of request it is for: `permission` or `question`.
    kind: &'static str,
    id: String,
    /// What is done with the request: `reply` or `reject`.
    verb: &'static str,
    body: Value,
    pub(super) item: AskedItem,
}

/// Finds the answers to what OpenCode asks during a turn.
#[derive(Clone, Copy)]
pub(super) struct Desk<'a> {
    pub(super) run: &'a RunHandle,
    pub(super) client: &'a Client,
    /// The project in which it asks.
    pub(super) directory: &'a Path,
    /// Permissions that are given where nobody can be asked.
    pub(super) allow: &'a [String],
}

impl Desk<'_> {
    /// What to answer. It fails if the client is gone.
    pub(super) async fn decide(&self, request: &Value) -> Result<Reply> {
        if request["questions"].is_array() {
            self.question(request).await
        } else {
            self.permission(request).await
        }
    }

    /// Hands an answer over; a request that somebody else has answered is gone, which is as good.
    pub(super) async fn send(&self, reply: &Reply) -> Result<()> {
        let request = self.client.post(&[reply.kind, &reply.id, reply.verb]).within(self.directory);
        match request.json(reply.body.clone()).send().await {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == Kind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn permission(&self, request: &Value) -> Result<Reply> {
        let (id, what) = (text(&request["id"]), text(&request["permission"]));
        let details = permission_details(request);
        let (reply, message, by) = match self.ask(permission_form(&id, &what, &details)).await? {
            Said::Form(form) => {
                let reply = text(&form["reply"]);
                // Without a word OpenCode would end the turn, and the model could not try another way.
                let feedback = Some(text(&form["feedback"])).filter(|words| !words.trim().is_empty());
                (reply, Some(feedback.unwrap_or_else(|| DECLINED.to_owned())), "person")
            }
            Said::No => ("reject".to_owned(), Some(DECLINED.to_owned()), "person"),
            Said::Late(why) => {
                ("reject".to_owned(), Some(format!("Toolgate denied `{what}`: {why}.")), "policy")
            }
            Said::Nobody(_) if self.allow.iter().any(|pattern| matches(pattern, &what)) => {
                ("once".to_owned(), None, "policy")
            }
            Said::Nobody(why) => ("reject".to_owned(), Some(denial(&what, &why)), "policy"),
        };
        let reply = if ["once", "always"].contains(&reply.as_str()) { reply } else { "reject".to_owned() };
        let mut body = json!({"reply": reply});
        if let Some(message) = message.filter(|_| reply == "reject") {
            body["message"] = message.into();
        }
        let item = AskedItem { what, details, answer: reply, by: by.into() };
        Ok(Reply { kind: "permission", id, verb: "reply", body, item })
    }

    async fn question(&self, request: &Value) -> Result<Reply> {
        let id = text(&request["id"]);
        let questions = list(&request["questions"]);
        let details =
            questions.iter().map(|question| text(&question["question"])).collect::<Vec<_>>().join(" ");
        let (verb, body, answer, by) = match self.ask(question_form(&id, questions)).await? {
            Said::Form(form) => {
                let answers: Vec<Vec<String>> =
                    (0..questions.len()).map(|place| chosen(&form, place)).collect();
                ("reply", json!({"answers": answers}), answers.concat().join(", "), "person")
            }
            Said::No => ("reject", json!({}), "rejected".to_owned(), "person"),
            Said::Nobody(why) | Said::Late(why) => {
                ("reject", json!({}), format!("rejected: {why}"), "policy")
            }
        };
        let item = AskedItem { what: "question".into(), details, answer, by: by.into() };
        Ok(Reply { kind: "question", id, verb, body, item })
    }

    async fn ask(&self, question: Question) -> Result<Said> {
        let key = question.key.clone();
        match self.run.ask(vec![question]).await {
            Ok(answers) => Ok(said(&answers, &key)),
            Err(error) if error.kind() == Kind::MissingCapability => {
                Ok(Said::Nobody(error.message().to_owned()))
            }
            Err(error) if error.kind() == Kind::Timeout => Ok(Said::Late(error.message().to_owned())),
            Err(error) => Err(error),
        }
    }
}

/// What came back from the client.
enum Said {
    Form(Value),
    No,
    /// Nobody could be asked, and why.
    Nobody(String),
    /// Somebody could be asked and did not answer in time: that is no leave.
    Late(String),
}

fn said(answers: &Answers, key: &str) -> Said {
    let answer: Value = answers.get(key).and_then(|answer| answer.to().ok()).unwrap_or_default();
    match (answer["action"].as_str(), &answer["content"]) {
        (Some("accept"), content) if content.is_object() => Said::Form(content.clone()),
        _ => Said::No,
    }
}

fn denial(what: &str, why: &str) -> String {
    format!(
        "Toolgate denied `{what}`: {why}. To allow it, add \"{what}\" to `opencode.permissions.allow`, or use a \
         client that can ask a person."
    )
}

fn permission_details(request: &Value) -> String {
    let patterns: Vec<String> = list(&request["patterns"]).iter().map(text).collect();
    match request["metadata"]["command"].as_str() {
        Some(command) => command.to_owned(),
        None => patterns.join(", "),
    }
}

fn permission_form(id: &str, what: &str, details: &str) -> Question {
    let reply = json!({
        "type": "string",
        "title": "Answer",
        "description": "Allow it once, allow the like from now on, or reject it.",
        "enum": ["once", "always", "reject"],
    });
    let feedback =
        json!({"type": "string", "title": "Feedback", "description": "If rejected: what to do instead."});
    let message = format!("OpenCode asks for permission to use `{what}`: {details}");
    form(id, &message, json!({"reply": reply, "feedback": feedback}), &["reply".into()])
}

fn question_form(id: &str, questions: &[Value]) -> Question {
    let (mut fields, mut required, mut message) = (Map::new(), Vec::new(), Vec::new());
    for (place, question) in questions.iter().enumerate() {
        let labels = list(&question["options"]);
        let labels: Vec<String> = labels.iter().map(|option| text(&option["label"])).collect();
        let (title, words) = (text(&question["header"]), text(&question["question"]));
        message.push(words.clone());
        let choice = json!({"type": "string", "enum": labels});
        let mut field = match (labels.is_empty(), question["multiple"] == true) {
            (true, _) => json!({"type": "string"}),
            (false, true) => json!({"type": "array", "items": choice}),
            (false, false) => choice,
        };
        field["title"] = title.into();
        field["description"] = words.into();
        fields.insert(format!("answer{place}"), field);
        if question["custom"] == false || labels.is_empty() {
            required.push(format!("answer{place}"));
        } else {
            let other = json!({"type": "string", "description": "An answer in words of your own."});
            fields.insert(format!("other{place}"), other);
        }
    }
    form(id, &format!("OpenCode asks: {}", message.join(" ")), fields.into(), &required)
}

fn form(key: &str, message: &str, properties: Value, required: &[String]) -> Question {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    Question::elicit(key, Raw::of(&json!({"message": message, "requestedSchema": schema})))
}

/// What was chosen for a question; words of one's own go first.
fn chosen(form: &Value, place: usize) -> Vec<String> {
    let other = text(&form[format!("other{place}")]);
    if !other.is_empty() {
        return vec![other];
    }
    let answer = &form[format!("answer{place}")];
    match answer.as_array() {
        Some(many) => many.iter().map(text).collect(),
        None => vec![text(answer)],
    }
}

/// Whether a name fits a pattern in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((before, behind)) = pattern.split_once('*') else { return pattern == name };
    let Some(rest) = name.strip_prefix(before) else { return false };
    (0..=rest.len())
        .filter(|place| rest.is_char_boundary(*place))
        .any(|place| matches(behind, &rest[place..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        #[track_caller]
        fn check(pattern: &str, name: &str, expect: bool) {
            assert_eq!(matches(pattern, name), expect, "{pattern} {name}");
        }
        check("bash", "bash", true);
        check("bash", "bashful", false);
        check("*", "", true);
        check("web*", "webfetch", true);
        check("web*", "bash", false);
        check("*_read", "demo_read", true);
        check("a*c*e", "abcde", true);
        check("a*c*e", "abcd", false);
    }

    #[test]
    fn choices_come_back_as_opencode_wants_them() {
        let questions = [
            json!({"question": "Colour?", "header": "C", "options": [{"label": "Red"}, {"label": "Blue"}]}),
            json!({"question": "Which?", "header": "W", "multiple": true, "custom": false, "options": [{"label": "A"}]}),
        ];
        let form: Value = question_form("que_1", &questions).params.to().unwrap();
        assert_eq!(form["requestedSchema"]["required"], json!(["answer1"]));
        assert_eq!(form["requestedSchema"]["properties"]["answer0"]["enum"], json!(["Red", "Blue"]));
        let filled = json!({"answer0": "Blue", "answer1": ["A"]});
        assert_eq!((chosen(&filled, 0), chosen(&filled, 1)), (vec!["Blue".into()], vec!["A".into()]));
        assert_eq!(chosen(&json!({"answer0": "Red", "other0": "green"}), 0), ["green"]);
    }
}
