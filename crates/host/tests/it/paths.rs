//! What a caller may write as a path.

use toolgate_host::RelPath;

use crate::scene::kind;

#[track_caller]
fn check(text: &str, expect: &str) {
    let parsed = RelPath::parse(text, "workspace").unwrap();
    assert_eq!(parsed.to_string(), expect, "{text:?}");
    assert_eq!(RelPath::parse(&parsed.to_string(), "workspace").unwrap(), parsed);
}

#[track_caller]
fn refuse(text: &str, expect: &str) {
    assert_eq!(kind(&RelPath::parse(text, "workspace")), expect, "{text:?}");
}

#[test]
fn a_file_has_one_name_however_it_is_written() {
    check("notes.md", "notes.md");
    check("/workspace/notes.md", "notes.md");
    check("/workspace//notes.md", "notes.md");
    check("./notes.md", "notes.md");
    check("a/./b", "a/b");
    check("a//b/", "a/b");
    check("workspace/notes.md", "workspace/notes.md");
    check(r"a\..\b", r"a\..\b");
    check("Grüße/日本.md", "Grüße/日本.md");
    check("...", "...");
    check(" a ", " a ");
    check(&"x".repeat(255), &"x".repeat(255));
}

#[test]
fn the_root_has_several_names() {
    for text in ["", ".", "./", "/workspace", "/workspace/", "/workspace/.", ".//."] {
        check(text, "");
        assert!(RelPath::parse(text, "workspace").unwrap().is_root());
    }
}

#[test]
fn what_leads_out_or_cannot_be_a_path_is_refused() {
    refuse("/etc/passwd", "outside");
    refuse("/", "outside");
    refuse("//workspace/a", "outside");
    refuse("/workspace-evil/x", "outside");
    refuse("/workspaces", "outside");
    refuse("/Workspace/a", "outside");
    refuse("/workspace/../etc/passwd", "invalid");
    refuse("..", "invalid");
    refuse("a/../../b", "invalid");
    refuse("a/../b", "invalid");
    refuse("a/..", "invalid");
    refuse("a\0b", "invalid");
    refuse(&"x".repeat(256), "invalid");
    refuse(&"x/".repeat(3_000), "invalid");
    refuse(".toolgate-tmp-1", "invalid");
    refuse("a/.toolgate-tmp-1/b", "invalid");
}

#[test]
fn without_a_mount_every_absolute_path_is_refused() {
    assert_eq!(kind(&RelPath::parse("/a", "")), "outside");
    assert_eq!(kind(&RelPath::parse("//a", "")), "outside");
    assert_eq!(RelPath::parse("a", "").unwrap().as_str(), "a");
}

#[test]
fn a_message_says_that_two_dots_are_never_allowed_and_shows_no_control_characters() {
    let error = RelPath::parse("a/../b\n\u{1b}[31m", "workspace").unwrap_err().to_string();
    assert!(error.contains("not even where it would stay inside"), "{error}");
    assert!(!error.contains(char::is_control), "{error}");
    let error = RelPath::parse(&"/x".repeat(1_000), "workspace").unwrap_err().to_string();
    assert!(error.len() < 200, "{error}");
}

#[test]
fn paths_are_put_together_and_taken_apart() {
    let path = RelPath::parse("a/b", "").unwrap();
    assert_eq!(path.file_name(), Some("b"));
    assert_eq!(path.parent().unwrap().as_str(), "a");
    assert_eq!(path.parent().unwrap().parent().unwrap(), RelPath::root());
    assert_eq!(RelPath::root().parent(), None);
    assert_eq!(RelPath::root().file_name(), None);
    assert_eq!(path.join("c/d").unwrap().as_str(), "a/b/c/d");
    assert_eq!(RelPath::root().join("c").unwrap().as_str(), "c");
    assert_eq!(kind(&path.join("../c")), "invalid");
    assert_eq!(kind(&RelPath::root().join("/c")), "outside");
}
