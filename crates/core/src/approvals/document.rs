//! What the store keeps of a question to a person, and of an answer that holds longer than one call.

use serde::{Deserialize, Serialize};

use crate::consents::Consent;

/// A question to a person whether one exact call may go on, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// Its id: the same call under the same rules has the same one.
    pub id: String,
    /// Who calls.
    pub principal: String,
    /// From which program, as it calls itself.
    pub client: Option<String>,
    /// Over which lasting connection.
    pub session: Option<String>,
    /// What it is for, as `kind:name`.
    pub target: String,
    /// What people call that.
    pub title: Option<String>,
    /// Where it goes.
    pub source: Option<String>,
    /// The rule that wants a person asked.
    pub rule: String,
    /// Why.
    pub reason: String,
    /// What the call is, to the last argument.
    pub digest: String,
    /// The rules that were in force, and the definition that the tool had.
    pub policy: String,
    /// The arguments as a person reads them: indented, shortened, without secrets.
    pub arguments: String,
    /// When it was asked, in milliseconds since 1970.
    pub asked_ms: u64,
    /// Until when an answer counts.
    pub expires_ms: u64,
    /// What became of it.
    pub state: ApprovalState,
}

impl Approval {
    /// Whether both are about the same call of the same caller under the same rules.
    pub(crate) fn is_for(&self, other: &Self) -> bool {
        let key = |this: &Self| {
            [&this.principal, &this.target, &this.digest, &this.rule, &this.policy].map(String::clone)
        };
        key(self) == key(other)
    }

    /// A yes to it.
    pub(crate) fn consent(&self, by: String) -> Consent {
        Consent { by, policy: self.policy.clone(), until_ms: self.expires_ms }
    }
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum ApprovalState {
    /// Nobody has answered yet.
    Pending,
    /// Someone said yes, and the call has not run yet.
    Approved {
        /// Who.
        by: String,
        /// When.
        at_ms: u64,
    },
    /// Someone said no.
    Rejected {
        /// Who.
        by: String,
        /// When.
        at_ms: u64,
        /// Why.
        reason: Option<String>,
    },
    /// Someone said yes, and the call has run, or was about to.
    Used {
        /// Who.
        by: String,
        /// When it ran.
        at_ms: u64,
    },
}

impl ApprovalState {
    /// The word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved { .. } => "approved",
            Self::Rejected { .. } => "rejected",
            Self::Used { .. } => "used",
        }
    }
}

/// For how long a yes holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lasting {
    /// For this one call.
    Once,
    /// For this target over this connection.
    Session,
    /// For this target and principal, until it is forgotten.
    Always,
}

/// What a person answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It may go on.
    Approve(Lasting),
    /// It may not; perhaps with a reason for the caller.
    Reject(Option<String>),
}

/// An answer that holds for more than one call: a rule made by saying yes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// Its id.
    pub id: String,
    /// For whom it holds.
    pub principal: String,
    /// For what, as `kind:name`.
    pub target: String,
    /// The rule that no longer asks.
    pub rule: String,
    /// The connection it holds for; without one, for all.
    pub session: Option<String>,
    /// Who said so.
    pub by: String,
    /// When.
    pub at_ms: u64,
}
