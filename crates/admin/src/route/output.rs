//! What handlers answer with.

use bytes::Bytes;
use http::HeaderValue;
use http::StatusCode;
use http::header::{CONTENT_DISPOSITION, SET_COOKIE};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use tokio::sync::mpsc;
use toolgate_wire::Raw;

use super::Answers;
use crate::access::Cookie;
use crate::admin::Inner;
use crate::body::{Answer, empty, stream, typed};
use crate::problem::Problem;

const JSON: &str = "application/json";

/// What a handler answers with.
pub(crate) trait Output: Send + 'static {
    fn answers() -> Answers;
    fn answer(self, admin: &Inner) -> Result<Answer, Problem>;
}

/// A value.
impl<T: Serialize + JsonSchema + Send + 'static> Output for T {
    fn answers() -> Answers {
        json::<T>(200, "It is this.")
    }

    fn answer(self, admin: &Inner) -> Result<Answer, Problem> {
        written(admin, StatusCode::OK, &self)
    }
}

/// All items of a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "{T}List")]
pub(crate) struct Items<T> {
    /// The items.
    pub(crate) items: Vec<T>,
}

/// A value that was made.
pub(crate) struct Made<T>(pub(crate) T);

impl<T: Serialize + JsonSchema + Send + 'static> Output for Made<T> {
    fn answers() -> Answers {
        json::<T>(201, "It was made.")
    }

    fn answer(self, admin: &Inner) -> Result<Answer, Problem> {
        written(admin, StatusCode::CREATED, &self.0)
    }
}

/// A value that was made, with a text that is shown this once. Nothing of it passes the filters, which hide that text.
pub(crate) struct Shown<T>(pub(crate) T);

impl<T: Serialize + JsonSchema + Send + 'static> Output for Shown<T> {
    fn answers() -> Answers {
        Made::<T>::answers()
    }

    fn answer(self, _: &Inner) -> Result<Answer, Problem> {
        Ok(typed(StatusCode::CREATED, JSON, Raw::of(&self.0).bytes()))
    }
}

/// That something was done, and nothing else.
pub(crate) struct Done;

impl Output for Done {
    fn answers() -> Answers {
        Answers { status: 204, says: "It was done.", content_type: None, schema: None }
    }

    fn answer(self, _: &Inner) -> Result<Answer, Problem> {
        Ok(empty(StatusCode::NO_CONTENT))
    }
}

/// A value, and the cookie of a login. Nothing of it passes the filters, for it is for its reader alone.
pub(crate) struct LoggedIn<T> {
    pub(crate) value: T,
    pub(crate) cookie: Cookie,
    pub(crate) text: String,
}

impl<T: Serialize + JsonSchema + Send + 'static> Output for LoggedIn<T> {
    fn answers() -> Answers {
        json::<T>(200, "Someone is logged in; a cookie says so from now on.")
    }

    fn answer(self, _: &Inner) -> Result<Answer, Problem> {
        let mut answer = typed(StatusCode::OK, JSON, Raw::of(&self.value).bytes());
        answer.headers_mut().extend(self.cookie.set(&self.text).map(|value| (SET_COOKIE, value)));
        Ok(answer)
    }
}

/// That nobody is logged in any more.
pub(crate) struct LoggedOut(pub(crate) Cookie);

impl Output for LoggedOut {
    fn answers() -> Answers {
        Answers { status: 204, says: "The login has ended.", content_type: None, schema: None }
    }

    fn answer(self, _: &Inner) -> Result<Answer, Problem> {
        let mut answer = empty(StatusCode::NO_CONTENT);
        answer.headers_mut().extend(self.0.clear().map(|value| (SET_COOKIE, value)));
        Ok(answer)
    }
}

/// Lines of JSON, to be kept as a file.
pub(crate) struct File {
    pub(crate) name: &'static str,
    pub(crate) pieces: mpsc::Receiver<Bytes>,
}

impl Output for File {
    fn answers() -> Answers {
        let content_type = Some("application/x-ndjson");
        Answers { status: 200, says: "One record a line, newest first.", content_type, schema: None }
    }

    fn answer(self, _: &Inner) -> Result<Answer, Problem> {
        let mut answer = stream("application/x-ndjson", self.pieces);
        let name = HeaderValue::from_str(&format!("attachment; filename=\"{}\"", self.name));
        answer.headers_mut().extend(name.ok().map(|name| (CONTENT_DISPOSITION, name)));
        Ok(answer)
    }
}

/// Events as they come.
pub(crate) struct Events(pub(crate) mpsc::Receiver<Bytes>);

impl Output for Events {
    fn answers() -> Answers {
        let content_type = Some("text/event-stream");
        Answers { status: 200, says: "Events, for as long as the login holds.", content_type, schema: None }
    }

    fn answer(self, _: &Inner) -> Result<Answer, Problem> {
        Ok(stream("text/event-stream", self.0))
    }
}

fn json<T: JsonSchema>(status: u16, says: &'static str) -> Answers {
    let schema = |generator: &mut SchemaGenerator| generator.subschema_for::<T>();
    Answers { status, says, content_type: Some(JSON), schema: Some(schema) }
}

/// A value as people may see it: without secrets.
fn written(admin: &Inner, status: StatusCode, value: &impl Serialize) -> Result<Answer, Problem> {
    let raw = admin.hub.filtered(Raw::of(value))?;
    Ok(typed(status, JSON, raw.bytes()))
}
