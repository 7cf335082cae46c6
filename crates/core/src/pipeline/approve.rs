//! Asking a person before a call goes on, and asking for a source.

use toolgate_wire::Raw;

use crate::{Capabilities, Error, Kind, Question, Result, RunHandle};

/// Puts the gates' questions to the person at the client, one by one; only a plain yes to each lets the call go
/// on. Tells whether there were any.
pub(super) async fn ask(handle: &RunHandle, questions: Vec<Question>) -> Result<bool> {
    let asks = !questions.is_empty();
    for question in questions {
        ask_one(handle, question).await?;
    }
    Ok(asks)
}

async fn ask_one(handle: &RunHandle, question: Question) -> Result<()> {
    let key = question.key.clone();
    let answers = handle.ask_now(vec![question]).await.map_err(refusal)?;
    let action = answers.get(&key).and_then(|answer| answer.get("action"));
    match action.as_ref().and_then(Raw::as_string).as_deref() {
        Some("accept") => Ok(()),
        Some("decline") => Err(Error::new(Kind::Denied, "the person said no")),
        _ => Err(Error::new(Kind::Denied, "the person did not answer")),
    }
}

/// What it means for the call that its question got no answer.
fn refusal(error: Error) -> Error {
    if error.kind() == Kind::MissingCapability {
        return Error::new(Kind::NeedsApproval, "this call needs a person's approval")
            .hint("use a client that can ask its user")
            .because(error);
    }
    if error.kind() == Kind::Timeout {
        return Error::new(Kind::Denied, error.message().to_owned()).because(error);
    }
    error
}

/// Fails when the client cannot answer what another server asks; what we do not know, it may.
pub(super) fn answerable(requests: &Raw, can: &Capabilities) -> Result<()> {
    let known = requests.entries().filter_map(|(key, request)| question(key.into_owned(), &request).ok());
    known.into_iter().try_for_each(|question| question.answerable_by(can))
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
