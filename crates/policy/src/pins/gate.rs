//! The gate of the pins.

use std::sync::Arc;

use toolgate_core::{
    Error, Gate, Judged, Judgement, Kind, Listed, Listing, Looking, Note, Origin, Source, SourceId, ToolItem,
    Verdict, Viewer,
};

use super::snapshot::{Held, Looked};
use super::{Pins, Standing};

/// Hides and denies tools whose definitions are held. What was not observed yet is held too.
pub struct PinsGate {
    pins: Pins,
}

impl PinsGate {
    pub(super) fn new(pins: Pins) -> Self {
        Self { pins }
    }

    fn stands(&self, tool: &ToolItem, origin: Origin<'_>) -> Looked {
        if !origin.foreign {
            return Looked::Fine;
        }
        self.pins.inner.current.load().look(origin.source, tool)
    }
}

impl Gate for PinsGate {
    fn name(&self) -> &'static str {
        "pins"
    }

    fn judge(&self, judged: Judged<'_>) -> Judgement {
        let (Some(tool), Some(origin)) = (judged.tool, judged.origin) else { return Verdict::Pass.into() };
        let refusal = match self.stands(tool, origin) {
            Looked::Fine => return Verdict::Pass.into(),
            Looked::Held(held) => held_back(origin.source, tool, &held),
            Looked::NotYet => {
                Error::new(Kind::Denied, format!("the definition of `{}` is not checked yet", tool.name))
                    .hint("list the tools again in a moment")
            }
        };
        Verdict::Deny(refusal).into()
    }

    fn shows(&self, _: Viewer<'_>, item: Listed<'_>, origin: Origin<'_>) -> bool {
        match item {
            Listed::Tool(tool) => matches!(self.stands(tool, origin), Looked::Fine),
            Listed::Resource(_) | Listed::Template(_) | Listed::Prompt(_) => true,
        }
    }

    fn notes(&self, source: &SourceId) -> Vec<Note> {
        let current = self.pins.inner.current.load();
        let note = |(standing, what): (Standing, &'static str)| {
            let (times, tool) = current.count_of(source, standing)?;
            let detail = format!("`toolgate pins show {source} {tool}`");
            Some(Note { what: what.into(), times, detail })
        };
        let held = (Standing::Held, "a tool is held, because it is not as it was accepted");
        let warned = (Standing::Warned, "a tool is used, although it is not as it was accepted");
        [held, warned].into_iter().filter_map(note).collect()
    }

    fn look<'a>(&'a self, listed: &'a [(Arc<dyn Source>, Arc<Listing>)]) -> Looking<'a> {
        Box::pin(self.pins.look(listed))
    }
}

/// What is said of a tool that is held, and how it is let go.
fn held_back(source: &SourceId, tool: &ToolItem, held: &Held) -> Error {
    let (name, why) = (&tool.name, &held.why);
    let shows = format!("`toolgate pins show {source} {name}` tells what differs");
    let hint = match &held.accept {
        Some(accept) => format!("{shows}, `{accept}` accepts it"),
        None => shows,
    };
    Error::new(Kind::Denied, format!("`{name}` is held, because it is not as it was accepted ({why})"))
        .hint(hint)
}
