//! What changes, as notifications.

use bytes::Bytes;
use toolgate_core::{Change, ConnectionId, ListKind, LogLevel, Notice, Update};
use toolgate_wire::{Raw, Version, method, write};

use crate::peer::Peer;

/// The notification that a list is not what it was.
pub(crate) fn list_method(kind: ListKind) -> &'static str {
    match kind {
        ListKind::Tools => method::TOOLS_LIST_CHANGED,
        ListKind::Resources | ListKind::Templates => method::RESOURCES_LIST_CHANGED,
        ListKind::Prompts => method::PROMPTS_LIST_CHANGED,
    }
}

/// The notifications for a legacy client, as far as the change concerns it.
pub(crate) fn legacy(change: &Change, peer: &Peer) -> Vec<Bytes> {
    let version = peer.version();
    let is_of = |connection: Option<ConnectionId>| connection.is_some() && connection == peer.connection();
    let frame = match change {
        Change::Listed(_, kind) => Some(write::notification(list_method(*kind), None)),
        Change::Updated(update) if peer.watches(&update.uri) => Some(updated(update)),
        Change::AnyUpdated(source) => {
            return peer.watched(source.as_ref()).into_iter().map(|uri| updated(&Update::of(uri))).collect();
        }
        // A task belongs to the connection that it was begun on.
        Change::Task(task) if is_of(task.connection) && version.is_some_and(Version::has_core_tasks) => {
            Some(write::notification(method::TASKS_STATUS, Some(&task.state)))
        }
        Change::Told(notice) if is_of(Some(notice.connection)) && takes(notice, version, peer) => {
            Some(write::notification(&notice.method, Some(&notice.params)))
        }
        Change::Updated(_) | Change::Task(_) | Change::Told(_) => None,
    };
    frame.into_iter().collect()
}

fn updated(update: &Update) -> Bytes {
    write::notification(method::RESOURCES_UPDATED, Some(&update.to_params()))
}

/// Whether a client takes this word: its revision has it, and it asked for messages that matter so little.
fn takes(notice: &Notice, version: Option<Version>, peer: &Peer) -> bool {
    match &*notice.method {
        method::ELICITATION_COMPLETE => version.is_some_and(Version::has_url_elicitation),
        method::MESSAGE => {
            let level = notice.params.get("level");
            let level = level.as_ref().and_then(Raw::as_string).and_then(|level| level.parse().ok());
            level.unwrap_or(LogLevel::Info) >= peer.level()
        }
        _ => true,
    }
}
