//! Answers as frames, in the era of the client they go to.

use bytes::Bytes;
use toolgate_core::{Error, Kind, Outcome, RpcForm, Target, error_object, error_result};
use toolgate_wire::{Edit, Era, Id, Raw, code, meta, write};

/// A frame that answers a request, and the status it has over HTTP.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) frame: Bytes,
    pub(crate) status: u16,
}

impl Answer {
    /// A result as it is.
    pub(crate) fn result(id: &Id, result: &Raw) -> Self {
        Self { frame: write::result(id, result), status: 200 }
    }

    /// An error as it is.
    pub(crate) fn error(id: Option<&Id>, code: i32, message: &str, data: Option<&Raw>, status: u16) -> Self {
        Self { frame: write::error(id, code, message, data), status }
    }
}

/// What an answer needs to know of its request.
pub(crate) struct Writer<'a> {
    pub(crate) era: Era,
    pub(crate) id: &'a Id,
    /// Our `serverInfo`, which modern results carry.
    pub(crate) server: &'a Raw,
}

impl Writer<'_> {
    /// How a call ended.
    pub(crate) fn outcome(&self, outcome: Outcome, target: &Target, operation: &str) -> Answer {
        match outcome {
            Outcome::Complete(result) => self.complete(&result, matches!(target, Target::Resource(_))),
            Outcome::Failed(error) => self.failed(&error, matches!(target, Target::Tool(_)), operation),
            Outcome::InputRequired { requests, state } => {
                let mut body =
                    format!(r#"{{"resultType":"input_required","inputRequests":{}"#, requests.as_str());
                if let Some(state) = state {
                    body.push_str(r#","requestState":"#);
                    body.push_str(Raw::string(&state).as_str());
                }
                body.push('}');
                Answer::result(self.id, &self.signed(&Raw::trusted(body.into())))
            }
            Outcome::Task(task) if self.era == Era::Legacy => Answer::result(self.id, &task),
            Outcome::Task(task) => Answer::result(self.id, &self.signed(&task)),
        }
    }

    /// A complete result: modern clients learn that it is one, and how long a resource may be kept.
    pub(crate) fn complete(&self, result: &Raw, cacheable: bool) -> Answer {
        if self.era == Era::Legacy {
            return Answer::result(self.id, result);
        }
        let (mut typed, mut cached, mut has_meta) = (false, false, false);
        for (key, _) in result.entries() {
            typed |= key == "resultType";
            cached |= key == "ttlMs";
            has_meta |= key == meta::META;
        }
        let mut head = Vec::with_capacity(result.as_bytes().len() + self.server.as_bytes().len() + 128);
        head.push(b'{');
        if !typed {
            head.extend_from_slice(br#""resultType":"complete","#);
        }
        if cacheable && !cached {
            head.extend_from_slice(br#""ttlMs":0,"cacheScope":"private","#);
        }
        if !has_meta {
            let parts: [&[u8]; 5] =
                [br#""_meta":{""#, meta::SERVER_INFO.as_bytes(), br#"":"#, self.server.as_bytes(), b"},"];
            parts.iter().for_each(|part| head.extend_from_slice(part));
        }
        let inside = result.as_bytes().get(1..).unwrap_or(b"}");
        // An empty object has no member for the comma to stand before.
        if inside.trim_ascii_start().starts_with(b"}") && head.ends_with(b",") {
            head.pop();
        }
        head.extend_from_slice(inside);
        let result = Raw::trusted(head.into());
        Answer::result(self.id, &if has_meta { self.signed(&result) } else { result })
    }

    /// An error in the form that its kind and the client's era ask for.
    pub(crate) fn failed(&self, error: &Error, of_tool: bool, operation: &str) -> Answer {
        let form = if of_tool { error.kind().tool_form() } else { RpcForm::Error(error.kind().code()) };
        // The codes of the modern era mean nothing to a legacy client.
        let unknown_to_legacy = self.era == Era::Legacy && error.kind() == Kind::MissingCapability;
        if error.as_forwarded().is_none() && of_tool && (form == RpcForm::Result || unknown_to_legacy) {
            return self.complete(&error_result(error, operation), false);
        }
        let object = error_object(error);
        let object = match (self.era, error.kind()) {
            (Era::Legacy, Kind::ResourceNotFound) => recoded(&object, code::RESOURCE_NOT_FOUND),
            (Era::Legacy, Kind::MissingCapability) => recoded(&object, code::INTERNAL),
            _ => object,
        };
        let status = match (self.era, error.kind()) {
            (Era::Modern, Kind::UnknownMethod) => 404,
            (Era::Modern, Kind::MissingCapability) => 400,
            (Era::Modern, Kind::Upstream) if lacks_capability(&object) => 400,
            _ => 200,
        };
        Answer { frame: write::error_raw(Some(self.id), &object), status }
    }

    /// The result with our name in its `_meta`, as the modern era wants it.
    fn signed(&self, result: &Raw) -> Raw {
        Edit::new(result).set_in(meta::META, meta::SERVER_INFO, self.server.clone()).finish()
    }
}

/// Whether another server's error says that the client lacks a capability.
fn lacks_capability(error: &Raw) -> bool {
    error.get("code").is_some_and(|code| code.as_str() == code::MISSING_CAPABILITY.to_string())
}

fn recoded(error: &Raw, code: i32) -> Raw {
    Edit::new(error).set("code", Raw::of(&code)).finish()
}
