//! `calendar_read`: calendars written by hand, invented ones that others have read before us, feeds that fail, and feeds
//! that mean harm.

mod cases;
mod feeds;
mod hostile;
mod oracle;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use toolgate_core::{Error, Hub, Kind, Outcome, PackSource, ServerInfo, local_client};
use toolgate_host::{Clock, Secret, Tasks};
use toolgate_packs::{Calendar, Unready};
use toolgate_testkit::call;
use toolgate_wire::Raw;

use crate::scene::{check_output, text, within};

/// What the clock says: 2026-03-16, a Monday, 08:00 in Berlin.
const NOW: u64 = 1_773_644_400_000;

/// The pack behind a hub, with calendars in a folder.
struct Scene {
    hub: Hub,
    clock: Clock,
    folder: TempDir,
}

impl Scene {
    /// Calendars that are files, by name.
    fn new(calendars: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut feeds = serde_json::Map::new();
        for (name, text) in calendars {
            let path = folder.path().join(format!("{name}.ics"));
            fs::write(&path, text).unwrap();
            feeds.insert((*name).to_owned(), json!({"file": path}));
        }
        Self::with(json!({"feeds": feeds, "time_zone": "Europe/Berlin"}), folder)
    }

    fn with(config: Value, folder: TempDir) -> Self {
        let clock = Clock::manual(NOW);
        let calendar = made(config, &clock).unwrap();
        let info = ServerInfo { raw: Raw::of(&json!({"name": "test", "version": "0"})), instructions: None };
        let hub =
            Hub::builder(info, Tasks::new()).source(Arc::new(PackSource::new(calendar))).build().unwrap();
        Self { hub, clock, folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The answer as data, and in words.
    async fn both(&self, arguments: Value) -> Result<(Value, String), Error> {
        match within(self.hub.start(call(local_client(), "calendar_read", arguments)).outcome()).await {
            Outcome::Complete(raw) => {
                let result: Value = raw.to().unwrap();
                let data = result["structuredContent"].clone();
                check_output("calendar_read", &data);
                Ok((data, text(&result).to_owned()))
            }
            Outcome::Failed(error) => Err(error),
            other @ (Outcome::InputRequired { .. } | Outcome::Task(_)) => panic!("{other:?}"),
        }
    }

    async fn read(&self, arguments: Value) -> Value {
        self.both(arguments).await.unwrap().0
    }

    async fn refused(&self, arguments: Value) -> (Kind, String) {
        let error = self.both(arguments).await.unwrap_err();
        (error.kind(), error.message().to_owned())
    }
}

fn made(config: Value, clock: &Clock) -> Result<Calendar, Unready> {
    let config = serde_json::from_value(config).unwrap();
    Calendar::at(&config, |text| Ok(Secret::new(text.into())), clock.clone())
}

/// Events as `[summary, start, end]`, in the order of their texts.
fn listed(data: &Value) -> Vec<[String; 3]> {
    let word = |item: &Value, name: &str| item[name].as_str().unwrap().to_owned();
    let triple = |item: &Value| [word(item, "summary"), word(item, "start"), word(item, "end")];
    let mut all: Vec<_> = data["items"].as_array().unwrap().iter().map(triple).collect();
    all.sort();
    all
}

/// A calendar around lines.
fn calendar(lines: &str) -> String {
    format!("BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//test//test\n{}\nEND:VCALENDAR\n", lines.trim())
        .replace('\n', "\r\n")
}

#[tokio::test]
async fn what_is_next_is_told_in_order_as_data_and_in_words() {
    let work = calendar(
        "BEGIN:VEVENT\nUID:1\nSUMMARY:Stand\\, up\nLOCATION:Room\\n1\nDTSTART;TZID=Europe/Berlin:20260302T093000\n\
         DTEND;TZID=Europe/Berlin:20260302T094500\nRRULE:FREQ=WEEKLY;BYDAY=MO,WE\nDESCRIPTION:Say it\\nshortly\n\
         URL:https://meet.example/x\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:2\nSUMMARY:Night shift\nSTATUS:TENTATIVE\nDTSTART:20260317T210000Z\nDTEND:20260318T050000Z\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:3\nSUMMARY:Pills\nDTSTART:20260317T080000\nEND:VEVENT",
    );
    let home = calendar(
        "BEGIN:VEVENT\nUID:1\nSUMMARY:Holiday\nDTSTART;VALUE=DATE:20260317\nDTEND;VALUE=DATE:20260320\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:2\nDTSTART;VALUE=DATE:20260318\nEND:VEVENT",
    );
    let scene = Scene::new(&[("work", &work), ("Home", &home)]);
    let (data, words) = scene.both(json!({"days": 2})).await.unwrap();
    assert_eq!(
        words,
        "Events from 2026-03-16 08:00 to 2026-03-18 08:00 (Europe/Berlin):\n\
         \n## Monday, March 16, 2026\n- [09:30-09:45] Stand, up (work)\n  Location: Room 1\n\
         \n## Tuesday, March 17, 2026\n- [All day, through Thursday, March 19] Holiday (Home)\n\
         - [08:00, floating] Pills (work)\n- [22:00-06:00 on Wednesday, March 18, tentative] Night shift (work)\n\
         \n## Wednesday, March 18, 2026\n- [All day] (no title) (Home)\n"
    );
    assert_eq!(data["from"], "2026-03-16T08:00:00+01:00");
    assert_eq!(data["to"], "2026-03-18T08:00:00+01:00");
    assert_eq!(data["time_zone"], "Europe/Berlin");
    assert_eq!(
        data["items"][0],
        json!({
            "calendar": "work", "summary": "Stand, up", "start": "2026-03-16T09:30:00+01:00",
            "end": "2026-03-16T09:45:00+01:00", "all_day": false, "floating": false, "recurring": true,
            "tentative": false, "location": "Room 1",
        })
    );
    let told = |item: usize, name: &str| data["items"][item][name].clone();
    assert_eq!(
        (told(1, "all_day"), told(1, "end"), told(1, "recurring")),
        (json!(true), json!("2026-03-19"), json!(false))
    );
    assert_eq!((told(2, "floating"), told(2, "start")), (json!(true), json!("2026-03-17T08:00:00")));
    assert_eq!(data["calendars"][1], json!({"name": "work", "events": 3, "notes": []}));

    let (data, words) = scene
        .both(json!({"calendar": "WORK", "from": "2026-03-18", "to": "2026-03-18", "details": true}))
        .await
        .unwrap();
    assert!(
        words.contains("  Link: https://meet.example/x\n  Description: Say it\n    shortly\n"),
        "{words}"
    );
    assert_eq!(data["items"][1]["description"], "Say it\nshortly");
    assert_eq!(data["calendars"].as_array().unwrap().len(), 1);
    let (_, words) = scene.both(json!({"from": "2026-03-21", "to": "2026-03-22"})).await.unwrap();
    assert_eq!(words, "No events from 2026-03-21 00:00 to 2026-03-23 00:00 (Europe/Berlin).\n");
}

#[tokio::test]
async fn the_time_zone_of_the_answer_is_the_callers_choice() {
    let text = calendar(
        "BEGIN:VEVENT\nUID:1\nSUMMARY:zoned\nDTSTART:20260317T233000Z\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:2\nSUMMARY:floating\nDTSTART:20260317T233000\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:3\nSUMMARY:day\nDTSTART;VALUE=DATE:20260317\nEND:VEVENT",
    );
    let scene = Scene::new(&[("x", &text)]);
    let asked = json!({"from": "2026-03-17", "to": "2026-03-17", "time_zone": "Asia/Tokyo"});
    let data = scene.read(asked).await;
    let expect =
        [["day", "2026-03-17", "2026-03-17"], ["floating", "2026-03-17T23:30:00", "2026-03-17T23:30:00"]];
    assert_eq!(listed(&data), expect.map(|item| item.map(str::to_owned)));
    let data = scene.read(json!({"from": "2026-03-18", "days": 1, "time_zone": "Tokyo Standard Time"})).await;
    assert_eq!(
        (&data["items"][0]["start"], &data["time_zone"]),
        (&json!("2026-03-18T08:30:00+09:00"), &json!("Asia/Tokyo"))
    );
}

#[tokio::test]
async fn what_cannot_be_asked_says_what_can() {
    let scene = Scene::new(&[("work", &calendar("")), ("Home", &calendar(""))]);
    let error = scene.both(json!({"calendar": "wrok"})).await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (Kind::NotFound, "there is no calendar of this name"));
    assert_eq!(error.next_step(), Some("use `Home` or `work`, or leave `calendar` out"));
    for (arguments, expect) in [
        (json!({"time_zone": "Mars/Olympus"}), "`time_zone` is not known"),
        (json!({"from": "soon"}), "`from` is no time"),
        (json!({"to": "2026-03-01"}), "`to` is not later than `from`"),
        (json!({"to": "2026-04-01", "days": 1}), "`to` and `days` are both given"),
    ] {
        assert_eq!(scene.refused(arguments).await, (Kind::InvalidInput, expect.to_owned()));
    }
    for arguments in [
        json!({"days": 0}),
        json!({"days": "7"}),
        json!({"limit": 0}),
        json!({"limit": 1001}),
        json!({"day": 1}),
    ] {
        assert_eq!(scene.refused(arguments).await.0, Kind::InvalidInput);
    }
}

#[tokio::test]
async fn a_long_answer_says_that_there_is_more() {
    let daily = |uid: &str| {
        format!(
            "BEGIN:VEVENT\nUID:{uid}\nSUMMARY:{uid}\nDTSTART:20260101T120000Z\nRRULE:FREQ=DAILY\nEND:VEVENT\n"
        )
    };
    let scene = Scene::new(&[("a", &calendar(&daily("one"))), ("b", &calendar(&daily("two")))]);
    let (data, words) = scene.both(json!({"days": 30, "limit": 3})).await.unwrap();
    let names: Vec<_> =
        data["items"].as_array().unwrap().iter().map(|item| item["summary"].as_str().unwrap()).collect();
    assert_eq!((names, &data["more"]), (vec!["one", "two", "one"], &json!(true)));
    assert!(words.contains("There are more events"), "{words}");
    assert_eq!(scene.read(json!({"days": 30, "limit": 60})).await["more"], false);
}

#[test]
fn what_is_configured_wrongly_is_told_without_the_address() {
    #[track_caller]
    fn check(config: Value, expect: &str) {
        let error = made(config, &Clock::manual(NOW)).unwrap_err().to_string();
        assert!(error.starts_with(expect) && !error.contains("sesame"), "{error}");
    }
    check(json!({}), "set `calendar.feeds.NAME.url`");
    check(json!({"time_zone": "Mars/Olympus"}), "`calendar.time_zone` is not known");
    check(json!({"feeds": {"x": {}}}), "`calendar.feeds.x` comes from nowhere");
    check(json!({"feeds": {"x": {"url": "https://h/sesame", "file": "x"}}}), "`calendar.feeds.x` has both");
    check(
        json!({"feeds": {"x": {"url": "http://h.example/sesame"}}}),
        "`calendar.feeds.x.url` is no address",
    );
    check(json!({"feeds": {"x": {"file": "/"}}}), "`calendar.feeds.x.file` is no path");
    check(json!({"feeds": {"x": {"file": "a"}, "X": {"file": "b"}}}), "`calendar.feeds.x` has the name");
    check(json!({"feeds": {"": {"file": "a"}}}), "`calendar.feeds.\"\"` has a name");
    check(json!({"feeds": {"a\nb": {"file": "a"}}}), "`calendar.feeds.\"a\nb\"` has a name");
}
