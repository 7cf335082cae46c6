//! What went wrong with a request, as problem details (RFC 9457).

use http::header::{ALLOW, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use schemars::JsonSchema;
use serde::Serialize;
use toolgate_core::{Error, Kind, StoreError};
use toolgate_wire::Raw;

use crate::body::{Answer, typed};

/// The type of content of problem details.
pub(crate) const PROBLEM: &str = "application/problem+json";

/// What is wrong with a request, and where there is more than one, each.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(crate) struct Details {
    /// What it is: `urn:toolgate:problem:` and a word.
    #[serde(rename = "type")]
    kind: String,
    /// The words of its status.
    title: &'static str,
    /// The status of the answer.
    status: u16,
    /// What happened.
    detail: String,
    /// The next step.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// What is wrong with which field, where that is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    fields: Vec<Field>,
}

/// What is wrong with a field.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "FieldProblem")]
pub(crate) struct Field {
    /// Its name: that of the body, the query or the path.
    name: String,
    /// What is wrong with it.
    detail: String,
}

/// What went wrong with a request.
#[derive(Debug)]
pub(crate) struct Problem {
    inner: Box<Inner>,
}

#[derive(Debug)]
struct Inner {
    status: StatusCode,
    word: &'static str,
    detail: String,
    hint: Option<String>,
    fields: Vec<Field>,
    retry_after: Option<u64>,
    allow: Option<String>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, word: &'static str, detail: impl Into<String>) -> Self {
        let (detail, fields) = (detail.into(), Vec::new());
        let inner = Inner { status, word, detail, hint: None, fields, retry_after: None, allow: None };
        Self { inner: Box::new(inner) }
    }

    /// A request that is no request of ours.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid", detail)
    }

    /// A field that cannot be taken.
    pub(crate) fn field(name: impl Into<String>, detail: impl Into<String>) -> Self {
        let (name, detail) = (name.into(), detail.into());
        let mut problem = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "field", format!("`{name}` {detail}"));
        problem.inner.fields.push(Field { name, detail });
        problem
    }

    /// Something that is not there.
    pub(crate) fn missing(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", detail)
    }

    /// Something that is not as the request takes it to be.
    pub(crate) fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict", detail)
    }

    /// Nobody who may ask this.
    pub(crate) fn forbidden(word: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, word, detail)
    }

    /// Nobody we know.
    pub(crate) fn unknown(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "login", detail)
    }

    /// Too many, too soon.
    pub(crate) fn too_many(detail: impl Into<String>, seconds: u64) -> Self {
        let mut problem = Self::new(StatusCode::TOO_MANY_REQUESTS, "too-many", detail);
        problem.inner.retry_after = Some(seconds);
        problem
    }

    /// A method that is not for this path.
    pub(crate) fn method(allowed: String) -> Self {
        let detail = format!("use {allowed} here");
        let mut problem = Self::new(StatusCode::METHOD_NOT_ALLOWED, "method", detail);
        problem.inner.allow = Some(allowed);
        problem
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.inner.hint = Some(hint.into());
        self
    }

    /// The status of the answer.
    pub(crate) fn status(&self) -> StatusCode {
        self.inner.status
    }

    fn details(&self) -> Details {
        Details {
            kind: format!("urn:toolgate:problem:{}", self.inner.word),
            title: self.inner.status.canonical_reason().unwrap_or("Error"),
            status: self.inner.status.as_u16(),
            detail: self.inner.detail.clone(),
            hint: self.inner.hint.clone(),
            fields: self.inner.fields.clone(),
        }
    }

    /// The answer that says so; its words pass the filter, as all does that leaves.
    pub(crate) fn answer(&self, filtered: impl Fn(Raw) -> Raw) -> Answer {
        let body = filtered(Raw::of(&self.details()));
        let mut answer = typed(self.inner.status, PROBLEM, body.bytes());
        let headers = answer.headers_mut();
        if let Some(seconds) = self.inner.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(allow) = self.inner.allow.as_ref().and_then(|allow| HeaderValue::from_str(allow).ok()) {
            headers.insert(ALLOW, allow);
        }
        answer
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let status = StatusCode::from_u16(error.kind().http_status());
        let word = match error.kind() {
            Kind::InvalidInput | Kind::InvalidParams | Kind::MissingCapability => "invalid",
            Kind::Unauthorized => "unauthorized",
            Kind::Denied | Kind::NeedsApproval => "denied",
            Kind::UnknownTarget
            | Kind::ResourceNotFound
            | Kind::UnknownMethod
            | Kind::NotFound
            | Kind::FileNotFound
            | Kind::SessionNotFound
            | Kind::SkillNotFound
            | Kind::AgentNotFound => "not-found",
            Kind::Conflict => "conflict",
            Kind::Cancelled => "cancelled",
            Kind::RateLimited => "too-many",
            Kind::Internal => "internal",
            Kind::ConnectionFailed | Kind::Upstream => "upstream",
            Kind::Timeout => "timeout",
        };
        if error.kind() == Kind::Internal {
            tracing::error!(error = ?error, "the admin API failed");
        }
        // What another server refuses is no refusal of ours: a page must not take it for the end of its login.
        let status = match status {
            Ok(StatusCode::UNAUTHORIZED) => StatusCode::BAD_GATEWAY,
            Ok(status) => status,
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let mut problem = Self::new(status, word, error.message());
        problem.inner.hint = error.next_step().map(ToOwned::to_owned);
        problem
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "the store did not answer the admin API");
        let mut problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, "store", "the store did not answer");
        problem.inner.hint = Some("`toolgate doctor` tells what is wrong with it".into());
        problem
    }
}
