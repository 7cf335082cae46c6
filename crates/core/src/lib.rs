//! The heart of Toolgate: what a call is, the one way through for it, and the facade that front, admin and CLI share.
//!
//! It knows neither transports nor files nor any particular tool: those are the crates that depend on it.

mod approvals;
mod ask;
mod authenticator;
mod call;
mod catalog;
mod catalogs;
mod client;
mod consents;
mod cursor;
mod error;
mod extensions;
mod filter;
mod gate;
mod guard;
mod hosts;
mod hub;
mod instructions;
mod limiter;
mod metrics;
mod outcome;
mod pack;
mod parking;
mod pattern;
mod pipeline;
mod presence;
mod pretty;
mod principal;
mod quick;
mod recorder;
mod reply;
mod results;
mod run;
mod schema;
mod seal;
mod search;
mod settings;
mod source;
mod sources;
mod status;
mod store;
mod target;
mod task;
mod time;
mod tool;
mod tracer;
mod view;
mod visible;

pub use approvals::{Approval, ApprovalState, Approvals, Decision, Lasting, Remembered};
pub use ask::{Answers, Ask, Question};
pub use authenticator::{
    Authenticated, Authenticator, JwtAlgorithm, Later, OauthConfig, Pass, ProtectedResource, Refused,
};
pub use call::{Call, Resume, TaskRequest};
pub use catalog::{Change, Notice, TaskChange};
pub use client::{Capabilities, Client, LogLevel, Transport};
pub use error::{Error, Kind, Result, RpcForm};
pub use extensions::carried_extensions;
pub use filter::Filter;
pub use gate::{Gate, Judged, Judgement, Listed, Looking, Origin, Verdict, Viewer};
pub use hosts::HostPattern;
pub use hub::{Changes, Hub, HubBuilder, Look, ServerInfo, local_client};
pub use limiter::{Admission, Limiter, Place, Taken, TooMany, Vacate};
pub use metrics::{Exposition, Metrics, Reading, Totals};
pub use outcome::Outcome;
pub use pack::{Pack, PackSource, Shelf};
pub use pattern::fits_pattern;
pub use pipeline::Permitted;
pub use presence::{ClientName, Connected, ConnectionId, ConnectionInfo, NewConnection, RunInfo};
pub use pretty::{pretty, pretty_start};
pub use principal::{Principal, PrincipalId};
pub use quick::{QuickMap, QuickState};
pub use recorder::{ByHand, Entry, Recorder};
pub use reply::{Block, Content, Json, Reply, Text, Worded, error_object, error_result};
pub use run::{Afterwards, Event, Log, Progress, Run, RunHandle};
pub use schema::InputCheck;
pub use search::{Search, search_tools};
pub use settings::{AskBy, Settings};
pub use source::{
    Called, Kinds, ListKind, Listing, Offers, PromptItem, ResourceItem, Scope, Source, SourceId,
    TemplateItem, TimeLimit, ToolItem, Update,
};
pub use status::{Note, SourceState, SourceStatus};
pub use store::{
    AuditBatch, AuditLine, AuditQuery, AuditRow, Collection, Document, SharedStore, Store, StoreError,
    Stored, Write, Written,
};
pub use target::{CompletionRef, Target, TaskOp, ToolName};
pub use task::undeclared as undeclared_tasks;
pub use time::iso8601;
pub use tool::{AnyTool, Hints, TaskMode, Tool, ToolSpec, tool};
pub use tracer::{Ended, Span, Step, TraceContext, Tracer};
pub use view::{Page, View, resource_not_found};
pub use visible::{hidden, unseen, visible, visible_line};
