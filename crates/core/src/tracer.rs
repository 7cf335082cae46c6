//! Traces: where a call belongs in the trace of its client, and the seat of whoever keeps spans.

use std::sync::Arc;

use crate::{Call, Kind, SourceId};

/// The longest `traceparent`, `tracestate` and `baggage` that are passed on.
const LONGEST: [usize; 3] = [128, 512, 8192];

/// Where a request belongs in a trace, as W3C Trace Context writes it. What is in it has the right form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    parent: Box<str>,
    state: Option<Box<str>>,
    baggage: Option<Box<str>>,
}

impl TraceContext {
    /// Reads what came with a request. A malformed `traceparent` is no context; other malformed parts are left out.
    pub fn read(parent: &str, state: Option<&str>, baggage: Option<&str>) -> Option<Self> {
        let [longest, longest_state, longest_baggage] = LONGEST;
        let part = |part: Option<&str>, longest| {
            part.filter(|text| !text.is_empty() && text.len() <= longest && text.bytes().all(is_printable))
                .map(Into::into)
        };
        (parent.len() <= longest && is_traceparent(parent.as_bytes())).then(|| Self {
            parent: parent.into(),
            state: part(state, longest_state),
            baggage: part(baggage, longest_baggage),
        })
    }

    /// The `traceparent`.
    pub fn parent(&self) -> &str {
        &self.parent
    }

    /// The `tracestate`, if there is one.
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// The `baggage`, if there is any.
    pub fn baggage(&self) -> Option<&str> {
        self.baggage.as_deref()
    }
}

fn is_printable(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

/// `VERSION-TRACE-SPAN-FLAGS` in lowercase hex; versions to come may add to it.
fn is_traceparent(text: &[u8]) -> bool {
    let hex = |range: std::ops::Range<usize>| {
        text.get(range).filter(|part| part.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
    };
    let says = |part: Option<&[u8]>| part.is_some_and(|part| part.iter().any(|byte| *byte != b'0'));
    let dashes = [2, 35, 52].iter().all(|at| text.get(*at) == Some(&b'-'));
    let length = match (text.get(..2), text.get(55)) {
        (Some(b"ff"), _) => false,
        (_, None) => true,
        (Some(version), Some(b'-')) => version != b"00",
        _ => false,
    };
    let version_and_flags = hex(0..2).is_some() && hex(53..55).is_some();
    dashes
        && length
        && version_and_flags
        && says(hex(3..35))
        && says(hex(36..52))
        && text.iter().all(|byte| is_printable(*byte))
}

/// A part of a call's way that takes time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Waiting for a person to say yes.
    Approval,
    /// Waiting for a place at the source.
    Place,
    /// The source at work.
    Source,
}

/// How a call ended, as a span tells it. Never with arguments or results.
#[derive(Debug, Clone, Copy)]
pub struct Ended<'a> {
    /// The word that metrics use.
    pub outcome: &'static str,
    /// The kind of its error, where it failed.
    pub failed: Option<Kind>,
    /// The source it went to.
    pub source: Option<&'a SourceId>,
    /// The rule that decided, where one did.
    pub rule: Option<&'a str>,
}

/// Keeps spans of calls. It is on the way of every call, so it must not wait for anything.
pub trait Tracer: Send + Sync {
    /// Begins the span of a call. `name` is the target's, without secrets.
    fn begin(&self, call: &Call, name: &str) -> Box<dyn Span>;
}

/// A span under way; dropping it ends it.
pub trait Span: Send + Sync {
    /// Begins a part of it.
    fn step(&self, step: Step) -> Box<dyn Span>;

    /// What goes on to those who are called from here.
    fn context(&self) -> Option<TraceContext>;

    /// Ends it, with what became of the call.
    fn ended(self: Box<Self>, ended: &Ended<'_>);
}

/// The span of one call, where spans are kept at all.
pub(crate) type CallSpan = Option<Box<dyn Span>>;

/// What goes on from a part of a call: its own place in the trace, or else the one its client gave.
pub(crate) fn outgoing(step: &CallSpan, call: &Call) -> Option<Arc<TraceContext>> {
    match step {
        Some(step) => step.context().map(Arc::new),
        None => call.trace.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_taken_only_in_its_right_form() {
        #[track_caller]
        fn check(parent: &str, fits: bool) {
            let read = TraceContext::read(parent, None, None);
            assert_eq!(read.as_ref().map(TraceContext::parent), fits.then_some(parent), "{parent:?}");
        }
        let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        check(&format!("00-{trace}-{span}-01"), true);
        check(&format!("00-{trace}-{span}-00"), true);
        check(&format!("cc-{trace}-{span}-01"), true);
        check(&format!("cc-{trace}-{span}-01-what-is-new"), true);
        check(&format!("00-{trace}-{span}-01-extra"), false);
        check(&format!("00-{trace}-{span}-011"), false);
        check(&format!("cc-{trace}-{span}-01x"), false);
        check(&format!("cc-{trace}-{span}-01-{}", "x".repeat(200)), false);
        check(&format!("cc-{trace}-{span}-01-\n"), false);
        check(&format!("ff-{trace}-{span}-01"), false);
        check(&format!("00-{}-{span}-01", "0".repeat(32)), false);
        check(&format!("00-{trace}-{}-01", "0".repeat(16)), false);
        check(&format!("00-{}-{span}-01", trace.to_uppercase()), false);
        check(&format!("00_{trace}_{span}_01"), false);
        check(&format!("0g-{trace}-{span}-01"), false);
        check(&format!("00-{trace}-{span}-0"), false);
        check(&format!(" 00-{trace}-{span}-01"), false);
        check("00-4bf92f3577b34da6a3ce929d0e0e473é-00f067aa0ba902b7-01", false);
        check("", false);
    }

    #[test]
    fn other_parts_are_left_out_when_they_are_malformed() {
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let read = |state, baggage| {
            let context = TraceContext::read(parent, Some(state), Some(baggage)).unwrap();
            (context.state().map(str::len), context.baggage().map(str::len))
        };
        assert_eq!(read("a=1,b=2", "user=x"), (Some(7), Some(6)));
        assert_eq!(read("", "x\r\nInjected: y"), (None, None));
        assert_eq!(read(&"x".repeat(513), &"x".repeat(8193)), (None, None));
    }
}
