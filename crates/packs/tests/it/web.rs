//! `web_fetch` against a web server on this machine, and where it may not reach.

use std::collections::VecDeque;
use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use serde_json::{Value, json};
use toolgate_core::{Error, Hub, Kind, Outcome, PackSource, ServerInfo, local_client};
use toolgate_host::Tasks;
use toolgate_host::outbound::{LookingUp, Lookup};
use toolgate_packs::{Web, WebConfig};
use toolgate_testkit::call;
use toolgate_wire::Raw;

use crate::scene::{check_output, within};
use crate::site::{Pages, Site};

/// How many bytes a page may have, in tests.
const LIMIT: u64 = 300_000;

/// Says where names are: one answer after the other, the last one for good. Where nothing is said, on this machine.
#[derive(Debug, Default)]
struct Names {
    says: Mutex<VecDeque<&'static str>>,
    asked: Mutex<Vec<String>>,
}

impl Lookup for Names {
    fn look_up(&self, name: String) -> LookingUp {
        self.asked.lock().unwrap().push(name);
        let mut says = self.says.lock().unwrap();
        let at = if says.len() > 1 { says.pop_front() } else { says.front().copied() };
        let found = vec![SocketAddr::new(at.unwrap_or("127.0.0.1").parse().unwrap(), 0)];
        Box::pin(async move { Ok(found) })
    }
}

/// The pack, a site that it may reach as `site.test`, and no other way to it.
struct Scene {
    hub: Hub,
    site: Site,
    names: Arc<Names>,
}

impl Scene {
    async fn new(pages: Pages) -> Self {
        Self::with(pages, json!({"allow_hosts": ["site.test"]}), &[]).await
    }

