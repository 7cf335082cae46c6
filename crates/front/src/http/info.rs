//! What the server says of itself beside the protocol: `/health`, `/api`, `/metrics`.

use http::header::{ACCEPT, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Map, Value, json};
use toolgate_core::{Exposition, Principal, SourceId};
use toolgate_wire::{Raw, Version};

use super::Shared;
use super::body::{Reply, json as json_reply, text};

/// Whether it can do its work; 503 while it stops. Anyone may ask, so it names parts and no details.
pub(crate) fn health(shared: &Shared) -> Reply {
    let troubles = shared.hub.troubles();
    let why = troubles
        .keys()
        .map(|part| format!("something is wrong with the {part}; the log says what"))
        .collect();
    let (status, word, why) = if shared.stopping.is_cancelled() {
        (StatusCode::SERVICE_UNAVAILABLE, "stopping", vec!["the server is about to end".to_owned()])
    } else if troubles.is_empty() {
        (StatusCode::OK, "ready", Vec::new())
    } else {
        (StatusCode::OK, "degraded", why)
    };
    let sources = shared.hub.sources();
    let sources: Vec<&str> = sources.iter().map(SourceId::as_str).collect();
    let upstreams = shared.hub.upstream_states();
    let upstreams: Map<String, Value> =
        upstreams.into_iter().map(|(source, state)| (source.to_string(), state.as_str().into())).collect();
    let body = json!({
        "status": word,
        "why": why,
        "sources": sources,
        "upstreams": upstreams,
        "sessions": shared.sessions.count(),
    });
    json_reply(status, Raw::of(&body).bytes())
}

/// What it is and offers, as all that leaves through the filters: titles are what other servers wrote.
pub(crate) fn api(shared: &Shared, principal: &Principal) -> Reply {
    let server: Value = shared.hub.info().raw.to().unwrap_or_default();
    let view = shared.hub.view(principal, None);
    let tools: Vec<Value> = view
        .tools_by_source()
        .map(|(source, tool)| json!({"name": tool.name.as_str(), "title": tool.title, "source": source}))
        .collect();
    let body = json!({
        "name": server["name"],
        "version": server["version"],
        "protocolVersions": Version::ALL.map(Version::as_str),
        "endpoints": {
            "mcp": "/mcp",
            "sse": "/sse",
            "health": "/health",
            "metrics": "/metrics",
        },
        "tools": tools,
    });
    match shared.hub.filtered(Raw::of(&body)) {
        Ok(body) => json_reply(StatusCode::OK, body.bytes()),
        Err(_) => text(StatusCode::INTERNAL_SERVER_ERROR, "what is offered could not be filtered\n"),
    }
}

/// The metrics, in the format that is asked for.
pub(crate) fn metrics(shared: &Shared, headers: &HeaderMap) -> Reply {
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let form = Exposition::accepted(accept);
    let mut reply = text(StatusCode::OK, shared.hub.scrape(form));
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(form.content_type()));
    reply.headers_mut().insert(VARY, HeaderValue::from_static("Accept"));
    reply
}
