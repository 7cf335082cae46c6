//! What went by between a client and its hub, as far as it matters when the hub is gone.

use std::collections::HashSet;

use bytes::Bytes;
use toolgate_wire::{Frame, Id, Message, Notification, Raw, Request, code, method, write};

use crate::control::method::STOPPING;

/// How many subscriptions are remembered: as many as a hub keeps for one connection.
const MOST_WATCHED: usize = 1000;

/// Whom something is for that the hub says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// For the client.
    ForClient,
    /// For us, who had asked.
    ForUs,
    /// For us: it stops, and reads nothing more.
    Stopping,
}

/// What went by, as far as it matters when the hub is gone.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// What the client asked and the hub has not answered.
    asked: HashSet<Id>,
    /// What the hub asked and the client has not answered.
    questions: HashSet<Id>,
    /// How the client introduced itself.
    greeting: Option<Greeting>,
    initialized: bool,
    level: Option<Raw>,
    watched: Vec<Raw>,
    /// What we asked of a new hub in the client's place.
    replayed: HashSet<Id>,
}

#[derive(Debug)]
struct Greeting {
    id: Id,
    params: Raw,
}

impl Ledger {
    /// Notes what the client says.
    pub(super) fn hear_client(&mut self, line: &Bytes) {
        match toolgate_wire::parse(line.clone()) {
            Ok(Frame::One(message)) => self.client_said(message),
            Ok(Frame::Batch(batch)) => batch.into_iter().flatten().for_each(|one| self.client_said(one)),
            // The hub will say what is wrong with it.
            Err(_) => {}
        }
    }

    /// Notes what the hub says, and whom it is for.
    pub(super) fn hear_hub(&mut self, line: &Bytes) -> Heard {
        match toolgate_wire::parse(line.clone()) {
            Ok(Frame::One(message)) => self.hub_said(message),
            Ok(Frame::Batch(batch)) => {
                for message in batch.into_iter().flatten() {
                    self.hub_said(message);
                }
                Heard::ForClient
            }
            Err(_) => Heard::ForClient,
        }
    }

