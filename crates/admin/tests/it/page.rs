//! The files of the page.

use std::io::Read as _;

use toolgate_admin::{AdminConfig, Reach};

use crate::stage::Stage;

#[tokio::test]
async fn the_page_comes_packed_and_comes_once() {
    let stage = Stage::new();
    let plain = stage.ask("GET", "").at("/admin").send().await;
    assert_eq!((plain.status, plain.header("content-type")), (200, "text/html; charset=utf-8"));
    assert_eq!((plain.header("cache-control"), plain.header("vary")), ("no-cache", "Accept-Encoding"));
    let packed = stage.ask("GET", "").at("/admin").header("accept-encoding", "br, gzip").send().await;
    assert_eq!(packed.header("content-encoding"), "gzip");
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(&packed.body[..]).read_to_end(&mut text).unwrap();
    assert_eq!(text, plain.body);
    let tag = packed.header("etag");
    assert_eq!(tag, plain.header("etag"));
    let again = stage.ask("GET", "").at("/admin").header("if-none-match", tag).send().await;
    assert_eq!((again.status, again.body.len()), (304, 0));
    let other = stage.ask("GET", "").at("/admin").header("if-none-match", "\"x\"").send().await;
    assert_eq!(other.status, 200);
}

#[tokio::test]
async fn the_page_has_one_address_and_nothing_beside_its_files() {
    let stage = Stage::new();
    let slash = stage.ask("GET", "").at("/admin/").send().await;
    assert_eq!((slash.status, slash.header("location")), (308, "/admin"));
    for path in ["/admin/nothing", "/admin/../x", "/admin/%2e%2e", "/admin//"] {
        assert_eq!(stage.ask("GET", "").at(path).send().await.status, 404, "{path}");
    }
    assert_eq!(stage.ask("POST", "").at("/admin").send().await.status, 405);
    assert_eq!(stage.ask("HEAD", "").at("/admin").send().await.status, 200);
    let foreign = stage.ask("GET", "").at("/admin").header("host", "evil.example").send().await;
    assert_eq!(foreign.status, 421);
}

#[tokio::test]
async fn a_page_that_is_switched_off_is_not_there() {
    let stage = Stage::new();
    for (path, expect) in
        [("/admin", true), ("/admin/api/x", true), ("/administrator", false), ("/mcp", false)]
    {
        assert_eq!(stage.admin.has(path), expect, "{path}");
    }
    stage.admin.set(&AdminConfig { enabled: false, ..AdminConfig::default() }, &Reach::default());
    assert!(!stage.admin.has("/admin") && !stage.admin.has("/admin/api/session"));
}
