//! Between eras: what goes to a server and what comes from it, edited key by key and not otherwise.

use toolgate_core::{Client, Error, LogLevel, Outcome, Permitted, Target, TraceContext, carried_extensions};
use toolgate_wire::{Edit, Era, Raw, RequestMeta, code, meta};

use crate::fault::Fault;
use crate::link::Declared;
use crate::open::modern_meta;

/// What of the caller's `_meta` is about its own connection, and not about the call.
const OF_THE_LEG: [&str; 3] = [meta::PROTOCOL_VERSION, meta::CLIENT_CAPABILITIES, meta::CLIENT_INFO];

/// What of the params is between the caller and us.
const OURS: [&str; 3] = ["inputResponses", "requestState", "task"];

/// What of the params may be edited on the way to a server of the legacy era.
const EDITED: [&str; 4] = [meta::META, OURS[0], OURS[1], OURS[2]];

/// The params of a call as the server gets them, but for what its target changes; `id` names the request.
pub(crate) fn params(params: &Raw, permitted: &Permitted, era: Era, declared: Declared, id: u64) -> Raw {
    let adds =
        permitted.trace_context().is_some() || permitted.answers().is_some() || permitted.state().is_some();
    if era == Era::Legacy && !adds && !params.has_any(&EDITED) {
        return params.clone();
    }
    let given = params.get(meta::META).filter(Raw::is_object);
    let about = given.as_ref().map(RequestMeta::of).unwrap_or_default();
    let had = given.clone().unwrap_or(Raw::EMPTY_OBJECT);
    let mut edit = Edit::new(&had);
    edit = match about.progress_token {
        Some(_) => edit.set(meta::PROGRESS_TOKEN, Raw::trusted(id.to_string().into())),
        None => edit,
    };
    edit = match era {
        Era::Modern => {
            let asked =
                modern_meta(declared).into_iter().fold(edit, |edit, (key, value)| edit.set(key, value));
            let asked = extended(asked, permitted.client());
            // A legacy client sets its level once for all, and filters what it gets.
            match permitted.client().era() {
                Era::Legacy => {
                    let level = permitted.log_level().unwrap_or(LogLevel::Info);
                    asked.set(meta::LOG_LEVEL, Raw::string(level.as_str()))
                }
                Era::Modern => asked,
            }
        }
        Era::Legacy => OF_THE_LEG.iter().chain([&meta::LOG_LEVEL]).fold(edit, |edit, key| edit.remove(key)),
    };
    if let Some(trace) = permitted.trace_context() {
        edit = traced(edit, trace);
    }
    let meta = edit.finish();
    let empty = meta.entries().next().is_none();
    let mut edit = Edit::new(params);
    // The source's own follow.
    edit = OURS.iter().fold(edit, |edit, key| edit.remove(key));
    edit = match (empty, &given) {
        (true, Some(before)) if before.entries().next().is_some() => edit.remove(meta::META),
        (true, _) => edit,
        (false, _) => edit.set(meta::META, meta),
    };
    if let Some(answers) = permitted.answers() {
        edit = edit.set("inputResponses", answers.clone());
    }
    if let Some(state) = permitted.state() {
        edit = edit.set("requestState", Raw::string(state));
    }
    edit.finish()
}

/// What the client can do, with the extensions that it declared itself.
fn extended<'a>(edit: Edit<'a>, client: &Client) -> Edit<'a> {
    let carried = client.extensions.clone().and_then(carried_extensions);
    let (Some(extensions), Some(declared)) = (carried, edit.get(meta::CLIENT_CAPABILITIES)) else {
        return edit;
    };
    let declared = extensions
        .entries()
        .fold(Edit::new(&declared), |edit, (name, settings)| edit.set_in("extensions", &name, settings));
    edit.set(meta::CLIENT_CAPABILITIES, declared.finish())
}

/// The place in the trace from which the server goes on.
fn traced<'a>(edit: Edit<'a>, trace: &TraceContext) -> Edit<'a> {
    let parts = [
        (meta::TRACEPARENT, Some(trace.parent())),
        (meta::TRACESTATE, trace.state()),
        (meta::BAGGAGE, trace.baggage()),
    ];
    parts.into_iter().fold(edit, |edit, (key, value)| match value {
        Some(value) => edit.set(key, Raw::string(value)),
        None => edit.remove(key),
    })
}