    /// What the client has to hear when the hub is gone: no call and no question goes on.
    pub(super) fn lost(&mut self) -> Vec<u8> {
        let mut said = Vec::new();
        let greets = self.greeting.as_ref().map(|greeting| &greeting.id);
        let unanswered: Vec<Id> = self.asked.iter().filter(|id| Some(*id) != greets).cloned().collect();
        for id in unanswered {
            self.asked.remove(&id);
            let message = "the hub ended before it answered, so what came of this request is not known";
            line(&mut said, &write::error(Some(&id), code::INTERNAL, message, None));
        }
        for id in self.questions.drain() {
            let about = format!(r#"{{"requestId":{},"reason":"the hub ended"}}"#, id.as_str());
            line(&mut said, &write::notification(method::CANCELLED, Some(&Raw::trusted(about.into()))));
        }
        self.replayed.clear();
        said
    }

    /// What a new hub has to hear before the client goes on: all that a connection remembers.
    pub(super) fn replay(&mut self) -> Vec<u8> {
        let mut said = Vec::new();
        let Some(greeting) = &self.greeting else { return said };
        let waits = self.asked.contains(&greeting.id);
        let mut requests = Vec::new();
        if waits {
            line(&mut said, &write::request(&greeting.id, method::INITIALIZE, &greeting.params));
        } else {
            requests.push((method::INITIALIZE, &greeting.params));
        }
        requests.extend(self.level.iter().map(|params| (method::LOGGING_SET_LEVEL, params)));
        requests.extend(self.watched.iter().map(|params| (method::RESOURCES_SUBSCRIBE, params)));
        for (number, (method, params)) in requests.into_iter().enumerate() {
            let id = Id::text(&format!("toolgate-replay-{number}"));
            line(&mut said, &write::request(&id, method, params));
            self.replayed.insert(id);
            if method == method::INITIALIZE && self.initialized {
                line(&mut said, &write::notification(method::INITIALIZED, None));
            }
        }
        said
    }

    fn client_said(&mut self, message: Message) {
        match message {
            Message::Request(request) => self.client_asked(&request),
            Message::Notification(notification) => match &*notification.method {
                method::INITIALIZED => self.initialized = true,
                method::CANCELLED => {
                    cancelled(&notification).map(|id| self.asked.remove(&id));
                }
                _ => {}
            },
            Message::Response(response) => {
                response.id.map(|id| self.questions.remove(&id));
            }
        }
    }

    fn client_asked(&mut self, request: &Request) {
        self.asked.insert(kept(&request.id));
        let Some(params) = &request.params else { return };
        match &*request.method {
            method::INITIALIZE => {
                self.greeting = Some(Greeting { id: kept(&request.id), params: params.detach() });
                self.initialized = false;
            }
            method::LOGGING_SET_LEVEL => self.level = Some(params.detach()),
            method::RESOURCES_SUBSCRIBE => {
                self.unwatch(params);
                if self.watched.len() < MOST_WATCHED {
                    self.watched.push(params.detach());
                }
            }
            method::RESOURCES_UNSUBSCRIBE => self.unwatch(params),
            _ => {}
        }
    }

    fn unwatch(&mut self, params: &Raw) {
        let uri = params.get("uri");
        self.watched.retain(|watched| watched.get("uri") != uri);
    }

    fn hub_said(&mut self, message: Message) -> Heard {
        match message {
            Message::Request(request) => {
                self.questions.insert(kept(&request.id));
            }
            Message::Notification(notification) => match &*notification.method {
                STOPPING => return Heard::Stopping,
                method::CANCELLED => {
                    cancelled(&notification).map(|id| self.questions.remove(&id));
                }
                _ => {}
            },
            Message::Response(response) => {
                let Some(id) = response.id else { return Heard::ForClient };
                self.asked.remove(&id);
                if self.replayed.remove(&id) {
                    return Heard::ForUs;
                }
            }
        }
        Heard::ForClient
    }
}

/// The id by itself: as it came it would keep alive all that was read together with it.
fn kept(id: &Id) -> Id {
    Id::new(id.raw().detach()).unwrap_or_else(|| id.clone())
}

fn cancelled(notification: &Notification) -> Option<Id> {
    notification.params.as_ref().and_then(|params| params.get("requestId")).and_then(Id::new)
}

fn line(said: &mut Vec<u8>, frame: &Bytes) {
    said.extend_from_slice(frame);
    said.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(client: &[&str], hub: &[&str]) -> Ledger {
        let mut ledger = Ledger::default();
        client.iter().for_each(|line| ledger.hear_client(&Bytes::copy_from_slice(line.as_bytes())));
        hub.iter().for_each(|line| {
            ledger.hear_hub(&Bytes::copy_from_slice(line.as_bytes()));
        });
        ledger
    }

    fn lines(bytes: Vec<u8>) -> Vec<String> {
        let mut lines: Vec<String> = String::from_utf8(bytes).unwrap().lines().map(String::from).collect();
        lines.sort();
        lines
    }

    #[track_caller]
    fn check_lost(client: &[&str], hub: &[&str], expect: &[&str]) {
        let lost = lines(ledger(client, hub).lost());
        assert_eq!(lost.len(), expect.len(), "{lost:?}");
        for (line, part) in lost.iter().zip(expect) {
            assert!(line.contains(part), "{line} has no {part}");
        }
    }

    const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#;
    const HELLO: &str =
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;

    #[test]
    fn what_is_unanswered_is_answered_and_nothing_else() {
        check_lost(&[CALL], &[], &[r#""id":1,"error":{"code":-32603"#]);
        check_lost(&[CALL], &[r#"{"jsonrpc":"2.0","id":1,"result":{}}"#], &[]);
        check_lost(&[CALL], &[r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#], &[]);
        check_lost(
            &[CALL, r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#],
            &[],
            &[],
        );
        check_lost(&[r#"[{"jsonrpc":"2.0","id":"a","method":"ping"}]"#], &[], &[r#""id":"a","error""#]);
        check_lost(&["not json", HELLO], &[], &[]);
    }

    #[test]
    fn a_question_of_the_hub_that_is_gone_is_taken_back() {
        let question = r#"{"jsonrpc":"2.0","id":"toolgate-1","method":"roots/list"}"#;
        let taken_back = r#""method":"notifications/cancelled","params":{"requestId":"toolgate-1""#;
        check_lost(&[], &[question], &[taken_back]);
        let mut answered = ledger(&[], &[question]);
        answered.hear_client(&Bytes::from_static(br#"{"jsonrpc":"2.0","id":"toolgate-1","result":{}}"#));
        assert!(answered.lost().is_empty());
    }

    #[test]
    fn a_new_hub_learns_what_the_client_told_the_last_one() {
        let told = [
            HELLO,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"error"}}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"a:///1"}}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"a:///2"}}"#,
            r#"{"jsonrpc":"2.0","id":4,"method":"resources/unsubscribe","params":{"uri":"a:///1"}}"#,
        ];
        let mut ledger = ledger(&told, &[r#"{"jsonrpc":"2.0","id":0,"result":{}}"#]);
        ledger.lost();
        let said = String::from_utf8(ledger.replay()).unwrap();
        let methods: Vec<&str> = said
            .lines()
            .map(|line| line.split(r#""method":""#).nth(1).unwrap().split('"').next().unwrap())
            .collect();
        assert_eq!(
            methods,
            ["initialize", "notifications/initialized", "logging/setLevel", "resources/subscribe"]
        );
        assert!(said.contains("a:///2") && !said.contains("a:///1"), "{said}");
        for number in 0..3 {
            let answer = format!(r#"{{"jsonrpc":"2.0","id":"toolgate-replay-{number}","result":{{}}}}"#);
            assert_eq!(ledger.hear_hub(&answer.into()), Heard::ForUs, "{number}");
        }
        let other = Bytes::from_static(br#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
        assert_eq!(ledger.hear_hub(&other), Heard::ForClient);
        let stopping = Bytes::from_static(br#"{"jsonrpc":"2.0","method":"toolgate/stopping"}"#);
        assert_eq!(ledger.hear_hub(&stopping), Heard::Stopping);
    }

    #[test]
    fn a_handshake_under_way_goes_on_with_the_new_hub() {
        let mut ledger = ledger(&[HELLO], &[]);
        assert!(ledger.lost().is_empty());
        assert_eq!(String::from_utf8(ledger.replay()).unwrap(), format!("{HELLO}\n"));
        let answer = Bytes::from_static(br#"{"jsonrpc":"2.0","id":0,"result":{}}"#);
        assert_eq!(ledger.hear_hub(&answer), Heard::ForClient);
    }

    #[test]
    fn who_never_greeted_has_nothing_to_repeat() {
        assert!(ledger(&[CALL], &[]).replay().is_empty());
    }
}
