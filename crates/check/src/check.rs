//! Checks a server: finds the eras it speaks, then goes through all rules.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_host::Tasks;
use toolgate_wire::{Era, Version, method};

use crate::connection::{Complaints, Lost, client};
use crate::notes::{Notes, quote};
use crate::probe::{self, Stage, opening};
use crate::report::{Report, Served};
use crate::rules::{self, Lists};
use crate::session::{
    NotOpened, Opener, Session, initialize_params, is_discovery, is_other_version, with_meta,
};
use crate::subject::Subject;

/// How long a server may take for what.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Until it is ready.
    pub start: Duration,
    /// To say which era it speaks, before it is asked the other way too.
    pub probe: Duration,
    /// For an answer.
    pub answer: Duration,
    /// To end when its input ends.
    pub end: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            probe: Duration::from_secs(3),
            answer: Duration::from_secs(10),
            end: Duration::from_secs(5),
        }
    }
}

/// Why a server could not be checked at all.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct CannotCheck {
    message: String,
    hint: &'static str,
    wants_to_know_who: bool,
}

impl CannotCheck {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        self.hint
    }

    /// Whether the server lets nobody in of whom it does not know who they are.
    pub fn wants_to_know_who(&self) -> bool {
        self.wants_to_know_who
    }

    fn new(message: String, hint: &'static str) -> Self {
        Self { message, hint, wants_to_know_who: false }
    }
}

/// Checks a server. `say` is told what is tried next.
///
/// # Errors
/// The server cannot be started or reached, or lets nobody in.
pub async fn check(
    subject: &Subject,
    limits: Limits,
    tasks: &Tasks,
    say: &(dyn Fn(&str) + Sync),
) -> Result<Report, CannotCheck> {
    let client = match subject {
        Subject::Address(address) => {
            let hint = "check `ca_file`, `proxy` and the certificates of this machine";
            let made = client(address, tasks).await;
            Some(made.map_err(|message| CannotCheck::new(message, hint))?)
        }
        Subject::Program(_) => None,
    };
    let complaints = Complaints::default();
    let mut opener = Opener { subject, client, limits, tasks, complaints, old: false };
    let mut notes = Notes::default();
    rules::address(subject, &mut notes);
    say("asking which era it speaks");
    let modern = find_modern(&opener, &mut notes).await?;
    let legacy = find_legacy(&mut opener, modern.is_some(), &mut notes).await?;
    let mut served = Vec::new();
    let opened = [modern, legacy].into_iter().flatten();
    for session in opened.collect::<Vec<_>>() {
        notes.tried(&opening::OPENS);
        let (era, version) = (session.era, session.version);
        let transport = session.connection.word();
        let (lists, name) = one_era(&opener, session, &mut notes, say).await;
        rules::definitions(&lists, &mut notes);
        served.push(Served {
            era: if era == Era::Legacy { "legacy" } else { "modern" },
            version: version.as_str(),
            transport,
            name,
            tools: lists.tools.len(),
        });
    }
    Ok(Report::new(served, &notes, opener.complaints.lines()))
}

/// Tries everything in one era; what the server has to offer, and its name.
async fn one_era(
    opener: &Opener<'_>,
    session: Session,
    notes: &mut Notes,
    say: &(dyn Fn(&str) + Sync),
) -> (Lists, Option<String>) {
    let (era, name) = (session.era, name_of(&session.opening));
    let word = if era == Era::Legacy { "legacy" } else { "modern" };
    let mut lists = Lists::of(&session);
    let mut stage = Stage::new(opener, session, notes);
    for step in probe::STEPS {
        say(&format!("{word} era: {}", step.name));
        step.run(&mut stage, &mut lists).await;
    }
    stage.close().await;
    (lists, name)
}

fn name_of(opening: &Value) -> Option<String> {
    let info = match opening.get("serverInfo") {
        Some(info) => info,
        None => &opening["_meta"][toolgate_wire::meta::SERVER_INFO],
    };
    let (name, version) = (info["name"].as_str()?, info["version"].as_str().unwrap_or_default());
    Some(crate::notes::bounded(&quote(&format!("{name} {version}"))))
}

/// Asks the modern way. A server that is silent may be legacy, or slow to start: then it is asked the legacy way too,
/// and whatever it answers shows that it is up.
async fn find_modern(opener: &Opener<'_>, notes: &mut Notes) -> Result<Option<Session>, CannotCheck> {
    let mut connection = opener.connect().await.map_err(|lost| cannot_start(&lost))?;
    let params = with_meta(json!({}), Version::LATEST.as_str());
    let probe = if connection.is_stdio() { opener.limits.probe } else { opener.limits.start };
    let (asked, shaken) = (connection.fresh_id(), connection.fresh_id());
    let reply = connection.ask(asked.clone(), method::DISCOVER, params, probe).await;
    let outcome = match reply {
        Ok(reply) => Some(reply.outcome),
        Err(Lost::Late(_)) if connection.is_stdio() => {
            let params = initialize_params(Version::LATEST_LEGACY.as_str());
            // Only that it answers counts.
            drop(connection.ask(shaken, method::INITIALIZE, params, opener.limits.start).await);
            let late = connection.transcript.heard().find(|message| message["id"] == asked);
            late.and_then(|late| late.get("result").cloned().map(Ok))
        }
        Err(Lost::Status(status @ (401 | 403))) => return Err(needs_authorization(status)),
        // A connection that we gave up is the server's fault, and a finding.
        Err(Lost::Gone(why)) if !connection.is_stdio() && !connection.is_gone() => {
            return Err(CannotCheck::new(why, "is the server running, and is the address right?"));
        }
        Err(Lost::Late(_) | Lost::Gone(_) | Lost::Status(_)) => None,
    };
    let (transcript, _) = connection.close().await;
    rules::judge(&transcript, opener.subject, notes);
    match outcome {
        Some(Ok(result)) if is_discovery(&result) => {}
        Some(Err(error)) if is_other_version(&error) => {
            opening::other_versions(&error, notes);
            return Ok(None);
        }
        Some(_) | None => return Ok(None),
    }
    match opener.open(Era::Modern).await {
        Ok(session) => Ok(Some(session)),
        Err(not_opened) => {
            opening::not_opened(Era::Modern, &not_opened, notes);
            Ok(None)
        }
    }
}

async fn find_legacy(
    opener: &mut Opener<'_>,
    has_modern: bool,
    notes: &mut Notes,
) -> Result<Option<Session>, CannotCheck> {
    let first = match opener.open(Era::Legacy).await {
        Ok(session) => return Ok(Some(session)),
        Err(NotOpened::Lost(Lost::Status(status @ (401 | 403)))) => return Err(needs_authorization(status)),
        Err(first) => first,
    };
    if has_modern {
        return Ok(None);
    }
    if matches!(opener.subject, Subject::Address(_)) {
        opener.old = true;
        if let Ok(session) = opener.open(Era::Legacy).await {
            return Ok(Some(session));
        }
    }
    opening::not_opened(Era::Legacy, &first, notes);
    Ok(None)
}

fn cannot_start(lost: &Lost) -> CannotCheck {
    CannotCheck::new(lost.to_string(), "give the path of a program that can be run")
}

fn needs_authorization(status: u16) -> CannotCheck {
    CannotCheck {
        message: format!("the server lets nobody in without authorization (HTTP status {status})"),
        hint: "give it a header, such as `--header 'Authorization: Bearer TOKEN'`",
        wants_to_know_who: true,
    }
}
