//! The other side of the control socket: commands, processes that stand by, and those that attach their client.

use std::path::Path;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use toolgate_core::SourceStatus;
use toolgate_host::socket;
use toolgate_wire::{Frame, Id, Message, Raw, write};

use super::bridge::Link;
use super::server::line;
use super::status::Status;
use super::{About, Attach, ControlError, Guest, Owned, PATIENCE, PROTOCOL, SOCKET, StandBy, Which, method};

/// How long to wait before the socket is tried again, when its owner is just coming or going.
const PAUSE: Duration = Duration::from_millis(20);

/// The longest answer to a command.
const LONGEST_ANSWER: u64 = 1024 * 1024;

/// Where a client is served.
pub enum Joined {
    /// By the hub that owns the data folder.
    Attached(Link),
    /// Here: nobody owned the data folder, and now this process does.
    Owner(Owned),
    /// Here, because the owner will not, or cannot be talked to.
    Alone(ControlError),
}

/// Finds the hub that serves a client of this process: the one that runs, or its own.
pub async fn join(folder: &Path, guest: &Guest, first_question: u64) -> Joined {
    let begun = Instant::now();
    loop {
        match attach(folder, guest, first_question).await {
            Ok(Some(link)) => return Joined::Attached(link),
            Ok(None) => {}
            // One that goes away as we come is not one that will not have us.
            Err(ControlError::Silent { .. }) if begun.elapsed() < PATIENCE => {}
            Err(error) => return Joined::Alone(error),
        }
        match Owned::claim(folder) {
            Ok(Some(owned)) => return Joined::Owner(owned),
            Ok(None) if begun.elapsed() < PATIENCE => {}
            Ok(None) => return Joined::Alone(ControlError::silent(folder)),
            Err(error) => return Joined::Alone(error),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// What the hub that owns a data folder tells about itself; `None` where none does.
///
/// # Errors
/// Someone is there, but cannot be talked to.
pub async fn status(folder: &Path) -> Result<Option<Status>, ControlError> {
    let Some(told) = command(folder, method::STATUS, &Raw::literal("{}")).await? else { return Ok(None) };
    serde_json::from_slice(told.as_bytes()).map(Some).map_err(|_| ControlError::silent(folder))
}

/// Has the hub that owns a data folder read its settings anew; `None` where none does, else what came of it.
///
/// # Errors
/// Someone is there, but cannot be talked to, or would not.
pub async fn reload(folder: &Path) -> Result<Option<String>, ControlError> {
    let Some(told) = command(folder, method::RELOAD, &Raw::literal("{}")).await? else { return Ok(None) };
    Ok(Some(told.get("reloaded").and_then(|text| text.as_string().map(String::from)).unwrap_or_default()))
}

/// How the upstreams of the hub that owns a data folder stand, or one of them with what its program complained;
/// `None` where no hub runs.
///
/// # Errors
/// Someone is there, but cannot be talked to.
pub async fn upstreams(folder: &Path, name: Option<&str>) -> Result<Option<Vec<SourceStatus>>, ControlError> {
    let which = Raw::of(&Which { name: name.map(Into::into) });
    let Some(told) = command(folder, method::UPSTREAMS, &which).await? else { return Ok(None) };
    serde_json::from_slice(told.as_bytes()).map(Some).map_err(|_| ControlError::silent(folder))
}

/// Has the hub that owns a data folder connect anew to an upstream; tells whether a hub runs.
///
/// # Errors
/// Someone is there, but cannot be talked to, or knows no such upstream.
pub async fn restart(folder: &Path, name: &str) -> Result<bool, ControlError> {
    let which = Raw::of(&Which { name: Some(name.into()) });
    Ok(command(folder, method::RESTART, &which).await?.is_some())
}

/// Asks the owner of a data folder something; comes back while it has no room.
async fn command(folder: &Path, method: &str, params: &Raw) -> Result<Option<Raw>, ControlError> {
    let begun = Instant::now();
    loop {
        let Some(mut talk) = Talk::begin(folder).await? else { return Ok(None) };
        match talk.ask(method, params).await {
            Err(ControlError::Silent { .. }) if begun.elapsed() < 2 * PATIENCE => {}
            told => return told.map(Some),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn attach(folder: &Path, guest: &Guest, first_question: u64) -> Result<Option<Link>, ControlError> {
    let Some(mut talk) = Talk::begin(folder).await? else { return Ok(None) };
    let Guest { terms, profile } = guest.clone();
    let attach = Attach { protocol: PROTOCOL, terms, profile, first_question };
    talk.ask(method::ATTACH, &Raw::of(&attach)).await?;
    Ok(Some(Link::new((talk.input, talk.output))))
}

/// Waits until the owner of a data folder is gone, and shows among its processes meanwhile.
pub(super) async fn stand_by(folder: &Path, about: &About) {
    let stand_by =
        StandBy { version: about.version.into(), transport: about.transport.into(), address: about.address };
    let waiting = async {
        let Some(mut talk) = Talk::begin(folder).await? else { return Ok(()) };
        talk.ask(method::STAND_BY, &Raw::of(&stand_by)).await?;
        let mut ignored = [0; 64];
        while talk.input.read(&mut ignored).await.is_ok_and(|count| count > 0) {}
        Ok::<_, ControlError>(())
    };
    if let Err(error) = waiting.await {
        tracing::debug!("cannot stand by: {error}");
        tokio::time::sleep(PATIENCE).await;
    }
}

/// A connection to the owner of a data folder.
struct Talk<'a> {
    folder: &'a Path,
    input: BufReader<OwnedReadHalf>,
    output: OwnedWriteHalf,
}

impl<'a> Talk<'a> {
    async fn begin(folder: &'a Path) -> Result<Option<Self>, ControlError> {
        let connecting = tokio::time::timeout(PATIENCE, socket::connect(folder, SOCKET)).await;
        let connected = connecting.map_err(|_| ControlError::silent(folder))?;
        let Some((stream, _)) = connected.map_err(ControlError::unusable(folder))? else { return Ok(None) };
        let (input, output) = stream.into_split();
        Ok(Some(Self { folder, input: BufReader::new(input), output }))
    }

    async fn ask(&mut self, method: &str, params: &Raw) -> Result<Raw, ControlError> {
        let silent = || ControlError::silent(self.folder);
        let mut request = write::request(&Id::number(0), method, params).to_vec();
        request.push(b'\n');
        let talk = async {
            self.output.write_all(&request).await.ok()?;
            line(&mut self.input, LONGEST_ANSWER).await
        };
        let answer = tokio::time::timeout(PATIENCE, talk).await.ok().flatten().ok_or_else(silent)?;
        let Ok(Frame::One(Message::Response(response))) = toolgate_wire::parse(answer) else {
            return Err(silent());
        };
        response.outcome.map_err(|error| {
            let why = error.get("message").and_then(|text| text.as_string().map(String::from));
            ControlError::Refused(why.unwrap_or_default())
        })
    }
}
