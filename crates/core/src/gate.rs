//! Rules that decide on a call.

use crate::{Call, Error, Principal, Question, ToolItem};

/// What a gate says of a call.
#[derive(Debug)]
pub enum Verdict {
    /// This gate has nothing against it.
    Pass,
    /// It may not go on.
    Deny(Error),
    /// A person has to agree first.
    Ask(Question),
}

/// What a gate is shown of a call.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// The call.
    pub call: &'a Call,
    /// The tool it is for, where it is for a tool.
    pub tool: Option<&'a ToolItem>,
}

/// A rule that decides on a call. It is pure: the pipeline logs, counts and answers.
pub trait Gate: Send + Sync {
    /// Its name, for records and explanations.
    fn name(&self) -> &'static str;

    /// Decides on a call.
    fn judge(&self, judged: Judged<'_>) -> Verdict;

    /// Whether any arguments could let this principal call this tool; if not, it is not even listed.
    fn shows(&self, principal: &Principal, tool: &ToolItem) -> bool {
        let _ = (principal, tool);
        true
    }
}
