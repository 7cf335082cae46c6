//! Requests with the token of the moment: one that is refused goes out once more, with another; so does one whose
//! token does not allow enough.

use std::sync::Arc;

use bytes::Bytes;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Client, RequestBuilder, StatusCode};

use super::answer::{Answer, reason};
use super::direct::Direct;
use crate::fault::Fault;
use crate::oauth::{Bearer, joined};
use crate::plan::AddressPlan;

/// The way to an address.
#[derive(Clone)]
pub(crate) struct Way<'a> {
    pub(crate) plan: &'a AddressPlan,
    pub(crate) client: Client,
    /// What lets us in, where we sign in.
    pub(crate) bearer: Option<Bearer>,
    /// Whether no proxy is in between.
    pub(crate) is_direct: bool,
}

/// A request that is about to be sent.
pub(super) enum Request<'a> {
    Client(Box<RequestBuilder>),
    Direct(&'a Arc<Direct>, HeaderMap, Bytes),
}

impl From<RequestBuilder> for Request<'_> {
    fn from(request: RequestBuilder) -> Self {
        Self::Client(Box::new(request))
    }
}

/// Sends what `make` makes. A token that is refused is renewed or replaced once, and so is one that does not allow
/// enough; the server did nothing before.
pub(super) async fn send<'a, R: Into<Request<'a>>>(
    bearer: Option<&Bearer>,
    make: impl Fn() -> Result<R, Fault>,
) -> Result<Answer, Fault> {
    match bearer {
        None => attempt(make()?.into(), None).await,
        Some(bearer) => Box::pin(send_as(bearer, make)).await,
    }
}

async fn send_as<'a, R: Into<Request<'a>>>(
    bearer: &Bearer,
    make: impl Fn() -> Result<R, Fault>,
) -> Result<Answer, Fault> {
    let mut token = bearer.header().await?;
    let mut response = attempt(make()?.into(), token.as_ref()).await?;
    if response.status() == StatusCode::UNAUTHORIZED {
        let challenge = joined(response.headers());
        let other = bearer.instead(token.as_ref(), challenge.as_deref()).await;
        let Some(other) = other else { return Ok(response) };
        response = attempt(make()?.into(), Some(&other)).await?;
        token = Some(other);
    }
    if response.status() == StatusCode::FORBIDDEN
        && let Some(challenge) = joined(response.headers())
        && let Some(more) = bearer.more(token.as_ref(), &challenge).await
    {
        response = attempt(make()?.into(), Some(&more)).await?;
        token = Some(more);
    }
    judged(bearer, response, token.is_some()).await
}

async fn judged(bearer: &Bearer, response: Answer, with_token: bool) -> Result<Answer, Fault> {
    match response.status() {
        StatusCode::UNAUTHORIZED => {}
        StatusCode::FORBIDDEN => {
            if let Some(challenge) = joined(response.headers())
                && let Some(fault) = bearer.missing(&challenge).await
            {
                return Err(fault);
            }
        }
        _ if with_token => bearer.taken(),
        _ => {}
    }
    Ok(response)
}

async fn attempt(request: Request<'_>, token: Option<&HeaderValue>) -> Result<Answer, Fault> {
    match request {
        Request::Direct(direct, mut headers, frame) => {
            if let Some(token) = token {
                headers.append(AUTHORIZATION, token.clone());
            }
            direct.post(headers, frame).await.map(Answer::Direct)
        }
        Request::Client(request) => {
            let request = match token {
                Some(token) => request.header(AUTHORIZATION, token.clone()),
                None => *request,
            };
            let response = Box::pin(request.send()).await.map_err(|error| {
                if error.is_connect() { Fault::NotSent(reason(error)) } else { Fault::Gone(reason(error)) }
            })?;
            Ok(Answer::Client(response))
        }
    }
}
