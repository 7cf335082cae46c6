//! What a server sends: answers, notifications and questions, each to whom it belongs.

use std::sync::atomic::Ordering;

use bytes::Bytes;
use toolgate_core::{Kinds, ListKind};
use toolgate_wire::{
    Edit, Era, Frame, Id, Message, Notification, Raw, Request, Response, code, meta, method, write,
};

use super::inbox::Inbox;
use super::{Desk, EARLY, EARLY_BYTES, LONGEST_ID, LONGEST_UPDATE, Named, Question, Said};
use crate::fault::Fault;
use crate::open::modern_params;
use crate::transport::MESSAGE_LIMIT;

impl Desk {
    /// Takes a frame of the server; `on`: the request whose stream it came on.
    pub(crate) fn take(&self, frame: Bytes, on: Option<u64>) {
        self.hears();
        match toolgate_wire::parse(frame.clone()) {
            Ok(Frame::One(message)) => self.message(message, on, frame.len()),
            Ok(Frame::Batch(messages)) => {
                for message in messages {
                    match message {
                        Ok(message) => self.message(message, on, frame.len()),
                        Err(refusal) => self.journal.note("sent what is no message", &refusal.message),
                    }
                }
            }
            Err(refusal) => {
                self.journal.note("sent what is no message", &refusal.message);
                let named = refusal.id.as_ref().and_then(Id::as_u64);
                if let Some(id) = named.or(on).or_else(|| garbled(&frame)) {
                    drop(self.answer(id, Err(Fault::Unusable(refusal.message))));
                }
            }
        }
    }

    /// A message was too large to be read; if only one call is under way, or only one request, it was for that one.
    pub(crate) fn too_large(&self, on: Option<u64>) {
        self.hears();
        let what = format!("a message of more than {MESSAGE_LIMIT} bytes");
        self.journal.note("sent a message that is too large", &what);
        let sole = || {
            let state = self.lock();
            // It may as well answer one that was given up.
            if state.given_up.is_any_left() {
                return None;
            }
            let only = || state.waiting.keys().next().copied().filter(|_| state.waiting.len() == 1);
            state.only_call().map(|(id, _)| id).or_else(only)
        };
        if let Some(id) = on.or_else(sole) {
            drop(self.answer(id, Err(Fault::Unusable(format!("{what} is too large")))));
        }
    }

    /// Takes a message; `whole`: how many bytes it came with. What has to wait does so without the rest.
    fn message(&self, message: Message, on: Option<u64>, whole: usize) {
        match message {
            Message::Response(response) => self.response(response, on),
            Message::Notification(mut notification) => {
                notification.params = notification.params.map(|params| apart(params, whole));
                self.notification(notification, on);
            }
            Message::Request(Request { id, .. }) if id.as_str().len() > LONGEST_ID => {
                self.journal.note("named a request in too many words", "");
            }
            Message::Request(mut request) => {
                request.params = request.params.map(|params| apart(params, whole));
                self.request(request, on);
            }
        }
    }

    fn response(&self, response: Response, on: Option<u64>) {
        let named = match &response.id {
            Some(id) => id.as_u64(),
            None => on,
        };
        // On the stream of one request no other is answered.
        let id = named.filter(|id| on.is_none_or(|on| on == *id));
        let outcome = response.outcome.map_err(Fault::Refused);
        let Some(id) = id.filter(|id| *id < self.next.load(Ordering::Relaxed)) else {
            let shown = response.id.map_or("null".to_owned(), |id| id.as_str().to_owned());
            return self.journal.note("answered what was not asked", &shown);
        };
        if let Some(Ok(result)) = self.answer(id, outcome) {
            self.unwanted(&result);
        }
    }

    /// The answer to what was given up meanwhile. A task that was begun by it would go on by itself, so it is cancelled.
    pub(super) fn unwanted(&self, result: &Raw) {
        let Some((task, era)) = begun(result) else { return };
        let params = match era {
            Era::Legacy => Raw::EMPTY_OBJECT,
            Era::Modern => modern_params(self.declared),
        };
        let params = Edit::new(&params).set("taskId", Raw::string(&task)).finish();
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        // Whatever it answers to that.
        self.post(write::request(&Id::number(id), method::TASKS_CANCEL, &params));
    }

