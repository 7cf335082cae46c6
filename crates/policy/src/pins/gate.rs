//! The gate of the pins.

use std::sync::Arc;

use toolgate_core::{
    Error, Gate, Judged, Judgement, Kind, Listed, Listing, Looking, Origin, Source, ToolItem, Verdict, Viewer,
};

use super::Pins;
use super::state::Looked;

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
            Looked::Held(why) => {
                let (source, name) = (origin.source, &tool.name);
                Error::new(Kind::Denied, format!("`{name}` is held, because it is not as it was accepted ({why})"))
                    .hint(format!("`toolgate pins show {source} {name}` tells what differs, `toolgate pins accept {source} {name}` accepts it"))
            }
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

    fn look<'a>(&'a self, listed: &'a [(Arc<dyn Source>, Arc<Listing>)]) -> Looking<'a> {
        Box::pin(self.pins.look(listed))
    }
}
