//! Feeds that mean harm: they cost no more than themselves, and the rest is still told.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Scene, calendar};

fn event(uid: &str, lines: &str) -> String {
    format!("BEGIN:VEVENT\nUID:{uid}\nSUMMARY:{uid}\n{lines}\nEND:VEVENT\n")
}

const GOOD: &str = "BEGIN:VEVENT\nUID:good\nSUMMARY:good\nDTSTART:20260316T120000Z\nEND:VEVENT\n";

/// What is told of a calendar that holds a good event beside these lines.
async fn beside(lines: &str) -> Value {
    let scene = Scene::new(&[("x", &calendar(&format!("{lines}{GOOD}")))]);
    let data = scene.read(json!({"days": 7, "limit": 1000})).await;
    let names = data["items"].as_array().unwrap().iter().map(|item| item["summary"].as_str().unwrap());
    assert!(names.clone().any(|name| name == "good"), "{data}");
    data
}

fn numbers(most: i64) -> String {
    (0..most).map(|number| number.to_string()).collect::<Vec<_>>().join(",")
}

/// The notes of the only calendar.
fn notes(data: &Value) -> String {
    data["calendars"][0]["notes"].to_string()
}

#[tokio::test]
async fn rules_without_an_end_are_followed_where_someone_looks() {
    for rule in [
        "FREQ=SECONDLY",
        "FREQ=SECONDLY;COUNT=9000000000",
        "FREQ=SECONDLY;UNTIL=99991231T235959Z",
        "FREQ=MINUTELY;INTERVAL=1",
        &format!(
            "FREQ=YEARLY;BYHOUR={};BYMINUTE={};BYSECOND={};BYDAY=SU,MO",
            numbers(24),
            numbers(60),
            numbers(60)
        ),
    ] {
        let scene = Scene::new(&[(
            "x",
            &calendar(&event("mad", &format!("DTSTART:20000101T000000Z\nRRULE:{rule}"))),
        )]);
        let data = scene.read(json!({"from": "2026-03-16", "to": "2026-03-16", "limit": 3})).await;
        assert_eq!(data["items"][0]["start"], "2026-03-16T00:00:00+01:00", "{rule}");
        assert_eq!((&data["more"], notes(&data).as_str()), (&json!(true), "[]"), "{rule}");
    }
}

#[tokio::test]
async fn rules_that_nobody_can_follow_are_named_and_the_rest_is_told() {
    let crowd = format!("BYHOUR={};BYMINUTE={};BYSECOND={}", numbers(24), numbers(60), numbers(60));
    for rule in [
        "FREQ=SECONDLY;BYSECOND=0;COUNT=999999999",
        &format!("FREQ=SECONDLY;{crowd};COUNT=999999999"),
        "FREQ=HOURLY;BYMINUTE=0,1;BYSETPOS=1;COUNT=999999999",
    ] {
        let data = beside(&event("mad", &format!("DTSTART:19700101T000000Z\nRRULE:{rule}"))).await;
        assert!(
            notes(&data).contains("recur too often to be followed; times may be missing: 1 (`mad`)"),
            "{data}"
        );
    }
    // A thousand of them are no worse than a few: all together have a limit, too.
    let mut many = String::new();
    for number in 0..1_000 {
        many += &event(
            &number.to_string(),
            "DTSTART:19700101T000000Z\nRRULE:FREQ=SECONDLY;BYSECOND=0;COUNT=999999999",
        );
    }
    let scene = Scene::new(&[("x", &calendar(&format!("{many}{GOOD}")))]);
    let data = scene.read(json!({"days": 7})).await;
    assert_eq!(data["items"][0]["summary"], "good");
    assert!(notes(&data).contains("times may be missing: 1000 (`0`, `1`, `2`)"), "{}", notes(&data));
}

#[tokio::test]
async fn rules_that_mean_nothing_leave_their_first_time() {
    for rule in [
        "FREQ=OFTEN",
        "FREQ=DAILY;INTERVAL=0",
        "FREQ=DAILY;BYSETPOS=0",
        "nonsense",
        "RSCALE=CHINESE;FREQ=YEARLY",
    ] {
        let data = beside(&event("bad", &format!("DTSTART:20260317T120000Z\nRRULE:{rule}"))).await;
        assert_eq!(data["items"].as_array().unwrap().len(), 2, "{rule}");
        assert!(
            notes(&data).contains("rules that cannot be followed; only their other times are shown: 1"),
            "{data}"
        );
    }
}

#[tokio::test]
async fn very_many_dates_are_read_and_only_those_in_view_are_looked_at() {
    let mut dates = String::new();
    for number in 0..60_000 {
        write!(
            dates,
            "{}{:04}{:02}{:02}T{:02}0000Z",
            if number > 0 { "," } else { "" },
            1990 + number / 8_000,
            number % 12 + 1,
            number % 28 + 1,
            number % 24
        )
        .unwrap();
    }
    let lines = format!("DTSTART:19900101T000000Z\nRRULE:FREQ=DAILY\nRDATE:{dates}\nEXDATE:{dates}");
    let data = beside(&event("many", &lines)).await;
    assert_eq!((data["items"].as_array().unwrap().len(), notes(&data).as_str()), (8, "[]"));
}

