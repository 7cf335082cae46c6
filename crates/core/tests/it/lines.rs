//! What a call leaves in the log: facts at debug level, never what it was sent with.

use std::sync::{Arc, Once};

use serde_json::json;
use toolgate_core::{Call, Error, Kind, NewConnection, Outcome, Principal, Target, Transport};
use toolgate_testkit::{
    FakeFilter, FakeSource, Lines, builder, call, client_legacy, client_modern, drive, hub,
};
use toolgate_wire::Raw;
use tracing::Level;

const SECRET: &str = "hunter2-in-the-arguments";

/// Whoever logs first decides what is remembered of a place in the code; this listens to all, so that no test which
/// runs beside these makes them deaf.
static LISTENING: Once = Once::new();

/// Catches what is logged on this thread from this level on.
fn catch(level: Level) -> (Lines, tracing::subscriber::DefaultGuard) {
    LISTENING.call_once(|| drop(tracing::subscriber::set_global_default(tracing_subscriber::registry())));
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .finish();
    (lines, tracing::subscriber::set_default(subscriber))
}

/// A source whose tools fail in every way that quotes what they were sent.
fn quoting() -> Arc<FakeSource> {
    let source = [Kind::InvalidInput, Kind::FileNotFound, Kind::Denied, Kind::NotFound].into_iter().fold(
        FakeSource::new("quoting").echo("fine"),
        |source, kind| {
            source.tool(&format!("{kind:?}"), move |permitted, _| async move {
                let sent = permitted.arguments().as_str().to_owned();
                Err(Error::new(kind, format!("what is `{sent}`?"))
                    .hint(sent.clone())
                    .because(std::io::Error::other(sent)))
            })
        },
    );
    Arc::new(source)
}

#[tokio::test]
async fn a_call_is_logged_without_what_it_was_sent_with() {
    let (lines, _guard) = catch(Level::TRACE);
    let hub = hub([quoting()]);
    for tool in ["fine", "InvalidInput", "FileNotFound", "Denied", "NotFound", "unknown"] {
        for client in [client_legacy(), client_modern()] {
            drive(hub.start(call(client, tool, json!({"text": SECRET}))), []).await;
        }
    }
    let text = lines.text();
    assert!(!text.contains(SECRET), "{text}");
    for line in [
        "call begins target=\"tool\" name=fine principal=local",
        "call ended target=\"tool\" name=fine principal=local outcome=\"complete\" ms=0 success=true",
        "outcome=\"fileNotFound\"",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

#[tokio::test]
async fn the_name_of_a_target_passes_the_filters() {
    let (lines, _guard) = catch(Level::DEBUG);
    let hub = builder([quoting()]).filter(Box::new(FakeFilter::new(SECRET, "[hidden]"))).build().unwrap();
    let uri = Target::Resource(format!("http://x/?token={SECRET}").into());
    drive(hub.start(Call::new(Principal::local(), client_legacy(), uri, Raw::EMPTY_OBJECT)), []).await;
    let text = lines.text();
    assert!(text.contains("token=[hidden]") && !text.contains(SECRET), "{text}");
}

#[tokio::test]
async fn the_cause_of_our_own_failures_is_logged_and_filtered() {
    let (lines, _guard) = catch(Level::DEBUG);
    let source = FakeSource::new("a").tool("broken", |_, _| async {
        let cause = std::io::Error::other(format!("refused with {SECRET}"));
        Err::<Outcome, _>(Error::new(Kind::ConnectionFailed, "no connection").because(cause))
    });
    let hub =
        builder([Arc::new(source)]).filter(Box::new(FakeFilter::new(SECRET, "[hidden]"))).build().unwrap();
    drive(hub.start(call(client_legacy(), "broken", json!({}))), []).await;
    let text = lines.text();
    assert!(text.contains("refused with [hidden]") && !text.contains(SECRET), "{text}");
}

#[tokio::test]
async fn connections_are_logged_as_they_come_and_go() {
    let (lines, _guard) = catch(Level::DEBUG);
    let hub = hub::<FakeSource>([]);
    let new = NewConnection { transport: Transport::Http, principal: Principal::local(), process: None };
    drop(hub.connect(new));
    let text = lines.text();
    for line in
        ["connection opened connection=1 transport=Http principal=local", "connection closed connection=1"]
    {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

#[tokio::test]
async fn at_info_a_call_leaves_no_line() {
    let (lines, _guard) = catch(Level::INFO);
    let hub = hub([quoting()]);
    for tool in ["fine", "FileNotFound", "unknown"] {
        drive(hub.start(call(client_legacy(), tool, json!({"text": SECRET}))), []).await;
    }
    assert_eq!(lines.text(), "");
}