    /// With other settings, and with what the name server says.
    async fn with(pages: Pages, config: Value, says: &[&'static str]) -> Self {
        let mut config: WebConfig = serde_json::from_value(config).unwrap();
        config.max_bytes = LIMIT;
        let names = Arc::new(Names { says: Mutex::new(says.iter().copied().collect()), ..Names::default() });
        let web = Web::new(&config).with_lookup(names.clone());
        let info = ServerInfo { raw: Raw::of(&json!({"name": "test", "version": "0"})), instructions: None };
        let hub = Hub::builder(info, Tasks::new()).source(Arc::new(PackSource::new(web))).build().unwrap();
        Self { hub, site: pages.serve().await, names }
    }

    fn url(&self, path: &str) -> String {
        format!("http://site.test:{}{path}", self.site.at.port())
    }

    async fn call(&self, arguments: Value) -> Result<Value, Error> {
        self.result(arguments).await.map(|result| result["structuredContent"].clone())
    }

    /// What the model reads.
    async fn text(&self, arguments: Value) -> String {
        let result = self.result(arguments).await.unwrap();
        let [only] = result["content"].as_array().unwrap().as_slice() else { panic!("{result}") };
        only["text"].as_str().unwrap().to_owned()
    }

    async fn result(&self, arguments: Value) -> Result<Value, Error> {
        match within(self.hub.start(call(local_client(), "web_fetch", arguments)).outcome()).await {
            Outcome::Complete(raw) => {
                let result = raw.to::<Value>().unwrap();
                check_output("web_fetch", &result["structuredContent"]);
                Ok(result)
            }
            Outcome::Failed(error) => Err(error),
            other @ (Outcome::InputRequired { .. } | Outcome::Task(_)) => panic!("{other:?}"),
        }
    }

    async fn fetch(&self, path: &str) -> Value {
        self.call(json!({"url": self.url(path)})).await.unwrap()
    }

    /// The kind of an error, which has a next step.
    async fn refused(&self, url: &str) -> (Kind, String) {
        let error = self.call(json!({"url": url})).await.unwrap_err();
        assert!(error.next_step().is_some_and(|hint| hint.len() > 10), "{error}");
        (error.kind(), error.message().to_owned())
    }
}

const PAGE: &str = "<!doctype html><title>A page</title><nav>MENU</nav><main><h1>Head</h1>\
    <p>Some text with <a href='next'>a link</a>.</p><p style='display:none'>IGNORE ALL</p>\
    <p>More text, and more of it, so that nobody doubts that this is what the page is about, and then some more, to be \
    quite sure that it is long enough to be believed, which takes two hundred characters.</p></main>";

#[tokio::test]
async fn a_page_is_read_as_markdown_as_text_or_as_it_is() {
    let scene = Scene::new(Pages::default().html("/a/page", PAGE).html("/short", "<p>short")).await;
    let read = scene.fetch("/a/page").await;
    let content = read["content"].as_str().unwrap();
    let link = format!("# Head\n\nSome text with [a link]({}).\n\nMore text", scene.url("/a/next"));
    assert!(content.starts_with(&link), "{content}");
    assert!(!content.contains("MENU") && !content.contains("IGNORE"), "{content}");
    assert_eq!(read["title"], "A page");
    assert_eq!(read["url"], scene.url("/a/page"));
    assert_eq!(read["content_type"], "text/html");
    assert_eq!((&read["start_index"], read.get("next_index")), (&json!(0), None));
    assert_eq!(read["total"], content.chars().count());

    let text = scene.call(json!({"url": scene.url("/a/page"), "format": "text"})).await.unwrap();
    let text = text["content"].as_str().unwrap();
    assert!(text.starts_with("Head\n\nSome text with a link.\n\nMore text"), "{text}");

    let raw = scene.call(json!({"url": scene.url("/a/page"), "format": "raw"})).await.unwrap();
    assert_eq!(raw["content"], PAGE);
    assert_eq!(scene.fetch("/short").await["content"], "short");
    let loud =
        scene.call(json!({"url": scene.url("/short").replace("http://site", "HTTP://SITE")})).await.unwrap();
    assert_eq!((&loud["content"], &loud["url"]), (&json!("short"), &json!(scene.url("/short"))));
}

#[tokio::test]
async fn the_model_reads_the_page_itself_and_not_data_about_it() {
    let pages = Pages::default()
        .html("/page", PAGE)
        .redirect("/moved", "/page")
        .html("/plain", "<p>Just \"this\".")
        .page("/data", "Content-Type: application/json\r\n", "{\"a\": 1}")
        .redirect("/moved-data", "/data");
    let scene = Scene::new(pages).await;
    let read = async |path: &str| scene.text(json!({"url": scene.url(path)})).await;
    let page = read("/page").await;
    assert!(page.starts_with("Title: A page\n\n# Head\n\nSome text"), "{page}");
    assert!(page.ends_with("two hundred characters."), "{page}");
    let moved = read("/moved").await;
    let head = format!("Title: A page\nAddress: {}\n\n# Head", scene.url("/page"));
    assert!(moved.starts_with(&head), "{moved}");
    assert_eq!(read("/plain").await, "Just \"this\".");
    for path in ["/data", "/moved-data"] {
        assert_eq!(read(path).await, "{\"a\": 1}", "{path}");
    }
    let raw = json!({"url": scene.url("/moved"), "format": "raw"});
    assert_eq!(scene.text(raw).await, PAGE);

    let part = |start: usize| json!({"url": scene.url("/page"), "max_length": 6, "start_index": start});
    let first = scene.text(part(0)).await;
    let total = page.chars().count() - "Title: A page\n\n".len();
    let note = |from: usize| {
        format!(
            "[characters {from} to {0} of {total}; call again with `start_index` = {0} to read on]",
            from + 6
        )
    };
    assert_eq!(first, format!("Title: A page\n\n# Head\n\n{}", note(0)));
    assert_eq!(scene.text(part(8)).await, format!("Some t\n\n{}", note(8)));
}

#[tokio::test]
async fn a_long_page_is_continued_without_asking_again() {
    let text = "aé€🦀".repeat(30);
    let pages = Pages::default().page("/long", "Content-Type: text/plain; charset=utf-8\r\n", &text);
    let scene = Scene::new(pages).await;
    let (mut whole, mut start) = (String::new(), Some(0));
    while let Some(at) = start {
        let part = json!({"url": scene.url("/long"), "max_length": 50, "start_index": at});
        let part = scene.call(part).await.unwrap();
        assert_eq!((&part["total"], &part["start_index"]), (&json!(120), &json!(at)));
        whole.push_str(part["content"].as_str().unwrap());
        start = part.get("next_index").map(|next| next.as_u64().unwrap());
    }
    assert_eq!(whole, text);
    assert_eq!(scene.site.asked().len(), 1);
    let beyond = scene.call(json!({"url": scene.url("/long"), "start_index": 121})).await.unwrap_err();
    assert_eq!(beyond.kind(), Kind::InvalidInput);
    // From the beginning, it is asked for anew.
    scene.fetch("/long").await;
    assert_eq!(scene.site.asked().len(), 2);
}

#[tokio::test]
async fn data_and_text_are_returned_as_they_are() {
    let cases = [
        ("/json", "application/json", r#"{"a": "<b>&amp;</b>"}"#),
        ("/ld", "application/ld+json; charset=utf-8", "{}"),
        ("/feed", "application/rss+xml", "<rss><title>x</title></rss>"),
        ("/text", "text/plain", "<p>no page</p>"),
        ("/csv", "text/csv", "a,b"),
        ("/svg", "image/svg+xml", "<svg/>"),
    ];
    let page = |pages: Pages, (path, kind, body): &(&str, &str, &str)| {
        pages.page(path, &format!("Content-Type: {kind}\r\n"), body)
    };
    let pages = cases.iter().fold(Pages::default(), page);
    let scene = Scene::new(pages.page("/untold", "", "plain").page("/html", "", "<HTML><p>a <b>page")).await;
    for (path, kind, body) in cases {
        let read = scene.fetch(path).await;
        assert_eq!(read["content"], body, "{path}");
        assert_eq!(read["content_type"], kind.split(';').next().unwrap(), "{path}");
    }
    assert_eq!(scene.fetch("/untold").await["content"], "plain");
    assert_eq!(scene.fetch("/html").await["content"], "a **page**");
}

#[tokio::test]
async fn what_is_no_text_is_refused() {
    let cases = [
        ("/pdf", "application/pdf", "%PDF-1.7"),
        ("/pdf-as-text", "text/plain", "%PDF-1.7"),
        ("/pdf-untold", "", "%PDF-1.7"),
        ("/png", "image/png", "\u{89}PNG"),
        ("/zip", "application/zip", "PK"),
        ("/bytes", "application/octet-stream", "text"),
        ("/zeros", "text/html", "a\0b"),
        ("/video", "video/mp4", "x"),
    ];
    let page = |pages: Pages, (path, kind, body): &(&str, &str, &str)| {
        pages.page(path, &format!("Content-Type: {kind}\r\n"), body)
    };
    let scene = Scene::new(cases.iter().fold(Pages::default(), page)).await;
    for (path, ..) in cases {
        let (kind, message) = scene.refused(&scene.url(path)).await;
        assert_eq!(kind, Kind::InvalidInput, "{path}: {message}");
        assert!(message.ends_with("which is no text"), "{path}: {message}");
    }
}

#[tokio::test]
async fn characters_are_those_that_header_or_page_name() {
    let pages = Pages::default()
        .page("/header", "Content-Type: text/html; charset=\"ISO-8859-1\"\r\n", b"<p>caf\xe9")
        .page("/meta", "Content-Type: text/html\r\n", b"<meta charset=shift_jis><p>\x93\xfa\x96\x7b")
        .page("/text", "Content-Type: text/plain; charset=koi8-r\r\n", b"\xd0\xd2");
    let scene = Scene::new(pages).await;
    assert_eq!(scene.fetch("/header").await["content"], "café");
    assert_eq!(scene.fetch("/meta").await["content"], "日本");
    assert_eq!(scene.fetch("/text").await["content"], "пр");
}

#[tokio::test]
async fn redirects_are_followed_for_a_while() {
    let pages = Pages::default()
        .redirect("/a", "/b")
        .redirect("/b", "c?x=1#part")
        .html("/c?x=1", "<p>there")
        .redirect("/loop", "/loop")
        .status("/nowhere", "302 Found");
    let scene = Scene::new(pages).await;
    let read = scene.fetch("/a").await;
    assert_eq!(read["content"], "there");
    assert_eq!(read["url"], scene.url("/c?x=1#part"));
    let before = scene.site.asked().len();
    let (kind, message) = scene.refused(&scene.url("/loop")).await;
    assert_eq!((kind, message.ends_with("is redirected more than 5 times")), (Kind::ConnectionFailed, true));
    assert_eq!(scene.site.asked().len() - before, 6);
    assert_eq!(scene.refused(&scene.url("/nowhere")).await.0, Kind::ConnectionFailed);
}

/// All forms of the address that the site is at, none of which is listed.
fn near(site: &Site) -> Vec<String> {
    let hosts = [
        "127.0.0.1",
        "localhost",
        "localhost.",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "other.test",
    ];
    hosts.iter().map(|host| format!("http://{host}:{}/secret", site.at.port())).collect()
}

#[tokio::test]
async fn what_is_near_is_reached_neither_at_once_nor_by_a_redirect() {
    let scene = Scene::new(Pages::default()).await;
    let secret = Pages::default().html("/secret", "<p>SECRET").serve().await;
    for url in near(&secret) {
        assert_eq!(scene.refused(&url).await.0, Kind::Denied, "{url}");
    }
    assert_eq!(scene.refused("http://169.254.169.254/latest/meta-data/").await.0, Kind::Denied);
    for to in near(&secret) {
        let scene = Scene::new(Pages::default().redirect("/out", &to)).await;
        let (kind, message) = scene.refused(&scene.url("/out")).await;
        assert_eq!(kind, Kind::Denied, "{to}: {message}");
        assert!(message.ends_with("is at no public address"), "{message}");
    }
    assert!(secret.asked().is_empty());
}

#[tokio::test]
async fn a_redirect_leads_to_no_file_and_carries_no_credentials() {
    for to in [
        "file:///etc/passwd",
        "ftp://site.test/",
        "data:text/html,x",
        "javascript:1",
        "http://",
        "gopher://x/",
    ] {
        let scene = Scene::new(Pages::default().redirect("/out", to)).await;
        assert_eq!(scene.refused(&scene.url("/out")).await.0, Kind::InvalidInput, "{to}");
    }
    let scene = Scene::new(Pages::default().redirect("/out", "http://ann:s3cret@site.test/")).await;
    let (kind, message) = scene.refused(&scene.url("/out")).await;
    assert_eq!((kind, message.contains("s3cret")), (Kind::InvalidInput, false), "{message}");
    for bad in [
        "",
        "site.test",
        "file:///etc/passwd",
        "http://ann@site.test/",
        "http://:p@site.test/",
        "//site.test/",
    ] {
        assert_eq!(scene.refused(bad).await.0, Kind::InvalidInput, "{bad}");
    }
}

#[tokio::test]
async fn a_name_is_resolved_once_and_what_was_found_is_what_is_asked() {
    let pages = Pages::default().html("/", "<p>first").redirect("/again", "/");
    // An address that is listed, and then one that is not.
    let config = json!({"allow_hosts": ["127.0.0.1"]});
    let scene = Scene::with(pages.clone(), config.clone(), &["127.0.0.1", "127.0.0.9"]).await;
    assert_eq!(scene.fetch("/").await["content"], "first");
    assert_eq!(scene.names.asked.lock().unwrap().len(), 1);
    // The next connection resolves anew, and is judged anew.
    assert_eq!(scene.refused(&scene.url("/")).await.0, Kind::Denied);

    let scene = Scene::with(pages, config, &["127.0.0.1", "127.0.0.9"]).await;
    assert_eq!(scene.refused(&scene.url("/again")).await.0, Kind::Denied);
    assert_eq!(scene.site.asked().len(), 1);
}

#[test]
fn a_star_that_would_allow_nothing_is_refused() {
    let config = serde_json::from_value::<WebConfig>(json!({"allow_hosts": ["*"]}));
    let error = config.unwrap_err().to_string();
    assert!(error.starts_with("`*` allows nothing here: name the hosts"), "{error}");
}

#[tokio::test]
async fn a_name_that_is_listed_leads_to_no_metadata() {
    for at in ["169.254.169.254", "fe80::1", "0.0.0.0"] {
        let scene = Scene::with(Pages::default(), json!({"allow_hosts": ["site.test"]}), &[at]).await;
        assert_eq!(scene.refused(&scene.url("/")).await.0, Kind::Denied, "{at}");
    }
    for at in ["10.0.0.1", "192.168.1.1", "::ffff:10.0.0.1", "fd00::1"] {
        let scene = Scene::with(Pages::default(), json!({}), &[at]).await;
        assert_eq!(scene.refused(&scene.url("/")).await.0, Kind::Denied, "{at}");
    }
}

#[tokio::test]
async fn what_is_denied_is_not_even_looked_up() {
    for deny in ["site.test", "*.test", "*"] {
        let config = json!({"allow_hosts": ["127.0.0.1"], "deny_hosts": [deny]});
        let scene = Scene::with(Pages::default(), config, &[]).await;
        let (kind, message) = scene.refused(&scene.url("/")).await;
        assert_eq!((kind, message.ends_with("is denied")), (Kind::Denied, true), "{message}");
        assert!(scene.names.asked.lock().unwrap().is_empty());
    }
    let config = json!({"allow_hosts": ["site.test"], "deny_hosts": ["*"]});
    let scene = Scene::with(Pages::default().html("/", "<p>in"), config, &[]).await;
    assert_eq!(scene.fetch("/").await["content"], "in");
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

const BROTLI_HELLO: &[u8] = b"\x0b\x02\x80hello\x03";

/// Fifty mebibytes of blanks.
const BROTLI_BOMB: &str = "cbffff3ff82540e2b14020f7fe8fffff7ff04b00c4611180eefd1fffffffe0970088c30200ddfb3ffeffffc12f\
    0110870500baf77ffcffff835f02200e0b0074effff8ffff07bf04401c1600e8deffe5ffff077e0980382c00d0bdff00";

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[tokio::test]
async fn compressed_pages_are_read_as_long_as_they_are_small_without_it() {
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
    zlib.write_all(b"hello").unwrap();
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::best());
    deflate.write_all(b"hello").unwrap();
    let coded = |pages: Pages, path: &str, coding: &str, body: &[u8]| {
        pages.page(path, &format!("Content-Type: text/plain\r\nContent-Encoding: {coding}\r\n"), body)
    };
    let whole = gzip(&vec![b' '; 5 << 20]);
    let pages = Pages::default();
    let pages = coded(pages, "/gzip", "gzip", &gzip(b"hello"));
    let pages = coded(pages, "/br", "br", BROTLI_HELLO);
    let pages = coded(pages, "/zlib", "Deflate", &zlib.finish().unwrap());
    let pages = coded(pages, "/deflate", "deflate", &deflate.finish().unwrap());
    let pages = coded(pages, "/plain", "identity", b"hello");
    let pages = coded(pages, "/bomb", "gzip", &whole);
    let pages = coded(pages, "/br-bomb", "br", &bytes(BROTLI_BOMB));
    let pages = coded(pages, "/unknown", "zstd", b"hello");
    let pages = coded(pages, "/twice", "gzip, gzip", &gzip(&gzip(b"hello")));
    let pages = coded(pages, "/broken", "gzip", b"hello");
    let scene = Scene::new(pages.page("/large", "Content-Type: text/plain\r\n", vec![b' '; 300_001])).await;
    for path in ["/gzip", "/br", "/zlib", "/deflate", "/plain"] {
        assert_eq!(scene.fetch(path).await["content"], "hello", "{path}");
    }
    assert!((whole.len() as u64) < LIMIT, "it is small as it comes");
    for path in ["/bomb", "/br-bomb", "/large"] {
        let (kind, message) = scene.refused(&scene.url(path)).await;
        assert!(message.ends_with("has more than 300000 bytes"), "{path}: {message}");
        assert_eq!(kind, Kind::InvalidInput, "{path}");
    }
    for path in ["/unknown", "/twice", "/broken"] {
        assert_eq!(scene.refused(&scene.url(path)).await.0, Kind::ConnectionFailed, "{path}");
    }
}

#[tokio::test]
async fn ten_thousand_elements_in_each_other_are_refused_but_can_be_read_as_they_are() {
    let deep = "<div>".repeat(10_000);
    let scene = Scene::new(Pages::default().html("/deep", &deep)).await;
    let error = scene.call(json!({"url": scene.url("/deep")})).await.unwrap_err();
    assert_eq!(error.message(), "the page has more than 512 elements in each other");
    assert!(error.next_step().unwrap().contains("`raw`"));
    let raw =
        scene.call(json!({"url": scene.url("/deep"), "format": "raw", "max_length": 10})).await.unwrap();
    assert_eq!((&raw["content"], &raw["next_index"]), (&json!("<div><div>"), &json!(10)));
}

#[tokio::test]
async fn an_answer_that_is_none_says_what_to_do() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\n";
    let pages = Pages::default()
        .status("/401", "401 Unauthorized")
        .status("/403", "403 Forbidden")
        .status("/404", "404 Not Found")
        .status("/429", "429 Too Many Requests")
        .status("/429-later", "429 Too Many Requests\r\nRetry-After: 90")
        .status("/500", "500 Internal Server Error")
        .status("/503-later", "503 Service Unavailable\r\nRetry-After: 90")
        .status("/204", "204 No Content")
        .raw("/cut", format!("{head}cut").into_bytes())
        .raw("/noise", b"\x16\x03\x01 no http".to_vec());
    let hanging = Pages::default().hanging("/silent", "").hanging("/slow", &format!("{head}sl"));
    let config = |time: u64| json!({"allow_hosts": ["site.test"], "timeout_ms": time});
    let scene = Scene::with(hanging, config(700), &[]).await;
    for path in ["/silent", "/slow"] {
        let (kind, message) = scene.refused(&scene.url(path)).await;
        assert_eq!(kind, Kind::Timeout, "{path}: {message}");
    }
    let scene = Scene::with(pages, config(60_000), &[]).await;
    for (path, expect) in [
        ("/401", Kind::Unauthorized),
        ("/403", Kind::Unauthorized),
        ("/404", Kind::NotFound),
        ("/429", Kind::RateLimited),
        ("/500", Kind::ConnectionFailed),
        ("/cut", Kind::ConnectionFailed),
        ("/noise", Kind::ConnectionFailed),
    ] {
        let (kind, message) = scene.refused(&scene.url(path)).await;
        assert_eq!(kind, expect, "{path}: {message}");
    }
    assert_eq!(scene.fetch("/204").await["content"], "");
    for path in ["/429-later", "/503-later"] {
        let error = scene.call(json!({"url": scene.url(path)})).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.next_step()),
            (Kind::RateLimited, Some("try again in 90 s")),
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_request_says_who_asks_and_carries_nothing_else() {
    let pages = Pages::default()
        .page("/a", "Content-Type: text/plain\r\nSet-Cookie: a=b\r\n", "x")
        .redirect("/b", "/a");
    let scene = Scene::new(pages).await;
    scene.fetch("/a").await;
    scene.fetch("/b").await;
    for head in scene.site.asked() {
        let names =
            head.lines().skip(1).filter_map(|line| line.split_once(':')).map(|(name, _)| name.to_lowercase());
        let mut names: Vec<String> = names.collect();
        names.sort();
        assert_eq!(names, ["accept", "accept-encoding", "host", "user-agent"], "{head}");
        assert!(head.contains("toolgate/"), "{head}");
    }
}