    fn notification(&self, notification: Notification, on: Option<u64>) {
        let params = notification.params.unwrap_or(Raw::EMPTY_OBJECT);
        match &*notification.method {
            method::PROGRESS => {
                let token = params.get(meta::PROGRESS_TOKEN).and_then(|token| token.as_u64());
                let rest = Edit::new(&params).remove(meta::PROGRESS_TOKEN).finish();
                // Without anything to say it would not be progress.
                if rest.entries().next().is_some() {
                    self.tell(token, Said::Progress(rest));
                }
            }
            method::MESSAGE => match self.whose(Some(&params), on) {
                Some(call) => self.tell(Some(call), Said::Log(params)),
                None => self.says(method::MESSAGE, &params),
            },
            method::TASKS_STATUS => {
                let task = params.get("taskId").and_then(|id| text(&id)).map(Named::Task);
                self.tell(task.and_then(|task| self.named(&task)), Said::TaskMoved);
            }
            method::TOOLS_LIST_CHANGED => self.list_changed(Kinds::only(ListKind::Tools)),
            method::PROMPTS_LIST_CHANGED => self.list_changed(Kinds::only(ListKind::Prompts)),
            method::RESOURCES_LIST_CHANGED => {
                self.list_changed(Kinds::only(ListKind::Resources).with(ListKind::Templates));
            }
            method::RESOURCES_UPDATED => {
                if let Some(uri) = params.get("uri").as_ref().and_then(Raw::as_string) {
                    self.updates.tell(&uri, || said(&params));
                }
            }
            method::CANCELLED => {
                let id = params.get("requestId").filter(|id| id.as_bytes().len() <= LONGEST_ID);
                if let Some(id) = id.and_then(|id| Id::new(id.detach())) {
                    self.withdraw(&id);
                }
            }
            method::ELICITATION_COMPLETE => self.visited(params),
            method::SUBSCRIPTIONS_ACKNOWLEDGED => self.agrees(&params, on),
            other => match self.whose(Some(&params), on) {
                Some(call) => self.tell(Some(call), Said::Other(other.to_owned(), params)),
                None => self.says(other, &params),
            },
        }
    }

    fn list_changed(&self, kinds: Kinds) {
        let mut changed = self.changed();
        changed.add(kinds);
        changed.told = true;
        drop(changed);
        self.noticed.notify_one();
    }

    fn request(&self, request: Request, on: Option<u64>) {
        let declared = &self.declared;
        let question = match &*request.method {
            method::PING => return self.post(write::result(&request.id, &Raw::EMPTY_OBJECT)),
            method::ELICITATION_CREATE if declared.form || declared.url => method::ELICITATION_CREATE,
            method::SAMPLING_CREATE_MESSAGE if declared.sampling => method::SAMPLING_CREATE_MESSAGE,
            method::ROOTS_LIST if declared.roots => method::ROOTS_LIST,
            _ => {
                let message = "this client did not declare that it can answer this";
                return self.post(write::error(Some(&request.id), code::METHOD_NOT_FOUND, message, None));
            }
        };
        let params = request.params.unwrap_or(Raw::EMPTY_OBJECT);
        let Some(id) = Id::new(request.id.raw().detach()) else { return };
        self.question(Question { id, method: question, params, room: None }, on);
    }

    /// Gives a question to the call it belongs to. Where that cannot be known, it is declined, never guessed.
    fn question(&self, question: Question, on: Option<u64>) {
        let mut state = self.lock();
        // Which folders the client works on does not depend on the call.
        let may_wait = question.method == method::ROOTS_LIST
            && state.early.len() < EARLY
            && question.params.as_bytes().len() <= EARLY_BYTES;
        if state.calls == 0 && may_wait {
            state.early.push(question);
            return;
        }
        drop(state);
        let asked = self.whose(Some(&question.params), on);
        if let (Some(id), Some(page)) = (asked, elicitation(&question.params)) {
            self.name(page, id);
        }
        let Some(events) = asked.and_then(|id| self.events_of(id)) else {
            self.journal.note("asked without saying for which call", question.method);
            return self.post(declined(&question, "it cannot be known for which call this is asked"));
        };
        if let Err(Said::Asked(question)) = events.put(Said::Asked(question)) {
            self.journal.note("sends more than its caller can read", question.method);
            self.post(declined(&question, "the call it belongs to takes no more"));
        }
    }

