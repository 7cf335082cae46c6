//! A chat service that is configured: one request at a time, and what its answer means.

mod discord;
mod slack;
mod telegram;

use std::time::Duration;

use toolgate_core::{Error, Kind as Failure};
use toolgate_host::Secret;

use super::target::{Kind, Provider, Target};
use crate::Unready;
use crate::service::{Lost, Reply, Service};

/// A chat service that is configured.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) provider: Provider,
    service: Service,
}

/// One request of a delivery.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step<'a> {
    /// Find out where messages for a user go.
    Open(&'a str),
    /// Send a text there.
    Send(&'a str, &'a str),
}

/// Why a step was not taken.
#[derive(Debug)]
pub(super) enum Refused {
    /// Not now, but perhaps after this long.
    Later(Option<Duration>),
    /// It is not done.
    No(Error),
    /// It may be done or not; nobody can tell.
    Unsure(Error),
}

impl Line {
    pub(super) fn new(provider: Provider, base: &str, token: Secret) -> Result<Self, Unready> {
        let table = format!("chat.{}", provider.word());
        let service = Service::new(provider.name(), &table, base, token)?;
        let service = match provider {
            Provider::Discord => service.authorized("Bot"),
            Provider::Slack => service.authorized("Bearer"),
            // Its token stands in the address.
            Provider::Telegram => service,
        };
        Ok(Self { provider, service })
    }

    /// The step that has to come before anything can be sent, if any.
    pub(super) fn first<'a>(&self, target: &'a Target) -> Option<Step<'a>> {
        let opens = self.provider == Provider::Discord && target.kind == Kind::User;
        opens.then_some(Step::Open(&target.id))
    }

    /// Takes a step: the place that was opened, or the id of the message that was sent.
    pub(super) async fn take(&self, step: Step<'_>) -> Result<String, Refused> {
        match self.provider {
            Provider::Discord => discord::take(&self.service, step).await,
            Provider::Slack => slack::take(&self.service, step).await,
            Provider::Telegram => telegram::take(&self.service, step).await,
        }
    }
}

impl From<Lost> for Refused {
    fn from(lost: Lost) -> Self {
        if lost.arrived { Self::Unsure(lost.error) } else { Self::No(lost.error) }
    }
}

/// What a status means where a service has nothing particular to say.
fn refused(service: &Service, reply: &Reply, said: Option<&str>) -> Refused {
    let name = service.name();
    let status = reply.status;
    let said = said.map(|said| format!(": {}", service.words(said))).unwrap_or_default();
    let no = |kind, message: String| Refused::No(Error::new(kind, message));
    match status {
        401 => Refused::No(unauthorized(name)),
        403 => no(Failure::Denied, format!("{name} does not let the bot write there{said}")),
        404 => Refused::No(not_found(name, &said)),
        400 | 413 | 422 => no(Failure::InvalidInput, format!("{name} does not take the message{said}")),
        500.. => Refused::Unsure(Error::new(Failure::ConnectionFailed, format!("{name} answered {status}"))),
        200..300 => Refused::Unsure(service.strange(status)),
        _ => Refused::No(service.strange(status)),
    }
}

fn unauthorized(name: &str) -> Error {
    let hint = "ask the person who runs Toolgate to store the bot's token again";
    Error::new(Failure::Unauthorized, format!("{name} does not accept the token")).hint(hint)
}

fn not_found(name: &str, said: &str) -> Error {
    let error = Error::new(Failure::NotFound, format!("{name} does not know the target{said}"));
    error.hint("check the id, and that the bot was added there")
}
