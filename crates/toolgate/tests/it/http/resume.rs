//! A legacy client that lost its connection comes back for what it missed, with `Last-Event-ID`.

use serde_json::{Value, json};
use toolgate_wire::sse::Event;

use super::sessions::Client;
use crate::message::{call, slow, text};
use crate::process::{Server, until};
use crate::web::Open;

impl Client<'_> {
    /// Goes on behind an event.
    fn resume(&self, last: &str) -> Open {
        let get = self.server.get("/mcp").header("Accept", "text/event-stream").session(&self.id);
        get.header("Last-Event-ID", last).open()
    }
}

fn events(mut stream: Open) -> Vec<Event> {
    std::iter::from_fn(|| stream.event()).collect()
}

fn message(event: &Event) -> Value {
    serde_json::from_slice(&event.data).unwrap()
}

#[test]
fn what_a_client_missed_comes_exactly_once() {
    let server = Server::start();
    let client = Client::begin(&server);
    let mut stream = client.post(slow(1, 1.5));
    let first = stream.event().unwrap();
    assert!(
        first.data.is_empty() && first.retry.is_some(),
        "a place to come back to, before anything is said"
    );
    let seen = [stream.event().unwrap(), stream.event().unwrap()];
    let last = seen[1].id.clone().unwrap();
    drop(stream);
    // It goes on while nobody is there.
    until("the call has ended", || server.calls("tool", "complete") == 1);

    let missed = events(client.resume(&last));
    let progress = |event: &Event| message(event)["params"]["progress"].as_f64();
    let all: Vec<f64> = seen.iter().chain(&missed).filter_map(progress).collect();
    assert!(all.is_sorted_by(|a, b| a < b), "none twice, none out of order: {all:?}");
    assert_eq!((all.first(), all.last()), (Some(&0.0), Some(&1.5)));
    assert_eq!(text(&message(missed.last().unwrap())), "Slept for 1.5 s");
    let answers = missed.iter().filter(|event| message(event)["id"] == 1).count();
    assert_eq!(answers, 1);

    // The ids are numbers in a row, so that a gap would show.
    let number =
        |event: &Event| event.id.as_ref().unwrap().split_once('-').unwrap().1.parse::<u64>().unwrap();
    let numbers: Vec<u64> = [&first].into_iter().chain(&seen).chain(&missed).map(number).collect();
    assert!(numbers.iter().copied().eq(0..numbers.len() as u64), "{numbers:?}");

    // It can come back again, and from anywhere.
    assert_eq!(events(client.resume(&last)), missed);
    assert_eq!(events(client.resume(first.id.as_ref().unwrap())).len(), missed.len() + 2);
}

#[test]
fn a_client_that_comes_back_during_the_call_follows_it_to_the_end() {
    let server = Server::start();
    let client = Client::begin(&server);
    let mut stream = client.post(slow(1, 2.0));
    stream.event().unwrap();
    let seen = stream.event().unwrap();
    drop(stream);
    let rest = events(client.resume(seen.id.as_ref().unwrap()));
    assert_eq!(server.calls("tool", "complete"), 1);
    assert_eq!(text(&message(rest.last().unwrap())), "Slept for 2 s");
    assert!(rest.len() > 2);
}

#[test]
fn a_stream_that_the_server_closes_is_taken_up_again() {
    let server = Server::start();
    let client = Client::begin(&server);
    let closed = events(client.post(call(1, "test_reconnection", json!({}))));
    assert_eq!(closed.len(), 1, "only the place to come back to: {closed:?}");
    assert!(closed[0].data.is_empty() && closed[0].retry.is_some());
    let rest = events(client.resume(closed[0].id.as_ref().unwrap()));
    let rest: Vec<Value> = rest.iter().map(message).collect();
    assert_eq!(rest.len(), 1);
    assert_eq!(text(&rest[0]), "Reconnection test completed successfully");
}

#[test]
fn notifications_that_belong_to_no_request_can_be_taken_up_too() {
    let server = Server::start();
    let client = Client::begin(&server);
    let mut stream = client.listen();
    let primer = stream.event().unwrap();
    client.post(call(1, "test_trigger_tool_change", json!({}))).whole();
    let seen = stream.event().unwrap();
    assert_eq!(message(&seen)["method"], "notifications/tools/list_changed");
    drop(stream);
    client.post(call(2, "test_trigger_prompt_change", json!({}))).whole();
    let mut again = client.resume(seen.id.as_ref().unwrap());
    assert_eq!(again.message().unwrap()["method"], "notifications/prompts/list_changed");
    drop(again);
    let mut again = client.resume(primer.id.as_ref().unwrap());
    assert_eq!(again.message().unwrap()["method"], "notifications/tools/list_changed");
    assert_eq!(again.message().unwrap()["method"], "notifications/prompts/list_changed");
}

#[test]
fn clients_before_2025_11_25_get_no_event_without_data() {
    let server = Server::start();
    let client = Client::begin_at(&server, "2025-06-18");
    let all = events(client.post(slow(1, 0.5)));
    assert!(all.iter().all(|event| !event.data.is_empty()), "{all:?}");
    assert_eq!(text(&message(all.last().unwrap())), "Slept for 0.5 s");
}

#[test]
fn an_event_that_is_unknown_or_somebody_elses_cannot_be_taken_up() {
    let server = Server::start();
    let (client, other) = (Client::begin(&server), Client::begin(&server));
    let all = events(client.post(slow(1, 0.4)));
    let last = all.last().unwrap().id.clone().unwrap();
    for wrong in
        ["", "x", "1", "99-1", "1-9999", "-", "1-", "1-18446744073709551615", "1-99999999999999999999"]
    {
        let reply = client.resume(wrong).whole();
        assert_eq!(reply.status, 400, "{wrong}: {}", reply.text());
    }
    assert_eq!(other.resume(&last).whole().status, 400);
    assert_eq!(client.resume(&last).messages(), Vec::<Value>::new());
}
