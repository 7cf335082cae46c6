//! A scripted gate.

use toolgate_core::{Gate, Judged, Judgement, Listed, Origin, Principal, ToolItem, Verdict, Viewer};

type Judge = Box<dyn Fn(Judged<'_>) -> Judgement + Send + Sync>;
type Shows = Box<dyn Fn(&Principal, &ToolItem) -> bool + Send + Sync>;

/// A gate whose verdicts come from closures.
pub struct FakeGate {
    judge: Judge,
    shows: Shows,
}

impl FakeGate {
    /// A gate that judges like this, and shows every tool.
    pub fn new<J: Into<Judgement>>(judge: impl Fn(Judged<'_>) -> J + Send + Sync + 'static) -> Self {
        Self { judge: Box::new(move |judged| judge(judged).into()), shows: Box::new(|_, _| true) }
    }

    /// A gate that passes every call but hides tools.
    pub fn showing(shows: impl Fn(&Principal, &ToolItem) -> bool + Send + Sync + 'static) -> Self {
        Self { shows: Box::new(shows), ..Self::new(|_| Verdict::Pass) }
    }

    /// A gate that wants a person asked, by a rule of this name.
    pub fn asking(rule: &'static str) -> Self {
        Self::new(move |_| approval(rule))
    }
}

impl Gate for FakeGate {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn judge(&self, judged: Judged<'_>) -> Judgement {
        (self.judge)(judged)
    }

    fn shows(&self, viewer: Viewer<'_>, item: Listed<'_>, _: Origin<'_>) -> bool {
        match item {
            Listed::Tool(tool) => (self.shows)(viewer.principal, tool),
            Listed::Resource(_) | Listed::Template(_) | Listed::Prompt(_) => true,
        }
    }
}

/// The judgement that a person has to agree first.
pub fn approval(rule: &str) -> Judgement {
    Judgement::by(rule.into(), Verdict::Ask("may it?".into()))
}