    /// The call something belongs to: that which it names, that of its stream, or the only one that the server is at.
    fn whose(&self, params: Option<&Raw>, on: Option<u64>) -> Option<u64> {
        let state = self.lock();
        if let Some(params) = params.filter(|_| !state.named.is_empty()) {
            let task = params.path(&[meta::META, meta::RELATED_TASK, "taskId"]);
            let task = task.and_then(|id| text(&id)).map(Named::Task);
            let named = task.into_iter().chain(elicitation(params)).find_map(|name| state.named.get(&name));
            if let Some(id) = named {
                return Some(*id);
            }
        }
        let is_call = |id: &u64| state.waiting.get(id).is_some_and(|waiting| waiting.events.is_some());
        if let Some(on) = on.filter(is_call) {
            return Some(on);
        }
        let (id, caller) = state.only_call()?;
        (!state.given_up.is_any_left_but_of(caller)).then_some(id)
    }

    fn named(&self, named: &Named) -> Option<u64> {
        self.lock().named.get(named).copied()
    }

    pub(super) fn tell(&self, id: Option<u64>, said: Said) {
        let Some(events) = id.and_then(|id| self.events_of(id)) else { return };
        if events.put(said).is_err() {
            self.journal.note("sends more than its caller can read", "");
        }
    }

    fn withdraw(&self, id: &Id) {
        let mut state = self.lock();
        state.early.retain(|question| question.id != *id);
        let calls = state.waiting.values_mut().filter_map(|waiting| waiting.events.as_mut());
        let calls: Vec<_> = calls.map(Inbox::open).collect();
        drop(state);
        for events in calls {
            // A call that cannot be told ends its question by itself.
            drop(events.put(Said::Withdrawn(id.clone())));
        }
    }
}

/// A part of what came, in bytes of its own if it is the smaller part.
fn apart(part: Raw, whole: usize) -> Raw {
    if part.as_bytes().len() < whole / 2 { part.detach() } else { part }
}

/// The address that params are about, as 2025-11-25 names it.
pub(super) fn elicitation(params: &Raw) -> Option<Named> {
    params.get("elicitationId").and_then(|id| text(&id)).map(Named::Elicitation)
}

/// What is said of a changed resource beside its URI. Which of our streams it came on concerns nobody else.
fn said(params: &Raw) -> Option<Raw> {
    let params = Edit::new(params).remove_in(meta::META, meta::SUBSCRIPTION_ID).finish();
    let meta = params.get(meta::META).filter(|meta| meta.entries().next().is_none());
    let params = meta.map_or(params.clone(), |_| Edit::new(&params).remove(meta::META).finish());
    (params.entries().nth(1).is_some() && params.as_bytes().len() <= LONGEST_UPDATE).then(|| params.detach())
}

fn text(raw: &Raw) -> Option<String> {
    raw.as_string().map(std::borrow::Cow::into_owned)
}

/// The request that a message answers whose text is not all UTF-8.
fn garbled(frame: &[u8]) -> Option<u64> {
    let std::borrow::Cow::Owned(text) = String::from_utf8_lossy(frame) else { return None };
    match toolgate_wire::parse(text.into()) {
        Ok(Frame::One(Message::Response(response))) => response.id?.as_u64(),
        Ok(_) | Err(_) => None,
    }
}

/// The answer to a question that nobody is asked.
pub(crate) fn declined(question: &Question, why: &str) -> Bytes {
    if question.method == method::ELICITATION_CREATE {
        return write::result(&question.id, &Raw::literal(r#"{"action":"decline"}"#));
    }
    write::error(Some(&question.id), code::INTERNAL, why, None)
}

/// The task that a result says was begun, and the era whose way to say so it is.
fn begun(result: &Raw) -> Option<(String, Era)> {
    let task = |of: &Raw| text(&of.get("taskId")?);
    if let Some(of) = result.get("task") {
        return Some((task(&of)?, Era::Legacy));
    }
    let is_task =
        result.get("resultType").as_ref().and_then(Raw::as_string).is_some_and(|kind| kind == "task");
    if is_task { Some((task(result)?, Era::Modern)) } else { None }
}
