//! Frames: read without a panic, written so that they are read back.

use bytes::Bytes;
use proptest::{collection, prelude::*};
use toolgate_wire::{Frame, Id, Message, Raw, code, parse, write};

use crate::json::{json, object, text, written};

fn id() -> impl Strategy<Value = Id> {
    prop_oneof![any::<u64>().prop_map(Id::number), text().prop_map(|text| Id::text(&text))]
}

fn one(frame: Bytes) -> Message {
    let frame = parse(frame);
    assert!(matches!(frame, Ok(Frame::One(_))), "{frame:?}");
    let Ok(Frame::One(message)) = frame else { unreachable!() };
    message
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(text in collection::vec(any::<u8>(), 0..200)) {
        if let Err(refusal) = parse(text.into()) {
            prop_assert!([code::PARSE, code::INVALID_REQUEST].contains(&refusal.code));
        }
    }

    #[test]
    fn arbitrary_json_never_panics((_, text) in written(json())) {
        if let Err(refusal) = parse(text.into()) {
            prop_assert_eq!(refusal.code, code::INVALID_REQUEST);
        }
    }

    #[test]
    fn requests_are_read_back(id in id(), method in text(), (_, params) in written(object())) {
        let params = Raw::parse(params.into()).unwrap();
        let frame = write::request(&id, &method, &params);
        let Message::Request(request) = one(frame.clone()) else { panic!("a request") };
        prop_assert_eq!(request.id.as_str(), id.as_str());
        prop_assert_eq!(&*request.method, &*method);
        prop_assert_eq!(request.params.as_ref(), Some(&params));
        let line = write::one_line(frame);
        prop_assert!(!line.contains(&b'\n') && !line.contains(&b'\r'));
        let Message::Request(again) = one(line) else { panic!("a request") };
        let same = again.params.map(|again| toolgate_wire::canonical(&again)) == Some(toolgate_wire::canonical(&params));
        prop_assert!(same);
    }

    #[test]
    fn answers_are_read_back(id in id(), (_, body) in written(json()), message in text(), code in any::<i32>()) {
        let body = Raw::parse(body.into()).unwrap();
        let Message::Response(response) = one(write::result(&id, &body)) else { panic!("a response") };
        prop_assert_eq!((response.id, response.outcome), (Some(id.clone()), Ok(body.clone())));
        let frame = write::error(Some(&id), code, &message, Some(&body));
        let Message::Response(response) = one(frame) else { panic!("a response") };
        let error = response.outcome.unwrap_err();
        let written = error.get("message").unwrap();
        prop_assert_eq!(written.as_string(), Some(message.into()));
        prop_assert_eq!(error.get("data"), Some(body));
    }

    #[test]
    fn batches_are_read_back(methods in collection::vec(text(), 1..5)) {
        let frames: Vec<_> = methods.iter().map(|method| write::notification(method, None)).collect();
        let Ok(Frame::Batch(messages)) = parse(write::batch(&frames).unwrap()) else { panic!("a batch") };
        prop_assert_eq!(messages.len(), methods.len());
        prop_assert!(messages.iter().all(Result::is_ok));
    }
}
