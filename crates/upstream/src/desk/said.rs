//! What a server says during a call, and what it names to say during which.

use toolgate_core::Afterwards;
use toolgate_wire::{Id, Raw};

use super::inbox::Room;

/// What the server says during a call.
#[derive(Debug)]
pub(crate) enum Said {
    /// How far it is; without the token.
    Progress(Raw),
    /// A log message.
    Log(Raw),
    /// Another notification.
    Other(String, Raw),
    /// A question to the client.
    Asked(Question),
    /// A question is no longer of interest.
    Withdrawn(Id),
    /// The task that the call has become may stand otherwise.
    TaskMoved,
    /// A person has done what they were sent to an address for; and who waits for the word where the call does not.
    Visited(Raw, Option<Afterwards>),
}

/// What a server can name to say which call something belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Named {
    /// The task that the call has become.
    Task(String),
    /// The address that the call had a person sent to.
    Elicitation(String),
}

impl Named {
    pub(super) fn id(&self) -> &str {
        let (Self::Task(id) | Self::Elicitation(id)) = self;
        id
    }

    pub(super) fn into_id(self) -> String {
        let (Self::Task(id) | Self::Elicitation(id)) = self;
        id
    }
}

/// A question of the server.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) id: Id,
    pub(crate) method: &'static str,
    pub(crate) params: Raw,
    /// The room that it takes until it is answered.
    pub(crate) room: Option<Room>,
}
