//! Files that are odd, broken, or not there.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use toolgate_config::{Loader, Origin};

use crate::support::{environment, folder, in_folder, read, refusal};

#[track_caller]
fn check_port(bytes: impl AsRef<[u8]>, port: u16) {
    assert_eq!(read(bytes, &[]).unwrap().http.port, port);
}

#[test]
fn an_odd_file_is_read_all_the_same() {
    check_port("", 3000);
    check_port("\n# nothing yet\n", 3000);
    check_port("\u{feff}[http]\nport = 1\n", 1);
    check_port("[http]\r\nport = 1\r\n", 1);
    check_port("[http]\nport = 0x10", 16);
    check_port("http.port = 1", 1);
}

#[test]
fn lines_are_counted_alike_with_a_byte_order_mark_and_with_carriage_returns() {
    let expect = "toolgate.toml:3:1: unknown key `http.prot`\nhint: did you mean `http.port`?";
    for text in ["\n[http]\nprot = 1", "\u{feff}\n[http]\nprot = 1", "\r\n[http]\r\nprot = 1\r\n"] {
        assert_eq!(refusal(text, &[]), expect);
    }
}

#[test]
fn a_column_counts_characters() {
    insta::assert_snapshot!(refusal("log = { 'ä' = 1, x = 2 }", &[]), @r#"
    toolgate.toml:1:9: unknown key `log."ä"`
    hint: valid keys: `level`, `format`, `timestamps`
    toolgate.toml:1:18: unknown key `log.x`
    hint: valid keys: `level`, `format`, `timestamps`
    "#);
}

#[track_caller]
fn named(folder: &TempDir, path: &Path) -> String {
    in_folder(&Loader::new().file(Some(path)).load().unwrap_err(), folder)
}

#[test]
fn a_named_file_must_be_there() {
    let folder = folder("");
    insta::assert_snapshot!(named(&folder, &folder.path().join("none.toml")), @r"
    flag `--config`: there is no file `none.toml`
    hint: see whether the path is right; without one, `toolgate.toml` of the working folder is read
    ");
    let path = folder.path().join("none.toml");
    let variables = environment(&[("TOOLGATE_CONFIG", path.to_str().unwrap())]);
    let error = Loader::new().environment(&variables).load().unwrap_err();
    assert_eq!(error.problems()[0].origin(), Some(&Origin::Variable("TOOLGATE_CONFIG".into())));
}

#[test]
fn a_folder_is_not_a_file() {
    let folder = folder("");
    let inner = folder.path().join("conf.d");
    fs::create_dir(&inner).unwrap();
    insta::assert_snapshot!(named(&folder, &inner), @r"
    flag `--config`: `conf.d` is a folder, not a file
    hint: name the file in it: `conf.d/toolgate.toml`
    ");
    fs::create_dir(inner.join("toolgate.toml")).unwrap();
    let error = Loader::new().discover(&inner, None).load().unwrap_err();
    assert!(error.to_string().contains("is a folder"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_device_is_not_a_file_and_a_link_to_nowhere_is_not_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    insta::assert_snapshot!(named(&folder, Path::new("/dev/null")), @r"
    flag `--config`: `/dev/null` is not a regular file
    hint: write the configuration to a file first
    ");
    std::os::unix::fs::symlink("nowhere", folder.path().join("toolgate.toml")).unwrap();
    let error = Loader::new().discover(folder.path(), None).load().unwrap_err();
    insta::assert_snapshot!(in_folder(&error, &folder), @r"
    `toolgate.toml` is a link that leads nowhere
    hint: mend the link, or remove it
    ");
}

#[test]
fn a_large_file_is_refused() {
    let line = "# a comment of thirty-two bytes\n";
    insta::assert_snapshot!(refusal(line.repeat(10 * 1024 * 1024 / line.len()), &[]), @r"
    `toolgate.toml` is larger than 1 MiB
    hint: a configuration is a few kilobytes; see whether this is the right file
    ");
    read(line.repeat(1024 * 1024 / line.len()), &[]).unwrap();
}

#[test]
fn a_file_in_another_encoding_is_refused_where_it_begins() {
    insta::assert_snapshot!(refusal(b"[http]\nbind = \"caf\xE9\"\n", &[]), @r"
    toolgate.toml:2:12: invalid UTF-8
    hint: save the file as UTF-8
    ");
    insta::assert_snapshot!(refusal(b"\xFF\xFE[\0h\0", &[]), @r"
    toolgate.toml:1:1: invalid UTF-8
    hint: save the file as UTF-8; this looks like UTF-16
    ");
}

#[test]
fn deep_nesting_is_refused_and_not_followed() {
    let brackets = format!("x = {}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(refusal(brackets, &[]).starts_with("toolgate.toml:1:"));
    let tables = format!("x = {}", "{ a = ".repeat(100_000));
    assert!(refusal(tables, &[]).starts_with("toolgate.toml:1:"));
    let dotted = format!("{}a = 1", "a.".repeat(400_000));
    assert!(refusal(dotted, &[]).starts_with("toolgate.toml:1:"));
    let header = format!("[{}a]", "a.".repeat(400_000));
    assert!(refusal(header, &[]).starts_with("toolgate.toml:1:"));
}

#[test]
fn a_long_line_takes_no_time() {
    let list = format!("packs = [{}]", "\"ä\",".repeat(200_000));
    assert_eq!(read(list, &[]).unwrap().packs.unwrap().len(), 200_000);
}
