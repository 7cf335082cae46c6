//! Asking a person before a call goes on.

use toolgate_wire::Raw;

use crate::{Error, Kind, Question, Result, RunHandle};

/// Puts a gate's question to the person at the client; only a plain yes lets the call go on.
pub(super) async fn ask(handle: &RunHandle, question: Question) -> Result<()> {
    let key = question.key.clone();
    let answers = handle.ask_now(vec![question]).await.map_err(|error| match error.kind() {
        Kind::MissingCapability => Error::new(Kind::NeedsApproval, "this call needs a person's approval")
            .hint("use a client that can ask its user")
            .because(error),
        _ => error,
    })?;
    let action = answers.get(&key).and_then(|answer| answer.get("action"));
    match action.as_ref().and_then(Raw::as_string).as_deref() {
        Some("accept") => Ok(()),
        Some("decline") => Err(Error::new(Kind::Denied, "the person said no")),
        _ => Err(Error::new(Kind::Denied, "the person did not answer")),
    }
}

/// The questions of another server's `inputRequests` object.
pub(super) fn questions(requests: &Raw) -> Result<Vec<Question>> {
    requests.entries().map(|(key, request)| question(key.into_owned(), &request)).collect()
}

fn question(key: String, request: &Raw) -> Result<Question> {
    let method = request.get("method");
    let params = request.get("params").unwrap_or_else(|| Raw::literal("{}"));
    match method.as_ref().and_then(Raw::as_string).as_deref() {
        Some("elicitation/create") => Ok(Question::elicit(key, params)),
        Some("sampling/createMessage") => Ok(Question::sample(key, params)),
        Some("roots/list") => Ok(Question::roots(key)),
        _ => Err(Error::new(Kind::Upstream, format!("the server asked something unknown under `{key}`"))),
    }
}
