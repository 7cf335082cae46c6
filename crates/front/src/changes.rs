//! What changes, as notifications.

use bytes::Bytes;
use toolgate_core::{Change, ListKind};
use toolgate_wire::{Raw, method, write};

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
    match change {
        Change::Listed(_, kind) => Some(write::notification(list_method(*kind), None)),
        Change::Updated(uri) if peer.watches(uri) => {
            let params = Raw::trusted(format!(r#"{{"uri":{}}}"#, Raw::string(uri).as_str()).into());
            Some(write::notification(method::RESOURCES_UPDATED, Some(&params)))
        }
        // A task belongs to the connection that it was begun on.
        Change::Task(task)
            if peer.knows_tasks() && task.connection.is_some_and(|id| peer.connection() == Some(id)) =>
        {
            Some(write::notification(method::TASKS_STATUS, Some(&task.state)))
        }
        Change::Updated(_) | Change::Task(_) => None,
    }
}
