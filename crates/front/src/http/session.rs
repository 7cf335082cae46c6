//! Sessions of legacy clients: begun by `initialize`, ended by `DELETE` or by time.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::{HeaderMap, HeaderValue, StatusCode};
use toolgate_core::{Hub, Pass, Principal};
use toolgate_host::Clock;
use toolgate_wire::{Version, headers};

use super::body::{Checked, Reply, empty, text};
use super::config::HttpConfig;
use super::log::{Budget, EventLog};
use super::route::{Address, not_allowed};
use super::{Shared, stream};
use crate::changes;
use crate::peer::Peer;

/// How long a stream that ended, or lost its client, is kept for a client to come back.
const KEPT: Duration = Duration::from_secs(60);

/// How many streams one session keeps.
const MOST_LOGS: usize = 16;

/// How often sessions and streams whose time is over are let go.
const SWEEP: Duration = Duration::from_secs(15);

/// The stream that belongs to no request.
const STANDALONE: u64 = 0;

/// One legacy client, from its `initialize` on.
pub(crate) struct Session {
    pub(crate) peer: Arc<Peer>,
    /// What it was begun with.
    pass: Pass,
    used_ms: AtomicU64,
    logs: Mutex<Logs>,
    budget: Budget,
}

#[derive(Default)]
struct Logs {
    last: u64,
    kept: Vec<Arc<EventLog>>,
}

/// All sessions, by id.
pub(crate) struct Sessions {
    all: Arc<Mutex<HashMap<String, Arc<Session>>>>,
    most: usize,
    clock: Clock,
    budget: Budget,
}

impl Sessions {
    pub(super) fn new(hub: &Hub, config: &HttpConfig) -> Self {
        let this = Self {
            all: Arc::default(),
            most: config.max_sessions,
            clock: Clock::system(),
            budget: Budget::default(),
        };
        let (all, clock) = (Arc::downgrade(&this.all), this.clock.clone());
        let idle_ms = config.session_idle_seconds.saturating_mul(1000);
        hub.tasks().spawn(hub.tasks().stopping().run_until_cancelled_owned(async move {
            loop {
                tokio::time::sleep(SWEEP).await;
                let Some(all) = all.upgrade() else { return };
                let oldest = clock.unix_ms().saturating_sub(idle_ms);
                turn_out(&all);
                let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                all.retain(|_, session| {
                    session.is_in_use() || session.used_ms.load(Ordering::Relaxed) > oldest
                });
                all.values().for_each(|session| session.sweep());
            }
        }));
        this
    }

    /// Begins a session, and names it in the answer to `initialize`.
    pub(super) fn begin(&self, peer: Arc<Peer>, pass: Pass, reply: &mut Reply) -> Checked<()> {
        let id = random_id()?;
        let name = HeaderValue::from_str(&id).map_err(|_| {
            Box::new(text(StatusCode::INTERNAL_SERVER_ERROR, "the session could not be named\n"))
        })?;
        let session = Session {
            peer,
            pass,
            used_ms: AtomicU64::new(self.clock.unix_ms()),
            logs: Mutex::default(),
            budget: self.budget.clone(),
        };
        let mut all = self.lock();
        if all.len() >= self.most {
            let why = "too many sessions; try again later\n";
            return Err(Box::new(text(StatusCode::SERVICE_UNAVAILABLE, why)));
        }
        // Whoever turns out sessions after its pass ended has been here before, or will be.
        if session.pass.is_revoked() {
            return Err(Box::new(text(StatusCode::UNAUTHORIZED, "the token is not valid any more\n")));
        }
        all.insert(id, Arc::new(session));
        reply.headers_mut().insert(headers::SESSION_ID, name);
        Ok(())
    }

    /// The session of this principal with this id.
    pub(super) fn find(&self, id: &str, principal: &Principal) -> Option<Arc<Session>> {
        let is_theirs =
            |session: &&Arc<Session>| *session.peer.principal == *principal && !session.pass.is_revoked();
        let session = self.lock().get(id).filter(is_theirs).cloned()?;
        session.used_ms.store(self.clock.unix_ms(), Ordering::Relaxed);
        Some(session)
    }

