//! The owner's side of the control socket: attached clients, processes that stand by, and commands.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use toolgate_core::{Hub, Principal, Transport, iso8601};
use toolgate_host::Clock;
use toolgate_host::socket::PeerProcess;
use toolgate_wire::{Frame, Id, Message, Raw, Request, code, write};

use super::status::{OtherStatus, Status, connections, runs};
use super::{About, Attach, LONGEST_LINE, Owned, PATIENCE, PROTOCOL, StandBy, Terms, Which, method};
use crate::connection::Who;
use crate::stdio::{StdioLimits, serve_as};

/// How many connections may be open whose purpose is a command, or not known yet.
const MOST_COMMANDS: usize = 32;

/// How many clients may be attached, and processes stand by, together.
const MOST_GUESTS: usize = 256;

/// What all connections share.
struct Shared {
    hub: Hub,
    about: About,
    clock: Clock,
    others: Mutex<BTreeMap<u64, OtherStatus>>,
    guests: Arc<Semaphore>,
    /// Cancelled when the hub stops: attached clients come to their end.
    ending: CancellationToken,
}

impl Owned {
    /// Answers on the socket until `stop` is cancelled or the hub stops.
    pub async fn serve(self, hub: Hub, about: About, stop: CancellationToken) {
        let shared = Arc::new(Shared {
            clock: Clock::system(),
            others: Mutex::default(),
            guests: Arc::new(Semaphore::new(MOST_GUESTS)),
            ending: hub.tasks().stopping(),
            hub,
            about,
        });
        let commands = Arc::new(Semaphore::new(MOST_COMMANDS));
        loop {
            let (stream, peer) = tokio::select! {
                accepted = self.socket.accept() => match accepted {
                    Ok(accepted) => accepted,
                    Err(error) => {
                        // Out of file descriptors, most likely: some will be free again soon.
                        tracing::warn!(%error, "a connection to the control socket could not be accepted");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        continue;
                    }
                },
                () = stop.cancelled() => break,
                () = shared.ending.cancelled() => break,
            };
            // Who finds no room sees the connection end, and comes back.
            if let Ok(permit) = commands.clone().try_acquire_owned() {
                let visit = Visit::new(shared.clone(), stream, peer);
                shared.hub.tasks().spawn(visit.answer(permit));
            }
        }
        // The socket is free for the next owner while our guests come to their end.
        drop(self);
        shared.ending.cancel();
    }
}

/// One connection.
struct Visit {
    shared: Arc<Shared>,
    peer: PeerProcess,
    input: BufReader<OwnedReadHalf>,
    output: OwnedWriteHalf,
}

impl Visit {
    fn new(shared: Arc<Shared>, stream: UnixStream, peer: PeerProcess) -> Self {
        let (input, output) = stream.into_split();
        Self { shared, peer, input: BufReader::new(input), output }
    }

    /// Answers commands until the connection becomes something else, or nothing more comes for a while.
    async fn answer(mut self, permit: OwnedSemaphorePermit) {
        while let Some(request) = self.request().await {
            match &*request.method {
                method::ATTACH => {
                    drop(permit);
                    return self.attach(&request).await;
                }
                method::STAND_BY => {
                    drop(permit);
                    return self.stand_by(&request).await;
                }
                method::STATUS => {
                    let status = self.shared.status();
                    self.send(write::result(&request.id, &Raw::of(&status))).await;
                }
                method::RELOAD => {
                    let answer = self.reload(&request.id).await;
                    self.send(answer).await;
                }
                method::UPSTREAMS => {
                    let answer = self.shared.upstreams(&request);
                    self.send(answer).await;
                }
                method::RESTART => {
                    let answer = self.shared.restart(&request);
                    self.send(answer).await;
                }
                _ => self.refuse(&request.id, code::METHOD_NOT_FOUND, "unknown method").await,
            }
        }
    }

    async fn request(&mut self) -> Option<Request> {
        let line = tokio::select! {
            line = tokio::time::timeout(PATIENCE, line(&mut self.input, LONGEST_LINE)) => line.ok()??,
            () = self.shared.ending.cancelled() => return None,
        };
        match toolgate_wire::parse(line) {
            Ok(Frame::One(Message::Request(request))) => Some(request),
            Ok(_) => None,
            Err(refusal) => {
                self.send(write::refusal(&refusal)).await;
                None
            }
        }
    }

