//! What changes, as notifications.

use bytes::Bytes;
use toolgate_core::{Change, ConnectionId, ListKind};
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

/// The notification for a legacy client, if the change concerns it.
pub(crate) fn legacy(change: &Change, peer: &Peer) -> Option<Bytes> {
    let version = peer.version();
    let is_of = |connection: Option<ConnectionId>| connection.is_some() && connection == peer.connection();
    match change {
        Change::Listed(_, kind) => Some(write::notification(list_method(*kind), None)),
        Change::Updated(uri) if peer.watches(uri) => {
            let params = Raw::trusted(format!(r#"{{"uri":{}}}"#, Raw::string(uri).as_str()).into());
            Some(write::notification(method::RESOURCES_UPDATED, Some(&params)))
        }
        // A task belongs to the connection that it was begun on.
        Change::Task(task) if is_of(task.connection) && version.is_some_and(Version::has_core_tasks) => {
            Some(write::notification(method::TASKS_STATUS, Some(&task.state)))
        }
        Change::Told(notice) if is_of(Some(notice.connection)) && knows(version, &notice.method) => {
            Some(write::notification(&notice.method, Some(&notice.params)))
        }
        Change::Updated(_) | Change::Task(_) | Change::Told(_) => None,
    }
}

/// Whether a revision has this word.
fn knows(version: Option<Version>, method: &str) -> bool {
    method != method::ELICITATION_COMPLETE || version.is_some_and(Version::has_url_elicitation)
}
