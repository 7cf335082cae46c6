//! Requests of the modern era: each says for itself which version it speaks and what its client can do.

use std::collections::VecDeque;
use std::sync::Arc;

use toolgate_core::{
    Call, Capabilities, Client, ConnectionId, Error, Hub, Kind, Look, Pass, Principal, Result, Target,
    Transport,
};
use toolgate_wire::{Era, Kind as JsonKind, Raw, Request, RequestMeta, Version, code, headers, meta};

use super::{Begun, Incoming, capabilities, extensions, instructions};
use crate::answer::{Answer, Writer};
use crate::asked::{self, Asked};
use crate::exchange::Exchange;
use crate::listen::Listening;

/// How long a client may keep what `server/discover` told it.
const DISCOVER_TTL_MS: u32 = 60_000;

/// Where a modern request came in.
pub(crate) struct Entrance<'a> {
    pub(crate) principal: &'a Arc<Principal>,
    /// What let it in, where that can be taken back.
    pub(crate) pass: Option<&'a Pass>,
    pub(crate) profile: Option<&'a Arc<str>>,
    pub(crate) transport: Transport,
    /// The lasting connection, where there is one.
    pub(crate) connection: Option<ConnectionId>,
    /// Notifications can go before the answer.
    pub(crate) streams: bool,
}

/// Finds a header by name in any case.
pub(crate) type Headers<'a> = dyn Fn(&str) -> Option<&'a [u8]> + Send + Sync + 'a;

/// Begins a request of a modern client. Over HTTP its headers have to say what its body says.
pub(crate) async fn begin(
    hub: &Hub,
    at: Entrance<'_>,
    incoming: Box<Incoming>,
    headers: Option<&Headers<'_>>,
) -> Begun {
    if let Err(refused) = speaks(&incoming.request, &incoming.about, headers) {
        return Begun::Answer(*refused);
    }
    let id = incoming.request.id.clone();
    match started(hub, &at, incoming, headers).await {
        Ok(begun) => begun,
        Err(error) => {
            let writer = Writer { era: Era::Modern, id: &id, server: &hub.info().raw };
            Begun::Answer(writer.failed(&error, false, "request"))
        }
    }
}

/// Checks what every modern request has to say of itself.
fn speaks(
    request: &Request,
    about: &RequestMeta,
    headers: Option<&Headers<'_>>,
) -> std::result::Result<(), Box<Answer>> {
    let refuse = |code, message: &str, data: Option<&Raw>| {
        Err(Box::new(Answer::error(Some(&request.id), code, message, data, 400)))
    };
    let Some(version) = about.version_text() else {
        let message =
            format!("`_meta[\"{}\"]` must be a string; name the protocol version", meta::PROTOCOL_VERSION);
        return refuse(code::INVALID_PARAMS, &message, None);
    };
    let told = headers.and_then(|get| get(headers::PROTOCOL_VERSION));
    if headers.is_some() && told != Some(version.as_bytes()) {
        let message = format!("header `{}` and `_meta` name different versions", headers::PROTOCOL_VERSION);
        return refuse(code::HEADER_MISMATCH, &message, None);
    }
    if *version != *Version::LATEST.as_str() {
        let supported: Vec<&str> = Version::ALL.iter().map(|version| version.as_str()).collect();
        let data = Raw::of(&serde_json::json!({"supported": supported, "requested": version}));
        return refuse(code::UNSUPPORTED_VERSION, "unsupported protocol version", Some(&data));
    }
    if about.capabilities.as_ref().is_none_or(|capabilities| capabilities.kind() != JsonKind::Object) {
        let message = format!("`_meta[\"{}\"]` must be an object", meta::CLIENT_CAPABILITIES);
        return refuse(code::INVALID_PARAMS, &message, None);
    }
    Ok(())
}

