//! What changes, as it does: a stream for the page, which then asks anew for what it shows.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc, watch};
use toolgate_core::{Change, Changes, Collection, Principal};
use toolgate_wire::Raw;
use toolgate_wire::sse::{Event, KEEP_ALIVE, encode};

use super::VIEWER;
use super::status::Look;
use crate::access::Login;
use crate::admin::Inner;
use crate::problem::Problem;
use crate::route::{Ask, Events, GET, Nothing, Route};
use crate::sampler::Sample;

/// How often it is looked at what nobody tells: connections, runs, troubles, calls that waited too long, files of
/// scripts.
const LOOK: Duration = Duration::from_secs(1);
/// After how many looks a stream shows that it is alive, and that its login is.
const ALIVE: u32 = 15;
/// How many events may wait for a slow page.
const WAITING: usize = 32;

pub(super) fn routes() -> Vec<Route> {
    vec![Route::new(
        (GET, "/events"),
        VIEWER,
        "What changes: `status` and `metrics` with what is so now; `changed` names what to load anew; `end` ends it.",
        events,
    )]
}

/// That something is not as it was.
#[derive(Serialize)]
struct Changed {
    /// What to load anew.
    what: &'static str,
}

async fn events(ask: Ask, _: Nothing) -> Result<Events, Problem> {
    let admin = ask.admin.clone();
    let Ok(place) = admin.streams.clone().try_acquire_owned() else {
        return Err(Problem::too_many("too many pages listen", 10).hint("close some of them"));
    };
    let login = ask.login()?.clone();
    let (pieces, body) = mpsc::channel(WAITING);
    let stopping = admin.tasks().stopping();
    // Whoever listens first misses nothing, not even the end of their own login.
    let heard = Heard {
        stored: admin.store.changes(),
        listed: admin.hub.changes(&Principal::local()),
        samples: admin.sampler.subscribe(),
    };
    ask.admin.tasks().spawn(async move {
        let _place = place;
        let stream = Stream { admin, login, pieces };
        tokio::select! {
            Err(Gone) | Ok(()) = stream.run(heard) => {}
            () = stopping.cancelled() => {}
        }
    });
    Ok(Events(body))
}

/// Nobody reads any more, or nobody may.
struct Gone;

/// What tells of changes.
struct Heard {
    stored: broadcast::Receiver<Collection>,
    listed: Changes,
    samples: watch::Receiver<Sample>,
}

struct Stream {
    admin: Arc<Inner>,
    login: Login,
    pieces: mpsc::Sender<Bytes>,
}

impl Stream {
    async fn run(&self, heard: Heard) -> Result<(), Gone> {
        let Heard { mut stored, mut listed, mut samples } = heard;
        let (mut shown, mut looks) = (None, 0);
        self.check().await?;
        self.status(&mut shown).await?;
        let mut look = tokio::time::interval(LOOK);
        look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                changed = stored.recv() => match changed {
                    Ok(collection) => self.stored(collection).await?,
                    Err(RecvError::Lagged(_)) => self.changed("all").await?,
                    Err(RecvError::Closed) => return Ok(()),
                },
                changed = listed.next() => match changed {
                    Some(Change::Listed(..)) => self.changed("tools").await?,
                    Some(Change::Task(_) | Change::Told(_) | Change::Updated(_) | Change::AnyUpdated(_)) => {}
                    None => return Ok(()),
                },
                Ok(()) = samples.changed() => {
                    let sample = samples.borrow_and_update().clone();
                    self.send("metrics", &sample).await?;
                }
                _ = look.tick() => {
                    self.status(&mut shown).await?;
                    looks += 1;
                    if looks % ALIVE == 0 {
                        self.check().await?;
                        self.pieces.send(Bytes::from_static(KEEP_ALIVE)).await.map_err(|_| Gone)?;
                    }
                }
                () = self.pieces.closed() => return Err(Gone),
            }
        }
    }

    /// Tells what is so now, if that is not what was told last.
    async fn status(&self, shown: &mut Option<Look>) -> Result<(), Gone> {
        // A store that does not answer shows in the troubles, once it is asked again.
        let Ok(now) = Look::now(&self.admin).await else { return Ok(()) };
        let before = shown.replace(now);
        let Some(now) = shown.as_ref() else { return Ok(()) };
        if let Some(before) = &before {
            // What expires is written by nobody, so the store tells nothing of it.
            if !before.waiting.is_subset(&now.waiting) {
                self.changed("approvals").await?;
            }
            if before.scripts != now.scripts {
                self.changed("scripts").await?;
            }
        }
        if before.is_none_or(|before| before.status != now.status) {
            self.send("status", &now.status).await?;
        }
        Ok(())
    }

    async fn stored(&self, collection: Collection) -> Result<(), Gone> {
        match collection {
            Collection::Approvals => self.changed("approvals").await,
            Collection::Remembered => self.changed("remembered").await,
            Collection::Tokens => self.changed("tokens").await,
            Collection::Secrets => self.changed("secrets").await,
            Collection::Pins => self.changed("pins").await,
            Collection::Definitions | Collection::Switches | Collection::Grants => {
                self.changed("upstreams").await
            }
            Collection::Scripts => self.changed("scripts").await,
            Collection::Accounts => {
                self.check().await?;
                self.changed("accounts").await
            }
            Collection::Logins => self.check().await,
            Collection::Results | Collection::Links | Collection::State => Ok(()),
        }
    }

    /// Goes on only as long as the login holds.
    async fn check(&self) -> Result<(), Gone> {
        match self.admin.logins.holds(&self.login).await {
            Ok(true) => Ok(()),
            Ok(false) => {
                self.send("end", &Changed { what: "login" }).await?;
                Err(Gone)
            }
            // Without a store nobody is let in, and nobody stays.
            Err(_) => Err(Gone),
        }
    }

    async fn changed(&self, what: &'static str) -> Result<(), Gone> {
        self.send("changed", &Changed { what }).await
    }

    async fn send(&self, name: &str, data: &impl Serialize) -> Result<(), Gone> {
        let Ok(data) = self.admin.hub.filtered(Raw::of(data)) else { return Err(Gone) };
        let event = Event { event: Some(name.to_owned()), ..Event::of(data.bytes()) };
        let mut piece = Vec::new();
        encode(&event, &mut piece);
        self.pieces.send(piece.into()).await.map_err(|_| Gone)
    }
}