/// Whether a modern server has made a call a task.
pub(crate) fn is_task(result: &Raw) -> bool {
    result.get("resultType").is_some_and(|kind| kind.as_string().as_deref() == Some("task"))
}

/// What the result of a call means.
pub(crate) fn outcome(result: Raw, server: Era, client: Era) -> Result<Outcome, Fault> {
    if !result.is_object() {
        return Err(Fault::Unusable("its result is no object".into()));
    }
    if server == Era::Legacy {
        return match client {
            Era::Legacy => Ok(Outcome::Complete(result)),
            Era::Modern => {
                lacks(&result).map_or(Ok(Outcome::Complete(result)), |error| Err(Fault::Refused(error)))
            }
        };
    }
    let kind = result.get("resultType");
    match kind.as_ref().map(Raw::as_string).map(|text| text.unwrap_or_default()).as_deref() {
        None | Some("complete") if client == Era::Legacy => {
            Ok(Outcome::Complete(Edit::new(&result).remove("resultType").finish()))
        }
        None | Some("complete") => Ok(Outcome::Complete(result)),
        Some("input_required") => {
            let requests = result.get("inputRequests").filter(Raw::is_object).unwrap_or(Raw::EMPTY_OBJECT);
            let requests = if client == Era::Legacy { with_ids(&requests) } else { requests };
            let state = result.get("requestState");
            let state = state.as_ref().and_then(Raw::as_string).map(std::borrow::Cow::into_owned);
            Ok(Outcome::InputRequired { requests, state })
        }
        Some(other) => Err(Fault::Unusable(format!("a result of type `{}`", crate::fault::short(other)))),
    }
}

/// What a Toolgate behind us had to say in a result, since the legacy era has no error for it: the client lacks a
/// capability.
fn lacks(result: &Raw) -> Option<Raw> {
    let about = result.path(&[meta::META, meta::TOOLGATE_ERROR])?;
    let data = about.get("data").filter(|data| data.get("requiredCapabilities").is_some())?;
    let error = Raw::trusted(format!(r#"{{"code":{}}}"#, code::MISSING_CAPABILITY).into());
    let message = about.get("error").unwrap_or_else(|| Raw::string("the client lacks a capability"));
    Some(Edit::new(&error).set("message", message).set("data", data).finish())
}

/// Questions as a legacy client can be asked them: it wants every address that a person is sent to to have an id.
fn with_ids(requests: &Raw) -> Raw {
    let lacks_id = |params: &Raw| {
        let mode = params.get("mode");
        mode.as_ref().and_then(Raw::as_string).as_deref() == Some("url")
            && params.get("elicitationId").is_none()
    };
    let asked = requests.entries().filter_map(|(key, request)| Some((key, request.get("params")?, request)));
    asked
        .filter(|(_, params, _)| lacks_id(params))
        .fold(Edit::new(requests), |edit, (key, params, request)| {
            let digest = toolgate_wire::digest(&params);
            let id: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
            let request = Edit::new(&request).set_in("params", "elicitationId", Raw::string(&id)).finish();
            edit.set(&key, request)
        })
        .finish()
}

/// What a person has to visit before a server answers, as 2025-11-25 says it.
pub(crate) fn to_visit(fault: &Fault) -> Option<&Raw> {
    let Fault::Refused(error) = fault else { return None };
    let code = error.get("code")?;
    (code.as_str() == code::URL_ELICITATION_REQUIRED.to_string()).then_some(error)
}

/// An error object as a client of this era knows it.
pub(crate) fn refused(error: Raw, target: &Target, client: Era) -> Error {
    let code = error.get("code").map(|code| code.as_str().parse::<i32>().unwrap_or_default());
    let reading = matches!(target, Target::Resource(_));
    let to = match (code, client) {
        (Some(code::RESOURCE_NOT_FOUND), Era::Modern) if reading => code::INVALID_PARAMS,
        (Some(code::INVALID_PARAMS), Era::Legacy) if reading => code::RESOURCE_NOT_FOUND,
        (Some(code::HEADER_MISMATCH | code::MISSING_CAPABILITY | code::UNSUPPORTED_VERSION), Era::Legacy) => {
            code::INTERNAL
        }
        (Some(code::URL_ELICITATION_REQUIRED), Era::Modern) => code::INTERNAL,
        _ => return Error::forwarded(error),
    };
    Error::forwarded(Edit::new(&error).set("code", Raw::trusted(to.to_string().into())).finish())
}