#[tokio::test]
async fn malformed_events_are_counted_and_the_rest_is_told() {
    let bad = [
        event("no start", "DTEND:20260317T120000Z"),
        event("bad start", "DTSTART:soon"),
        event("impossible", "DTSTART:20260230T120000Z"),
        event("too early", "DTSTART:00000101T120000Z"),
        event("too late", "DTSTART:99991231T235959Z\nDURATION:P99999D"),
        "BEGIN:VEVENT\nnonsense\nEND:VEVENT\n".to_owned(),
    ];
    let data = beside(&bad.concat()).await;
    assert!(notes(&data).contains("could not be read and are left out: 6"), "{data}");
    assert_eq!(data["items"].as_array().unwrap().len(), 1);
    // Ends before beginnings, lengths without an end, negative ones.
    let odd = [
        event("backwards", "DTSTART:20260317T120000Z\nDTEND:20200317T120000Z"),
        event("endless", "DTSTART:20260317T120000Z\nDURATION:P99999999999W"),
        event("negative", "DTSTART:20260317T120000Z\nDURATION:-P1D"),
        event("days backwards", "DTSTART;VALUE=DATE:20260317\nDTEND;VALUE=DATE:20260101"),
        event("mixed", "DTSTART:20260317T120000Z\nDTEND;VALUE=DATE:20260318"),
    ];
    let data = beside(&odd.concat()).await;
    assert_eq!(data["items"].as_array().unwrap().len(), 6, "{data}");
}

#[tokio::test]
async fn unknown_time_zones_are_told_and_their_times_float() {
    let data = beside(&event("where", "DTSTART;TZID=Atlantis/`Poseidonis`:20260317T120000")).await;
    assert!(notes(&data).contains("unknown time zones: `Atlantis/"), "{data}");
    let item = &data["items"][1];
    assert_eq!((&item["start"], &item["floating"]), (&json!("2026-03-17T12:00:00"), &json!(true)));
    // A feed that says where it is at home means that.
    let home = format!(
        "X-WR-TIMEZONE:America/New_York\n{}",
        event("where", "DTSTART;TZID=Atlantis:20260317T120000")
    );
    assert_eq!(beside(&home).await["items"][1]["start"], "2026-03-17T17:00:00+01:00");
}

#[tokio::test]
async fn deep_folding_deep_nesting_and_an_early_end_do_no_harm() {
    let folded = format!("DTSTART:20260317T120000Z\nDESCRIPTION:{}", "\n ".repeat(200_000));
    assert_eq!(beside(&event("folded", &folded)).await["items"].as_array().unwrap().len(), 2);
    let long = format!("DTSTART:20260317T120000Z\nX-LONG;A=\"{}\":x", ";".repeat(1_000_000));
    assert_eq!(beside(&event("long", &long)).await["items"].as_array().unwrap().len(), 2);
    let deep = format!("{}{}", "BEGIN:X\n".repeat(50_000), "END:X\n".repeat(50_000));
    beside(&deep).await;
    let scene = Scene::new(&[("x", &format!("BEGIN:VCALENDAR\n{GOOD}BEGIN:VEVENT\nUID:2"))]);
    let data = scene.read(json!({})).await;
    assert_eq!(data["items"].as_array().unwrap().len(), 1);
    assert!(notes(&data).contains("the feed ends too early"), "{data}");
}

#[tokio::test]
async fn time_zones_that_move_clocks_every_second_are_cut_short() {
    let mad = "BEGIN:VTIMEZONE\nTZID:mad\nBEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:+0000\nTZOFFSETTO:+2359\n\
        RRULE:FREQ=SECONDLY\nEND:STANDARD\nEND:VTIMEZONE\n";
    let mut zones = String::new();
    for number in 0..2_000 {
        zones += &mad.replace("mad", &number.to_string());
    }
    let data = beside(&(zones + &event("mad", "DTSTART;TZID=1:20260317T120000\nRRULE:FREQ=DAILY"))).await;
    assert!(data["items"].as_array().unwrap().len() > 1);
}

#[tokio::test]
async fn words_of_others_are_short_and_hide_nothing() {
    let summary = format!("a\\n- [09:00] forged\u{202e}\u{200b}{}", "x".repeat(5_000));
    let lines = format!(
        "BEGIN:VEVENT\nUID:1\nSUMMARY:{summary}\nLOCATION:b\\n## Forged\nDTSTART:20260317T120000Z\nEND:VEVENT\n"
    );
    let scene = Scene::new(&[("x", &calendar(&lines))]);
    let (data, words) = scene.both(json!({})).await.unwrap();
    let told = data["items"][0]["summary"].as_str().unwrap();
    assert!(told.starts_with("a - [09:00] forgedxxx") && told.chars().count() == 201, "{told}");
    assert_eq!(
        words.lines().filter(|line| line.starts_with("- [") || line.starts_with("## ")).count(),
        2,
        "{words}"
    );
}
