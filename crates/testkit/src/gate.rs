//! A scripted gate.

use serde_json::json;
use toolgate_core::{Gate, Judged, Principal, Question, ToolItem, Verdict};
use toolgate_wire::Raw;

type Judge = Box<dyn Fn(Judged<'_>) -> Verdict + Send + Sync>;
type Shows = Box<dyn Fn(&Principal, &ToolItem) -> bool + Send + Sync>;

/// A gate whose verdicts come from closures.
pub struct FakeGate {
    judge: Judge,
    shows: Shows,
}

impl FakeGate {
    /// A gate that judges like this, and shows every tool.
    pub fn new(judge: impl Fn(Judged<'_>) -> Verdict + Send + Sync + 'static) -> Self {
        Self { judge: Box::new(judge), shows: Box::new(|_, _| true) }
    }

    /// A gate that passes every call but hides tools.
    pub fn showing(shows: impl Fn(&Principal, &ToolItem) -> bool + Send + Sync + 'static) -> Self {
        Self { shows: Box::new(shows), ..Self::new(|_| Verdict::Pass) }
    }

    /// A gate that wants a person asked, under this key.
    pub fn asking(key: &'static str) -> Self {
        Self::new(move |_| Verdict::Ask(approval(key)))
    }
}

impl Gate for FakeGate {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn judge(&self, judged: Judged<'_>) -> Verdict {
        (self.judge)(judged)
    }

    fn shows(&self, principal: &Principal, tool: &ToolItem) -> bool {
        (self.shows)(principal, tool)
    }
}

/// The question whether a call may go on.
pub fn approval(key: &str) -> Question {
    let schema = json!({"type": "object", "properties": {}});
    Question::elicit(key, Raw::of(&json!({"message": "May it?", "requestedSchema": schema})))
}
