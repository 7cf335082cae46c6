//! Spans of calls, named and described as OpenTelemetry's conventions for MCP say.

use std::str::FromStr as _;
use std::time::SystemTime;

use opentelemetry::trace::{
    Span as _, SpanBuilder, SpanContext, SpanId, SpanKind, Status, TraceContextExt as _, TraceFlags, TraceId,
    TraceState,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{SdkTracer, Span as SdkSpan};
use toolgate_core::{Call, Ended, RpcForm, Span, Step, Target, TaskOp, TraceContext, Tracer, Transport};
use toolgate_wire::{Era, method};

/// Begins spans of calls.
pub(crate) struct Spans {
    tracer: SdkTracer,
}

impl Spans {
    pub(crate) fn new(tracer: SdkTracer) -> Self {
        Self { tracer }
    }
}

impl Tracer for Spans {
    fn begin(&self, call: &Call, name: &str) -> Box<dyn Span> {
        let method = method_of(&call.target);
        let parent = call.trace.as_deref().and_then(remote).unwrap_or_default();
        let builder = SpanBuilder::from_name(method.to_owned())
            .with_kind(SpanKind::Server)
            .with_start_time(SystemTime::now())
            .with_attributes(attributes(call, method, name));
        Box::new(CallSpan {
            span: builder.start_with_context(&self.tracer, &parent),
            tracer: self.tracer.clone(),
            full_name: full_name(&call.target, method, name),
            baggage: call.trace.as_deref().and_then(TraceContext::baggage).map(Into::into),
        })
    }
}

struct CallSpan {
    span: SdkSpan,
    tracer: SdkTracer,
    /// What it is called once its target has proved to exist. Names that callers make up make no names of spans.
    full_name: Option<String>,
    baggage: Option<Box<str>>,
}

impl Span for CallSpan {
    fn step(&self, step: Step) -> Box<dyn Span> {
        let (name, kind) = match step {
            Step::Approval => ("wait for approval", SpanKind::Internal),
            Step::Place => ("wait for a place", SpanKind::Internal),
            Step::Source => ("source", SpanKind::Client),
        };
        let parent = Context::new().with_remote_span_context(self.span.span_context().clone());
        let builder = SpanBuilder::from_name(name).with_kind(kind).with_start_time(SystemTime::now());
        Box::new(Self {
            span: builder.start_with_context(&self.tracer, &parent),
            tracer: self.tracer.clone(),
            full_name: None,
            baggage: self.baggage.clone(),
        })
    }

    fn context(&self) -> Option<TraceContext> {
        let context = self.span.span_context();
        let (trace, span, flags) = (context.trace_id(), context.span_id(), context.trace_flags());
        let parent = format!("00-{trace}-{span}-{:02x}", flags & TraceFlags::SAMPLED);
        TraceContext::read(&parent, Some(&context.trace_state().header()), self.baggage.as_deref())
    }

    fn ended(mut self: Box<Self>, ended: &Ended<'_>) {
        self.span.set_attribute(KeyValue::new("toolgate.outcome", ended.outcome));
        if let Some(source) = ended.source {
            self.span.set_attribute(KeyValue::new("toolgate.source", source.to_string()));
            if let Some(name) = self.full_name.take() {
                self.span.update_name(name);
            }
        }
        if let Some(rule) = ended.rule {
            self.span.set_attribute(KeyValue::new("toolgate.rule", rule.to_owned()));
        }
        if let Some(kind) = ended.failed {
            self.span.set_attribute(KeyValue::new("error.type", kind.category()));
            if let RpcForm::Error(code) = kind.tool_form() {
                self.span.set_attribute(KeyValue::new("rpc.response.status_code", code.to_string()));
            }
            // Its words may quote arguments, so they stay out.
            self.span.set_status(Status::error(""));
        }
        self.span.end();
    }
}

/// What is known of a call from its beginning; never its arguments.
fn attributes(call: &Call, method: &'static str, name: &str) -> Vec<KeyValue> {
    let client = &call.client;
    let (transport, network) = match client.transport {
        Transport::Stdio => ("stdio", Some("pipe")),
        Transport::Attached => ("attached", Some("unix")),
        Transport::Http => ("http", Some("tcp")),
        Transport::Sse => ("sse", Some("tcp")),
        Transport::Local => ("local", None),
    };
    let era = match client.era() {
        Era::Legacy => "legacy",
        Era::Modern => "modern",
    };
    let mut all = vec![
        KeyValue::new("mcp.method.name", method),
        KeyValue::new("mcp.protocol.version", client.version.as_str()),
        KeyValue::new("toolgate.principal", call.principal.id.to_string()),
        KeyValue::new("toolgate.target.kind", call.target.kind()),
        KeyValue::new("toolgate.target.name", name.to_owned()),
        KeyValue::new("toolgate.era", era),
        KeyValue::new("toolgate.transport", transport),
    ];
    all.extend(network.map(|network| KeyValue::new("network.transport", network)));
    match &call.target {
        Target::Tool(_) => {
            all.push(KeyValue::new("gen_ai.operation.name", "execute_tool"));
            all.push(KeyValue::new("gen_ai.tool.name", name.to_owned()));
        }
        Target::Prompt(_) => all.push(KeyValue::new("gen_ai.prompt.name", name.to_owned())),
        Target::Resource(_) | Target::Subscribe(_) | Target::Unsubscribe(_) => {
            all.push(KeyValue::new("mcp.resource.uri", name.to_owned()));
        }
        Target::Completion(_) | Target::Task(..) | Target::Method(_) => {}
    }
    all
}

/// Tools and prompts are few enough to stand in the name of a span; URIs are not.
fn full_name(target: &Target, method: &str, name: &str) -> Option<String> {
    matches!(target, Target::Tool(_) | Target::Prompt(_)).then(|| format!("{method} {name}"))
}

/// The method by which a client reaches this target. What clients make up is all one method.
fn method_of(target: &Target) -> &'static str {
    match target {
        Target::Tool(_) => method::TOOLS_CALL,
        Target::Resource(_) => method::RESOURCES_READ,
        Target::Prompt(_) => method::PROMPTS_GET,
        Target::Completion(_) => method::COMPLETION_COMPLETE,
        Target::Subscribe(_) => method::RESOURCES_SUBSCRIBE,
        Target::Unsubscribe(_) => method::RESOURCES_UNSUBSCRIBE,
        Target::Task(TaskOp::Get, _) => method::TASKS_GET,
        Target::Task(TaskOp::Result, _) => method::TASKS_RESULT,
        Target::Task(TaskOp::Update, _) => method::TASKS_UPDATE,
        Target::Task(TaskOp::Cancel, _) => method::TASKS_CANCEL,
        Target::Method(_) => "other",
    }
}

/// The span of the client as a parent.
fn remote(context: &TraceContext) -> Option<Context> {
    let mut parts = context.parent().split('-').skip(1);
    let trace = TraceId::from_hex(parts.next()?).ok()?;
    let span = SpanId::from_hex(parts.next()?).ok()?;
    let flags = TraceFlags::new(u8::from_str_radix(parts.next()?, 16).ok()?) & TraceFlags::SAMPLED;
    let state = context.state().and_then(|state| TraceState::from_str(state).ok()).unwrap_or_default();
    let parent = SpanContext::new(trace, span, flags, true, state);
    Some(Context::new().with_remote_span_context(parent))
}
