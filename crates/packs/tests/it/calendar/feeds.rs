//! Feeds by address: asked again only where they may have changed, reported one by one, and named nowhere.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_core::Kind;

use super::{Scene, calendar, listed};
use crate::site::{Pages, Site};

const ICS: &str = "Content-Type: text/calendar\r\n";

fn one(summary: &str) -> String {
    calendar(&format!("BEGIN:VEVENT\nUID:1\nSUMMARY:{summary}\nDTSTART:20260317T100000Z\nEND:VEVENT"))
}

/// Calendars by name, each at a path of a site.
fn scene(site: &Site, feeds: &[(&str, &str)]) -> Scene {
    within_ms(20_000, site, feeds)
}

/// The same, with as much time for each.
fn within_ms(time: u64, site: &Site, feeds: &[(&str, &str)]) -> Scene {
    let url = |path: &str| format!("http://127.0.0.1:{}{path}", site.at.port());
    let feeds: Value =
        feeds.iter().map(|(name, path)| ((*name).to_owned(), json!({"url": url(path)}))).collect();
    let config =
        json!({"feeds": feeds, "time_zone": "Europe/Berlin", "timeout_ms": time, "max_bytes": 100_000});
    Scene::with(config, tempfile::tempdir().unwrap())
}

#[tokio::test]
async fn a_feed_is_asked_for_anew_after_a_while_and_only_whether_it_changed() {
    let headers = format!("{ICS}ETag: \"one\"\r\nLast-Modified: Mon, 16 Mar 2026 06:00:00 GMT\r\n");
    let site = Pages::default().page("/sesame", &headers, one("first")).serve().await;
    let scene = scene(&site, &[("x", "/sesame")]);
    scene.read(json!({})).await;
    scene.read(json!({})).await;
    assert_eq!(site.asked().len(), 1);
    scene.clock.advance(Duration::from_secs(61));
    scene.read(json!({})).await;
    let asked = site.asked();
    assert_eq!(asked.len(), 2);
    let has = |head: &str, line: &str| head.to_lowercase().contains(line);
    assert!(!has(&asked[0], "if-none-match") && !has(&asked[0], "if-modified-since"), "{}", asked[0]);
    assert!(has(&asked[1], "if-none-match: \"one\""), "{}", asked[1]);
    assert!(has(&asked[1], "if-modified-since: mon, 16 mar 2026"), "{}", asked[1]);
    assert!(has(&asked[1], "accept: text/calendar"), "{}", asked[1]);
}

#[tokio::test]
async fn what_did_not_change_is_not_sent_again() {
    let site = Pages::default()
        .page("/sesame", &format!("{ICS}ETag: \"one\"\r\n"), one("first"))
        .when("/sesame", "if-none-match: \"one\"", "304 Not Modified")
        .serve()
        .await;
    let scene = scene(&site, &[("x", "/sesame")]);
    scene.read(json!({})).await;
    scene.clock.advance(Duration::from_secs(61));
    let data = scene.read(json!({})).await;
    assert_eq!((site.asked().len(), data["items"].as_array().unwrap().len()), (2, 1));
    assert_eq!(data["calendars"][0], json!({"name": "x", "events": 1, "notes": []}));
}

