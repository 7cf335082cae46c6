//! What `sse` promises, case by case.

use super::*;

#[track_caller]
fn check(stream: &[u8], expect: &[&str]) {
    for cut in 0..=stream.len() {
        let mut decoder = Decoder::new(64);
        decoder.push(&stream[..cut]);
        decoder.push(&stream[cut..]);
        let found: Vec<String> = decoder.map(show).collect();
        assert_eq!(found, expect, "cut at {cut}");
    }
}

fn show(item: Result<Event, TooLarge>) -> String {
    let Ok(Event { id, event, data, retry }) = item else { return "too large".to_owned() };
    let data = String::from_utf8(data.to_vec()).unwrap();
    let retry = retry.map(|retry| retry.to_string());
    let part =
        |name: &str, value: Option<String>| value.map_or(String::new(), |value| format!(" {name}={value}"));
    format!("{data:?}{}{}{}", part("id", id), part("event", event), part("retry", retry))
}

#[test]
fn lines_end_in_three_ways() {
    check(b"data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d\n\r\n", &[r#""a""#, r#""b""#, r#""c""#, r#""d""#]);
}

#[test]
fn fields_are_read_as_the_standard_says() {
    check(b"data:a\ndata:  b\n\n", &[r#""a\n b""#]);
    check(b"data\n\n", &[r#""""#]);
    check(b"data\ndata\n\n", &[r#""\n""#]);
    check(
        b"id: 1\nevent: x\nretry: 10\ndata: a\nother: y\nDATA: b\n: comment\n\n",
        &[r#""a" id=1 event=x retry=10"#],
    );
    check(b"id\ndata: a\n\n", &[r#""a" id="#]);
    check(b"id: a\0b\ndata: a\n\n", &[r#""a""#]);
    check(b"retry: 1x\nretry:\ndata: a\n\n", &[r#""a""#]);
    check(b"event: x\n\ndata: a\n\n", &[r#""a""#]);
    check(b"event:\ndata: a\n\n", &[r#""a""#]);
}

#[test]
fn only_a_leading_byte_order_mark_is_ignored() {
    check(b"\xEF\xBB\xBFdata: a\n\n", &[r#""a""#]);
    check(b"\xEF\xBB\xBF\ndata: a\n\n", &[r#""a""#]);
    check(b"\n\xEF\xBB\xBFdata: a\n\n", &[]);
}

#[test]
fn what_is_left_at_the_end_is_no_event() {
    check(b"data: a\n\ndata: b\n", &[r#""a""#]);
    check(b"data: b", &[]);
    check(b"", &[]);
    check(KEEP_ALIVE, &[]);
}

#[test]
fn after_an_event_that_is_too_large_comes_the_next() {
    let long = "x".repeat(65);
    check(
        format!("data: a\n\ndata: {long}\ndata: b\n\ndata: c\n\n").as_bytes(),
        &[r#""a""#, "too large", r#""c""#],
    );
    let many = "data: 12345678\n".repeat(5);
    check(format!("{many}\r\ndata: c\r\n\r\n").as_bytes(), &["too large", r#""c""#]);
}

#[test]
fn that_an_event_is_too_large_is_known_before_it_ends() {
    let mut decoder = Decoder::new(8);
    let mut over = |chunk: &str| {
        decoder.push(chunk.as_bytes());
        decoder.is_over()
    };
    assert_eq!(["data: 12", "3", "4\n", "\n", "data"].map(&mut over), [false, true, true, false, false]);
}

#[test]
fn id_and_retry_stay_for_the_stream() {
    let mut decoder = Decoder::new(64);
    decoder.push(b"id: 7\nretry: 100\n\ndata: a\n\n");
    assert_eq!((decoder.last_id(), decoder.retry()), ("7", Some(100)));
    assert_eq!(decoder.next(), Some(Ok(Event::of("a".into()))));
    decoder.push(b"id\n\n");
    assert_eq!(decoder.last_id(), "");
}

#[test]
fn events_are_written_so_that_they_are_read_back() {
    #[track_caller]
    fn check(event: Event, expect: &str) {
        let mut out = Vec::new();
        encode(&event, &mut out);
        assert_eq!(str::from_utf8(&out), Ok(expect));
    }
    check(Event::of("{}".into()), "data: {}\n\n");
    check(Event::default(), "data: \n\n");
    check(Event::of("a\r\nb\rc\n".into()), "data: a\ndata: b\ndata: c\ndata: \n\n");
    let full =
        Event { id: Some("1".into()), event: Some("endpoint".into()), data: "/m".into(), retry: Some(3000) };
    check(full, "event: endpoint\nid: 1\nretry: 3000\ndata: /m\n\n");
    let unsafe_id = Event { id: Some("1\ndata: x".into()), ..Event::of("a".into()) };
    check(unsafe_id, "data: a\n\n");
}