async fn started(
    hub: &Hub,
    at: &Entrance<'_>,
    incoming: Box<Incoming>,
    headers: Option<&Headers<'_>>,
) -> Result<Begun> {
    let asked = asked::read(&incoming, Version::LATEST, hub);
    // A method that does not exist needs no headers; for one that does, they come before its params.
    if let Some(get) = headers.filter(|_| exists(hub, at, &incoming, &asked))
        && let Err(mismatch) = check_headers(hub, at, &incoming, asked.as_ref().ok(), get)
    {
        return Ok(Begun::Answer(Answer::error(
            Some(&incoming.request.id),
            code::HEADER_MISMATCH,
            &mismatch.to_string(),
            None,
            400,
        )));
    }
    let Incoming { request, params, members, about, trace } = *incoming;
    match asked? {
        Asked::Discover => Ok(Begun::Answer(Answer::result(&request.id, &discovered(hub, at)))),
        Asked::List(kind, cursor) => {
            let look = Look { principal: at.principal, profile: at.profile, version: Version::LATEST };
            let page = hub.list(&look, kind, cursor.as_deref()).await?;
            super::listed(&request, kind, &page);
            Ok(Begun::Answer(Answer::result(&request.id, &page)))
        }
        Asked::Listen => {
            hub.admit(at.principal)?;
            Box::pin(Listening::begin(hub, at, request.id, &params, client(hub, at, &about)))
                .await
                .map(|listening| Begun::Listening(Box::new(listening)))
        }
        Asked::Call(target, resume) => {
            let level = about.log_level.as_ref().and_then(Raw::as_string);
            let level = level.map(|level| level.parse()).transpose()?;
            let token = about.progress_id();
            let mut call = call(at, client(hub, at, &about), target.clone(), params);
            call.pass = at.pass.cloned();
            call.arguments = members.arguments;
            call.connection = at.connection;
            call.resume = resume;
            call.trace = trace;
            call.log_level = level;
            Ok(Begun::Running(Box::new(Exchange {
                hub: hub.clone(),
                id: request.id,
                era: Era::Modern,
                target,
                token,
                level,
                as_task: false,
                peer: None,
                run: Some(hub.carry(call)),
                registered: None,
                posed: Vec::new(),
                waiting: VecDeque::new(),
            })))
        }
        // `asked::read` has refused them: they do not exist in this era.
        Asked::Initialize | Asked::Ping | Asked::SetLevel(_) | Asked::ListTasks(_) => {
            Err(Error::new(Kind::UnknownMethod, "unknown method"))
        }
    }
}

fn exists(hub: &Hub, at: &Entrance<'_>, incoming: &Incoming, asked: &Result<Asked>) -> bool {
    match asked {
        Ok(Asked::Call(target @ Target::Method(_), _)) => {
            hub.finds(&call(at, client(hub, at, &incoming.about), target.clone(), incoming.params.clone()))
        }
        Ok(_) => true,
        Err(error) => error.kind() != Kind::UnknownMethod,
    }
}

fn check_headers(
    hub: &Hub,
    at: &Entrance<'_>,
    incoming: &Incoming,
    asked: Option<&Asked>,
    get: &Headers<'_>,
) -> std::result::Result<(), headers::HeaderMismatch> {
    let name = match asked {
        Some(Asked::Call(Target::Tool(name), _)) => Some(name),
        _ => None,
    };
    let view = name.map(|_| hub.view(at.principal, at.profile));
    let tool = view.as_ref().zip(name).and_then(|(view, name)| view.tool(name.as_str()));
    let tool_params = tool.map(|tool| tool.headers.as_slice()).unwrap_or_default();
    let members = &incoming.members;
    headers::check_parts(
        &incoming.request.method,
        members.named(&incoming.request.method),
        members.arguments.as_ref(),
        get,
        tool_params,
    )
}

/// The client as this one request describes it.
fn client(hub: &Hub, at: &Entrance<'_>, about: &RequestMeta) -> Arc<Client> {
    Arc::new(Client {
        version: Version::LATEST,
        capabilities: about.capabilities.as_ref().map(Capabilities::read).unwrap_or_default(),
        transport: at.transport,
        reachable: true,
        name: about.client_info.as_ref().and_then(|info| hub.client_name(info)).map(Arc::new),
        extensions: about.capabilities.as_ref().and_then(|raw| raw.get("extensions")),
    })
}

fn discovered(hub: &Hub, at: &Entrance<'_>) -> Raw {
    let versions: Vec<String> =
        Version::ALL.iter().map(|version| format!("\"{}\"", version.as_str())).collect();
    let tasks = hub.offers().tasks.then_some(r#""io.modelcontextprotocol/tasks":{}"#);
    let extensions = extensions(hub, at.principal, at.profile, tasks);
    Raw::trusted(
        format!(
            r#"{{"resultType":"complete","supportedVersions":[{}],"capabilities":{}{},"ttlMs":{DISCOVER_TTL_MS},"cacheScope":"private","_meta":{{"{}":{}}}}}"#,
            versions.join(","),
            capabilities(hub.offers(), true, &extensions),
            instructions(hub, at.principal, at.profile),
            meta::SERVER_INFO,
            hub.info().raw.as_str(),
        )
        .into(),
    )
}

/// What a listening client wants to be told, and the call by which its source agrees to it.
pub(crate) fn subscription(at: &Entrance<'_>, client: Arc<Client>, uri: &str, watcher: ConnectionId) -> Call {
    let params = Raw::of(&serde_json::json!({"uri": uri}));
    let mut call = call(at, client, Target::Subscribe(uri.into()), params);
    call.connection = Some(watcher);
    call
}

fn call(at: &Entrance<'_>, client: Arc<Client>, target: Target, params: Raw) -> Call {
    let mut call = Call::new(at.principal.clone(), client, target, params);
    call.profile = at.profile.cloned();
    call
}