    /// Ends the sessions whose pass does not hold any more.
    pub(super) fn turn_out(&self) {
        turn_out(&self.all);
    }

    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    fn end(&self, id: &str, principal: &Principal) -> Option<Arc<Session>> {
        self.find(id, principal)?;
        self.lock().remove(id)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// A log for the stream of one request.
    pub(super) fn open_log(&self) -> Arc<EventLog> {
        let mut logs = self.logs();
        logs.last += 1;
        let log = EventLog::new(logs.last, self.is_primed(), self.budget.clone());
        logs.kept.retain(|log| !log.is_over(KEPT));
        if logs.kept.len() >= MOST_LOGS
            && let Some(oldest) = logs.kept.iter().position(|log| log.is_over(Duration::ZERO))
        {
            logs.kept.remove(oldest);
        }
        logs.kept.push(log.clone());
        log
    }

    /// The log of the stream that belongs to no request, and whether it is new.
    fn standalone(&self) -> (Arc<EventLog>, bool) {
        let mut logs = self.logs();
        if let Some(log) =
            logs.kept.iter().find(|log| log.stream() == STANDALONE && !log.is_over(Duration::ZERO))
        {
            return (log.clone(), false);
        }
        logs.kept.retain(|log| log.stream() != STANDALONE);
        let log = EventLog::new(STANDALONE, self.is_primed(), self.budget.clone());
        logs.kept.push(log.clone());
        (log, true)
    }

    fn log(&self, stream: u64) -> Option<Arc<EventLog>> {
        self.logs().kept.iter().find(|log| log.stream() == stream).cloned()
    }

    /// Clients before 2025-11-25 take an event without data for a broken message.
    fn is_primed(&self) -> bool {
        self.peer.version().is_some_and(|version| version >= Version::V2025_11_25)
    }

    fn is_in_use(&self) -> bool {
        self.logs().kept.iter().any(|log| log.is_connected() || !log.is_over(Duration::ZERO))
    }

    /// Ends all that runs in it, and all streams.
    fn end(&self) {
        self.peer.cancel_all();
        self.logs().kept.iter().for_each(|log| log.end());
    }

    fn sweep(&self) {
        let mut logs = self.logs();
        logs.kept.retain(|log| !log.is_over(KEPT));
        if logs.kept.is_empty() {
            logs.kept.shrink_to_fit();
        }
    }

    fn logs(&self) -> MutexGuard<'_, Logs> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the sessions whose pass does not hold any more.
fn turn_out(all: &Mutex<HashMap<String, Arc<Session>>>) {
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    let gone: Vec<Arc<Session>> =
        all.extract_if(|_, session| session.pass.is_revoked()).map(|(_, session)| session).collect();
    drop(all);
    gone.iter().for_each(|session| session.end());
}

/// A name that nobody can guess.
pub(super) fn random_id() -> Checked<String> {
    let mut random = [0; 16];
    if getrandom::fill(&mut random).is_err() {
        let why = "the system gave no random bytes\n";
        return Err(Box::new(text(StatusCode::INTERNAL_SERVER_ERROR, why)));
    }
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// `GET`: the stream of what belongs to no request, or what a client missed of another.
pub(crate) fn get(shared: &Arc<Shared>, headers: &HeaderMap, address: &Address, pass: &Pass) -> Reply {
    let Some(id) = address.session.as_ref().filter(|_| shared.config.sessions) else {
        return not_allowed("POST");
    };
    let Some(session) = shared.sessions.find(id, &pass.principal) else {
        return super::post::no_session(None);
    };
    if let Some(last) = headers.get(headers::LAST_EVENT_ID)
        && let Some(reply) = resume(shared, &session, last, pass)
    {
        return reply;
    }
    let (log, is_new) = session.standalone();
    if is_new {
        announce(shared, &session, log.clone());
    }
    let from = log.end_number();
    stream::standing(shared, log, from, pass)
}

/// `DELETE`: the end of a session and of all that runs in it.
pub(crate) fn delete(shared: &Shared, address: &Address, principal: &Principal) -> Reply {
    let Some(id) = address.session.as_ref().filter(|_| shared.config.sessions) else {
        return not_allowed("POST");
    };
    let Some(session) = shared.sessions.end(id, principal) else {
        return super::post::no_session(None);
    };
    session.end();
    empty(StatusCode::NO_CONTENT)
}

/// The rest of the stream that a client lost; `None` where it has to begin anew with the stream of no request.
fn resume(shared: &Shared, session: &Session, last: &HeaderValue, pass: &Pass) -> Option<Reply> {
    let ids = last.to_str().ok().and_then(|text| text.split_once('-'));
    let ids = ids
        .and_then(|(stream, event)| Some((stream.parse().ok()?, event.parse::<u64>().ok()?.checked_add(1)?)));
    let Some((stream_id, next)) = ids else {
        return Some(text(StatusCode::BAD_REQUEST, "`Last-Event-ID` is none of this server's\n"));
    };
    match session.log(stream_id) {
        Some(log) if log.reaches_back_to(next) => Some(stream::standing(shared, log, next, pass)),
        _ if stream_id == STANDALONE => None,
        _ => Some(text(StatusCode::BAD_REQUEST, "what followed `Last-Event-ID` is not kept any more\n")),
    }
}

/// Puts what changes on the session's own stream, until nobody has read it for a while.
fn announce(shared: &Shared, session: &Arc<Session>, log: Arc<EventLog>) {
    let mut changes = shared.hub.changes(&session.peer.principal);
    let (peer, stopping) = (session.peer.clone(), shared.stopping.clone());
    shared.hub.tasks().spawn(async move {
        let mut last_seen = std::time::Instant::now();
        loop {
            tokio::select! {
                change = changes.next() => match change {
                    Some(change) => for frame in changes::legacy(&change, &peer) {
                        log.push(frame).await;
                    },
                    None => break,
                },
                () = tokio::time::sleep(SWEEP) => {}
                () = stopping.cancelled() => break,
            }
            if log.is_connected() {
                last_seen = std::time::Instant::now();
            }
            if log.is_over(Duration::ZERO) || last_seen.elapsed() > KEPT {
                break;
            }
        }
        log.end();
    });
}
