//! Cases of URIs that can be read in more ways than one.

use super::*;

#[test]
fn a_uri_is_read_as_a_source_may_read_it() {
    #[track_caller]
    fn check(uri: &str, expect: &[&str]) {
        assert_eq!(readings(uri).whole, expect, "{uri:?}");
    }
    for plain in
        ["file:///etc/passwd", "note:a", "x", "", ":", "a:é/é", "file:///My Docs/a", "https://a.example:81/b"]
    {
        check(plain, &[]);
        assert_eq!(readings(plain), Readings::default(), "{plain}");
    }
    check("file:///docs/../etc/passwd", &["file:///etc/passwd"]);
    check("file:///../../etc/passwd", &["file:///etc/passwd"]);
    check("file:///docs/./a", &["file:///docs/a"]);
    check("file:///docs//a", &["file:///docs/a"]);
    check("FILE:///a", &["file:///a"]);
    check("file:///%2e%2e/etc", &["file:///etc"]);
    check("file:///a%252fb", &["file:///a/b"]);
    check("file:///a%2", &[]);
    check("file:///a\\..\\b", &["file:///b"]);
    check("file:///etc/x/..", &["file:///etc/"]);
    check("file:///./etc/", &["file:///etc/"]);
    check("docs://host/a/../b", &["docs://host/b"]);
    check("docs://README", &["docs://readme"]);
    // What parsers drop.
    check("file:///docs/.\t./.\t./etc/passwd", &["file:///etc/passwd"]);
    check("fi\nle:///e\rtc/\0passwd", &["file:///etc/passwd"]);
    check(" \u{1f}file:///etc/passwd\u{1} ", &["file:///etc/passwd"]);
    check("config://sec%09ret%20", &["config://secret"]);
    // What goes without saying.
    check("file:/etc/passwd", &["file:///etc/passwd"]);
    check("file:etc/passwd", &["file:///etc/passwd"]);
    check("file://LocalHost/etc/passwd", &["file:///etc/passwd"]);
    check("file://localhost:80/a", &[]);
    check("https://A.example.:443/b", &["https://a.example/b"]);
    check("https:\\a.example:/b", &["https://a.example/b"]);
    check("ws:////a.example:080/b", &["ws://a.example/b"]);
    check("http://a.example:443/b", &[]);
    check("x://a:443/b", &[]);
    // To a file a nameless part is none, to a URL it is one that `..` ends.
    check("file:///a//../b", &["file:///a/b", "file:///b"]);
    // Dots behind a path undo nothing for who knows where it ends.
    check("file:///a/../b?/../../a/c", &["file:///a/c", "file:///b?/../../a/c"]);
    check("file:///a/../b%23/../../a/c", &["file:///a/c", "file:///b#/../../a/c"]);
}

#[test]
fn what_surrounds_a_path_can_be_left_out() {
    #[track_caller]
    fn check(uri: &str, expect: &[&str]) {
        assert_eq!(readings(uri).less, expect, "{uri:?}");
    }
    check("config://secret?x", &["config://secret"]);
    check("config://secret#", &["config://secret"]);
    check("config://secret%3fx", &["config://secret", "config://secret?x"]);
    check("x://h/secret?y/../z", &["x://h/secret"]);
    check("https://me:key@a.example/b", &["https://a.example/b"]);
    check(
        "https://me@a.example/b?c",
        &["https://a.example/b", "https://a.example/b?c", "https://me@a.example/b"],
    );
    check("x://me@a/b", &[]);
}

#[test]
fn a_host_can_be_passed_over_or_taken_for_a_part_of_the_path() {
    #[track_caller]
    fn check(uri: &str, reading: &str, expect: bool) {
        let Readings { whole, less } = readings(uri);
        assert!(!whole.contains(&reading.to_owned()), "{uri:?}: lists that let through see it too");
        assert_eq!(less.contains(&reading.to_owned()), expect, "{uri:?}: {less:?}");
    }
    check("file://any.example/etc/passwd", "file:///etc/passwd", true);
    check("file://any.example%2fetc/x", "file:///etc/x", true);
    check("file://x/../etc/passwd", "file:///etc/passwd", true);
    check("FILE:\\\\x\\etc\\passwd", "file:///etc/passwd", true);
    check("config://docs/../secret", "config://secret", true);
    check("config://docs/%2e%2e/secret", "config://secret", true);
    check("config://docs/..?/x", "config://", true);
    check("config://./secret", "config://secret", true);
    check("config://a/b/../../Secret?x", "config://Secret", true);
    check("config://a/b/../../Secret?x", "config://secret", true);
    check("config://docs/secret", "config://secret", false);
    check("https://a.example/../b", "https://b", false);
}