#[tokio::test]
async fn one_bad_feed_does_not_fail_the_others() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/calendar\r\nContent-Length: 99\r\n\r\n";
    let site = Pages::default()
        .page("/good-sesame", ICS, one("good"))
        .status("/401-sesame", "401 Unauthorized")
        .status("/404-sesame", "404 Not Found")
        .status("/500-sesame", "500 Internal Server Error")
        .status("/304-sesame", "304 Not Modified")
        .page("/html-sesame", "Content-Type: text/html\r\n", "<p>sign in")
        .page("/empty-sesame", ICS, "")
        .page("/large-sesame", ICS, vec![b' '; 100_001])
        .raw("/cut-sesame", format!("{head}BEGIN:VCALENDAR").into_bytes())
        .redirect("/out-sesame", "http://169.254.169.254/sesame")
        .redirect("/clear-sesame", "http://feed.invalid/sesame")
        .redirect("/file-sesame", "file:///etc/sesame")
        .redirect("/loop-sesame", "/loop-sesame")
        .serve()
        .await;
    let bad = [
        ("401", Kind::Unauthorized, "answered 401: its address or password is no longer good"),
        ("404", Kind::NotFound, "answered 404: its address is no longer good"),
        ("500", Kind::ConnectionFailed, "answered 500: its server has a problem of its own"),
        ("304", Kind::ConnectionFailed, "answered 304: that is no feed"),
        ("html", Kind::Upstream, "is no iCalendar feed"),
        ("empty", Kind::Upstream, "is no iCalendar feed"),
        ("large", Kind::InvalidInput, "has more than 100000 bytes"),
        ("cut", Kind::ConnectionFailed, "could not be reached, or broke off"),
        ("out", Kind::Denied, "leads to a host that is at no public address"),
        ("clear", Kind::Denied, "is redirected to an address without `https`"),
        ("file", Kind::ConnectionFailed, "is redirected to an address that cannot be asked"),
        ("loop", Kind::ConnectionFailed, "is redirected more than 5 times"),
    ];
    let paths: Vec<(&str, String)> =
        bad.iter().map(|(name, ..)| (*name, format!("/{name}-sesame"))).collect();
    let mut feeds: Vec<(&str, &str)> = paths.iter().map(|(name, path)| (*name, path.as_str())).collect();
    feeds.push(("good", "/good-sesame"));
    let scene = scene(&site, &feeds);
    let (data, words) = scene.both(json!({})).await.unwrap();
    assert_eq!(data["items"][0]["summary"], "good");
    for (name, kind, message) in bad {
        let told = data["calendars"].as_array().unwrap().iter().find(|told| told["name"] == name).unwrap();
        assert_eq!(told["error"], message, "{name}");
        assert!(words.contains(&format!("Calendar `{name}`: {message}.\n")), "{words}");
        // Alone, it is an error.
        let error = scene.both(json!({"calendar": name})).await.unwrap_err();
        assert_eq!((error.kind(), error.message()), (kind, format!("calendar `{name}`: {message}").as_str()));
        let whole =
            format!("{error:?} {error} {:?}", std::error::Error::source(&error).map(ToString::to_string));
        assert!(!whole.contains("sesame") && !whole.contains("127.0.0.1"), "{whole}");
    }
    assert!(!format!("{data}{words}").contains("sesame"), "{data}");
}

#[tokio::test]
async fn a_feed_that_does_not_come_in_time_is_given_up() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/calendar\r\nContent-Length: 99\r\n\r\n";
    let site = Pages::default().hanging("/slow-sesame", head).hanging("/silent-sesame", "").serve().await;
    let scene = within_ms(700, &site, &[("slow", "/slow-sesame"), ("silent", "/silent-sesame")]);
    for name in ["slow", "silent"] {
        let (kind, message) = scene.refused(json!({"calendar": name})).await;
        assert_eq!(kind, Kind::Timeout);
        assert_eq!(message, format!("calendar `{name}`: did not come in whole within 0.7 s"));
    }
}

#[tokio::test]
async fn a_feed_that_fails_later_is_shown_as_it_was() {
    let site = Pages::default()
        .page("/sesame", &format!("{ICS}ETag: \"one\"\r\n"), one("kept"))
        .when("/sesame", "if-none-match: \"one\"", "503 Service Unavailable")
        .serve()
        .await;
    let scene = scene(&site, &[("x", "/sesame")]);
    scene.read(json!({})).await;
    scene.clock.advance(Duration::from_secs(3600));
    let (data, words) = scene.both(json!({})).await.unwrap();
    assert_eq!(data["items"][0]["summary"], "kept");
    assert_eq!(data["calendars"][0]["as_of"], "2026-03-16T08:00:00+01:00");
    assert!(
        words
            .contains("`x`: answered 503: its server has a problem of its own; shown as of 2026-03-16T08:00"),
        "{words}"
    );
}

