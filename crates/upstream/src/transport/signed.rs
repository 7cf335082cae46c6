//! Requests with the token of the moment: one that is refused goes out once more, with another.

use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, StatusCode};

use super::http::reason;
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
}

/// Sends what `make` makes. A token that is refused is renewed or replaced once; the server did nothing before.
pub(super) async fn send(
    bearer: Option<&Bearer>,
    make: impl Fn() -> RequestBuilder,
) -> Result<Response, Fault> {
    let Some(bearer) = bearer else { return attempt(make(), None).await };
    let token = bearer.header().await?;
    let response = attempt(make(), token.as_ref()).await?;
    if response.status() != StatusCode::UNAUTHORIZED {
        return judged(bearer, response, token.is_some()).await;
    }
    let challenge = joined(response.headers());
    let Some(other) = bearer.instead(token.as_ref(), challenge.as_deref()).await else { return Ok(response) };
    let response = attempt(make(), Some(&other)).await?;
    judged(bearer, response, true).await
}

async fn judged(bearer: &Bearer, response: Response, with_token: bool) -> Result<Response, Fault> {
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

async fn attempt(request: RequestBuilder, token: Option<&HeaderValue>) -> Result<Response, Fault> {
    let request = match token {
        Some(token) => request.header(AUTHORIZATION, token.clone()),
        None => request,
    };
    request.send().await.map_err(|error| {
        if error.is_connect() { Fault::NotSent(reason(error)) } else { Fault::Gone(reason(error)) }
    })
}