    /// The rest of the connection is that of an MCP client.
    async fn attach(mut self, request: &Request) {
        let attach: Attach = match read(request) {
            Ok(attach) => attach,
            Err(why) => return self.refuse(&request.id, code::INVALID_PARAMS, &why).await,
        };
        if let Some(why) = self.shared.refuses(&attach) {
            return self.refuse(&request.id, code::INVALID_PARAMS, &why).await;
        }
        let profile = match self.shared.profile(attach.profile.as_deref()) {
            Ok(profile) => profile,
            Err(why) => return self.refuse(&request.id, code::INVALID_PARAMS, &why).await,
        };
        let Ok(_guest) = self.shared.guests.clone().try_acquire_owned() else {
            let why = format!("{MOST_GUESTS} clients are attached already");
            return self.refuse(&request.id, code::RATE_LIMITED, &why).await;
        };
        self.send(write::result(&request.id, &self.shared.welcome())).await;
        let Self { shared, peer, input, output } = self;
        let who = Who {
            profile,
            process: peer.pid,
            first_question: attach.first_question,
            farewell: Some(write::notification(method::STOPPING, None)),
            ..Who::new(Principal::local(), Transport::Attached)
        };
        let ending = shared.ending.clone();
        serve_as(shared.hub.clone(), who, (input, output), StdioLimits::default(), ending).await;
    }

    /// The rest of the connection is silence: its end tells either side that the other is gone.
    async fn stand_by(mut self, request: &Request) {
        let stand_by: StandBy = match read(request) {
            Ok(stand_by) => stand_by,
            Err(why) => return self.refuse(&request.id, code::INVALID_PARAMS, &why).await,
        };
        let Ok(_guest) = self.shared.guests.clone().try_acquire_owned() else {
            let why = format!("{MOST_GUESTS} processes stand by already");
            return self.refuse(&request.id, code::RATE_LIMITED, &why).await;
        };
        let _listed = Listed::new(&self.shared, stand_by, self.peer);
        self.send(write::result(&request.id, &self.shared.welcome())).await;
        let mut ignored = [0; 64];
        tokio::select! {
            () = async { while self.input.read(&mut ignored).await.is_ok_and(|count| count > 0) {} } => {}
            () = self.shared.ending.cancelled() => {}
        }
    }

    async fn reload(&self, id: &Id) -> Bytes {
        let Some(reload) = self.shared.about.reload.clone() else {
            return write::error(Some(id), code::METHOD_NOT_FOUND, "this process cannot reload", None);
        };
        match self.shared.hub.tasks().blocking(move || reload()).await {
            Ok(Ok(what)) => write::result(id, &Raw::of(&serde_json::json!({"reloaded": what}))),
            Ok(Err(why)) => write::error(Some(id), code::INVALID_REQUEST, &why, None),
            Err(failed) => write::error(Some(id), code::INTERNAL, &failed.to_string(), None),
        }
    }

    async fn refuse(&mut self, id: &Id, code: i32, why: &str) {
        self.send(write::error(Some(id), code, why, None)).await;
    }

    /// Sends an answer through the filters, as all does that leaves: it may name what callers sent and servers said.
    async fn send(&mut self, frame: Bytes) {
        let frame = match self.shared.hub.filtered(Raw::trusted(frame)) {
            Ok(filtered) => filtered.bytes(),
            Err(_) => write::error(None, code::INTERNAL, "the answer could not be filtered", None),
        };
        let mut line = write::one_line(frame).to_vec();
        line.push(b'\n');
        // Who does not wait for the answer does not need it.
        drop(tokio::time::timeout(PATIENCE, self.output.write_all(&line)).await);
    }
}

impl Shared {
    /// Why this hub is not the one that the client wants.
    fn refuses(&self, attach: &Attach) -> Option<String> {
        if attach.protocol != PROTOCOL {
            return Some(format!("the running hub speaks version {PROTOCOL} of the control protocol"));
        }
        difference(&(self.about.terms)(), &attach.terms)
    }

    fn welcome(&self) -> Raw {
        Raw::of(&serde_json::json!({"pid": std::process::id(), "version": self.about.version}))
    }