#[tokio::test]
async fn a_feed_that_fails_is_left_alone_for_a_minute() {
    let site = Pages::default().status("/sesame", "500 Internal Server Error").serve().await;
    let scene = scene(&site, &[("x", "/sesame")]);
    let first = scene.refused(json!({})).await;
    assert_eq!(scene.refused(json!({})).await, first);
    assert_eq!(site.asked().len(), 1);
    scene.clock.advance(Duration::from_secs(61));
    scene.refused(json!({})).await;
    assert_eq!(site.asked().len(), 2);
}

#[tokio::test]
async fn a_password_goes_to_its_own_server_and_no_further() {
    let other = Pages::default().page("/there", ICS, one("there")).serve().await;
    let to = format!("http://127.0.0.1:{}/there", other.at.port());
    let site = Pages::default()
        .redirect("/out", &to)
        .redirect("/in", "/here")
        .page("/here", ICS, one("here"))
        .serve()
        .await;
    let at = |path: &str| format!("http://an:s3same@127.0.0.1:{}{path}", site.at.port());
    let config = json!({"feeds": {"in": {"url": at("/in")}, "out": {"url": at("/out")}}, "time_zone": "UTC"});
    let scene = Scene::with(config, tempfile::tempdir().unwrap());
    let data = scene.read(json!({})).await;
    assert_eq!(listed(&data).iter().map(|item| item[0].as_str()).collect::<Vec<_>>(), ["here", "there"]);
    let has = |head: &str| head.to_lowercase().contains("authorization: basic");
    assert!(site.asked().iter().all(|head| has(head)) && site.asked().len() == 3);
    assert!(!has(&other.asked()[0]), "{:?}", other.asked());
}

#[tokio::test]
async fn a_file_is_read_as_it_is_now_and_only_if_it_is_one() {
    let scene = Scene::new(&[("x", &one("first"))]);
    assert_eq!(scene.read(json!({})).await["items"][0]["summary"], "first");
    fs::write(scene.path("x.ics"), one("second one")).unwrap();
    assert_eq!(scene.read(json!({})).await["items"][0]["summary"], "second one");
    fs::remove_file(scene.path("x.ics")).unwrap();
    // What was there is still told, with the reason.
    let data = scene.read(json!({})).await;
    assert_eq!(data["calendars"][0]["error"], "its file does not exist");
    assert_eq!(data["items"].as_array().unwrap().len(), 1);

    let scene = Scene::new(&[("link", ""), ("folder", ""), ("large", ""), ("none", ""), ("empty", "")]);
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret.ics"), one("outside")).unwrap();
    for name in ["link", "folder", "large", "none"] {
        fs::remove_file(scene.path(&format!("{name}.ics"))).unwrap();
    }
    std::os::unix::fs::symlink(outside.path().join("secret.ics"), scene.path("link.ics")).unwrap();
    fs::create_dir(scene.path("folder.ics")).unwrap();
    fs::write(scene.path("large.ics"), vec![b' '; (10 << 20) + 1]).unwrap();
    for (name, expect) in [
        ("link", (Kind::Denied, "calendar `link`: its file is a link that leads out of its folder")),
        ("folder", (Kind::InvalidInput, "calendar `folder`: its path is no file")),
        ("large", (Kind::InvalidInput, "calendar `large`: its file has more than 10485760 bytes")),
        ("none", (Kind::FileNotFound, "calendar `none`: its file does not exist")),
        ("empty", (Kind::Upstream, "calendar `empty`: is no iCalendar feed")),
    ] {
        let (kind, message) = scene.refused(json!({"calendar": name})).await;
        assert_eq!((kind, message.as_str()), expect);
    }
}

#[tokio::test]
async fn calls_at_once_all_get_an_answer() {
    let site = Pages::default().page("/sesame", ICS, one("x")).serve().await;
    let scene = scene(&site, &[("x", "/sesame")]);
    let answers = futures_util::future::join_all((0..20).map(|_| scene.read(json!({})))).await;
    assert!(answers.iter().all(|data| data["items"].as_array().unwrap().len() == 1));
}
