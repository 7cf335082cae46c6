//! Lines of a log show no secret, whatever they are written in.

use std::io::Write as _;

use toolgate_secrets::{RedactingWriter, Redactor};

use crate::checker::assert_hidden;
use crate::samples::{REDACTOR, SECRETS, one};

fn written(redactor: &Redactor, parts: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = RedactingWriter::new(redactor.clone(), &mut out);
    for part in parts {
        writer.write_all(part).unwrap();
    }
    drop(writer);
    out
}

#[test]
fn lines_show_no_secret_plain_quoted_or_as_json() {
    for (name, secret) in SECRETS.iter() {
        for line in [
            format!("INFO x: read {secret} from a file\n"),
            format!("INFO x: read {secret:?}\n"),
            format!("INFO x: error={:?}\n", Some(format!("{secret:?}"))),
            format!("{}\n", serde_json::json!({"level": "INFO", "fields": {"message": secret}})),
            format!("{}\n", serde_json::json!({"fields": {"message": format!("{secret:?}")}})),
        ] {
            let out = written(&REDACTOR, &[line.as_bytes()]);
            assert_hidden(&out, secret);
            assert!(String::from_utf8_lossy(&out).contains(&format!("[REDACTED:{name}]")), "{line}");
            assert_eq!(line.starts_with('{'), serde_json::from_slice::<serde_json::Value>(&out).is_ok());
            assert!(out.ends_with(b"\n"));
        }
    }
}

#[test]
fn a_line_in_parts_is_one_line() {
    let redactor = one("TOKEN", "s3cr3t-t0ken");
    let check = |parts: &[&[u8]], expect: &str| {
        assert_eq!(String::from_utf8(written(&redactor, parts)).unwrap(), expect);
    };
    check(&[b"a s3cr3t", b"-t0ken\nb s3", b"cr3t-t0ken"], "a [REDACTED:TOKEN]\nb [REDACTED:TOKEN]");
    check(&[b"{\"a\":\"s3cr3t-t0ken\"}\n", b"{\"a\":1}\n"], "{\"a\":\"[REDACTED:TOKEN]\"}\n{\"a\":1}\n");
    check(&[b"", b"\n", b"x"], "\nx");
    assert_eq!(written(&redactor, &[b"\xff\xfe s3cr3t-t0ken\n"]), b"\xff\xfe [REDACTED:TOKEN]\n");
}

#[test]
fn json_lines_stay_json() {
    let redactor = one("PIN", "12345678");
    assert_eq!(written(&redactor, &[b"  {\"pin\":12345678}\n"]), b"{\"pin\":\"[REDACTED:PIN]\"}\n");
}

#[test]
fn flush_writes_what_has_no_end_yet() {
    let mut out = Vec::new();
    let mut writer = RedactingWriter::new(one("TOKEN", "s3cr3t-t0ken"), &mut out);
    writer.write_all(b"? s3cr3t-t0ken").unwrap();
    writer.flush().unwrap();
    writer.write_all(b"!").unwrap();
    drop(writer);
    assert_eq!(out, b"? [REDACTED:TOKEN]!");
}