    fn status(&self) -> Status {
        let (connected, running) = (self.hub.connections(), self.hub.running());
        let (now_ms, started_ms) = (self.clock.unix_ms(), self.about.started_ms);
        Status {
            pid: std::process::id(),
            version: self.about.version.into(),
            transport: self.about.transport.into(),
            address: self.about.address.map(|address| address.to_string()),
            started_at: iso8601(started_ms),
            uptime_seconds: now_ms.saturating_sub(started_ms) / 1000,
            terms: (self.about.terms)(),
            sources: self.hub.sources().iter().map(ToString::to_string).collect(),
            troubles: self
                .hub
                .troubles()
                .into_iter()
                .map(|(part, trouble)| (part.to_owned(), trouble))
                .collect(),
            connected: connected.len(),
            connections: connections(&connected, now_ms),
            run_count: running.len(),
            runs: runs(&running, &self.hub),
            others: self.others().values().cloned().collect(),
        }
    }

    fn profile(&self, name: Option<&str>) -> Result<Option<Arc<str>>, String> {
        let Some(name) = name else { return Ok(None) };
        let known = self.hub.profile(name);
        known.map(Some).ok_or_else(|| format!("the running hub has no profile `{}`", name.escape_default()))
    }

    /// How the upstreams stand; what their programs complained only where one is named, for it may be long.
    fn upstreams(&self, request: &Request) -> Bytes {
        let which: Which = match read(request) {
            Ok(which) => which,
            Err(why) => return write::error(Some(&request.id), code::INVALID_PARAMS, &why, None),
        };
        let mut upstreams = self.hub.upstreams();
        match which.name {
            Some(name) => upstreams.retain(|status| status.name == name),
            None => upstreams.iter_mut().for_each(|status| status.stderr.clear()),
        }
        write::result(&request.id, &Raw::of(&upstreams))
    }

    fn restart(&self, request: &Request) -> Bytes {
        let done = read(request).and_then(|which: Which| {
            let name = which.name.unwrap_or_default();
            self.hub.restart(&name).map_err(|error| error.to_string())
        });
        match done {
            Ok(()) => write::result(&request.id, &Raw::literal("{}")),
            Err(why) => write::error(Some(&request.id), code::INVALID_PARAMS, &why, None),
        }
    }

    fn others(&self) -> MutexGuard<'_, BTreeMap<u64, OtherStatus>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first thing in which another process wants something else.
fn difference(ours: &Terms, theirs: &Terms) -> Option<String> {
    let other = ours.keys().chain(theirs.keys()).find(|key| ours.get(*key) != theirs.get(*key))?;
    let shown = |terms: &Terms| terms.get(other).map_or("nothing".into(), |value| format!("`{value}`"));
    Some(format!("the running hub has another `{other}`: {}, not {}", shown(ours), shown(theirs)))
}

/// A process that stands by, on the list for as long as this lives.
struct Listed {
    shared: Arc<Shared>,
    number: u64,
}

impl Listed {
    fn new(shared: &Arc<Shared>, stand_by: StandBy, peer: PeerProcess) -> Self {
        let StandBy { version, transport, address } = stand_by;
        let address = address.map(|address| address.to_string());
        let mut others = shared.others();
        let number = others.last_key_value().map_or(0, |(last, _)| last + 1);
        others.insert(number, OtherStatus { pid: peer.pid, version, transport, address });
        Self { shared: shared.clone(), number }
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.shared.others().remove(&self.number);
    }
}

fn read<T: serde::de::DeserializeOwned>(request: &Request) -> Result<T, String> {
    let params = request.params.as_ref().ok_or("`params` is missing")?;
    serde_json::from_slice(params.as_bytes()).map_err(|error| error.to_string())
}

/// The next line; nothing where there is none, or it is too long.
pub(super) async fn line(input: &mut BufReader<OwnedReadHalf>, longest: u64) -> Option<Bytes> {
    let mut line = Vec::new();
    input.take(longest).read_until(b'\n', &mut line).await.ok()?;
    (line.pop() == Some(b'\n')).then(|| line.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hub_with_other_terms_says_which_is_different() {
        #[track_caller]
        fn check(ours: &[(&str, &str)], theirs: &[(&str, &str)], expect: Option<&str>) {
            let terms = |pairs: &[(&str, &str)]| -> Terms {
                pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
            };
            assert_eq!(difference(&terms(ours), &terms(theirs)).as_deref(), expect);
        }
        check(&[], &[], None);
        check(&[("workspace", "/a")], &[("workspace", "/a")], None);
        check(
            &[("packs", "memory"), ("workspace", "/a")],
            &[("packs", "memory"), ("workspace", "/b")],
            Some("the running hub has another `workspace`: `/a`, not `/b`"),
        );
        check(&[], &[("config", "/c")], Some("the running hub has another `config`: nothing, not `/c`"));
    }
}
