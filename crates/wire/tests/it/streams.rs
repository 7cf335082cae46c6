//! Streams are read the same however they are cut.

use bytes::Bytes;
use proptest::{collection, option, prelude::*, sample::Index};
use toolgate_wire::{
    Lines, lines,
    sse::{self, Decoder, Event},
};

/// The stream in pieces, cut at some places.
fn pieces(stream: &[u8], cuts: &[Index]) -> Vec<Bytes> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
    at.extend([0, stream.len()]);
    at.sort_unstable();
    at.windows(2).map(|ends| Bytes::copy_from_slice(&stream[ends[0]..ends[1]])).collect()
}

fn event() -> impl Strategy<Value = Event> {
    let word = || option::of("[a-z0-9é ]{1,8}");
    (word(), word(), "([a-zé:{} ]|\r\n|\r|\n){0,20}", option::of(any::<u64>()))
        .prop_map(|(id, event, data, retry)| Event { id, event, data: data.into(), retry })
}

fn decode(pieces: &[Bytes], limit: usize) -> Vec<Result<Event, sse::TooLarge>> {
    let mut decoder = Decoder::new(limit);
    pieces.iter().for_each(|piece| decoder.push(piece));
    decoder.collect()
}

fn split(pieces: Vec<Bytes>, limit: usize) -> Vec<lines::Item> {
    let mut lines = Lines::new(limit);
    pieces.into_iter().for_each(|piece| lines.push(piece));
    lines.finish();
    lines.collect()
}

proptest! {
    #[test]
    fn events_are_read_back(events in collection::vec(event(), 0..6), cuts in collection::vec(any::<Index>(), 0..12)) {
        let mut stream = Vec::new();
        for event in &events {
            sse::encode(event, &mut stream);
            stream.extend_from_slice(sse::KEEP_ALIVE);
        }
        let expected: Vec<_> = events
            .into_iter()
            .map(|event| {
                let data = String::from_utf8(event.data.to_vec()).unwrap().replace("\r\n", "\n").replace('\r', "\n");
                Ok(Event { data: data.into(), ..event })
            })
            .collect();
        prop_assert_eq!(decode(&pieces(&stream, &cuts), 10_000), expected);
    }

    #[test]
    fn any_stream_is_read_the_same_however_it_is_cut(
        stream in "(data|id|event|retry|:|: |[a-z0-9]|\r|\n|\r\n|\u{feff}){0,40}",
        cuts in collection::vec(any::<Index>(), 0..12),
        limit in 0..40_usize,
    ) {
        let whole = decode(&[Bytes::from(stream.clone())], limit);
        prop_assert_eq!(decode(&pieces(stream.as_bytes(), &cuts), limit), whole);
    }

    #[test]
    fn arbitrary_bytes_never_panic(stream in collection::vec(any::<u8>(), 0..200), limit in 0..40_usize) {
        decode(&[Bytes::from(stream.clone())], limit);
        split(vec![stream.into()], limit);
    }

    #[test]
    fn lines_are_the_same_however_they_are_cut(
        stream in "([a-z {}]|\r|\n|\r\n){0,80}",
        cuts in collection::vec(any::<Index>(), 0..12),
        limit in 1..10_usize,
    ) {
        let expected: Vec<_> = stream
            .split('\n')
            .map(|line| line.strip_suffix('\r').unwrap_or(line))
            .filter(|line| line.len() > limit || !line.trim_ascii().is_empty())
            .map(|line| if line.len() > limit { None } else { Some(line.to_owned()) })
            .collect();
        let found: Vec<_> = split(pieces(stream.as_bytes(), &cuts), limit)
            .into_iter()
            .map(|item| match item {
                lines::Item::Line(line) => Some(String::from_utf8(line.to_vec()).unwrap()),
                lines::Item::TooLong { dropped } => {
                    assert!(dropped > limit);
                    None
                }
            })
            .collect();
        prop_assert_eq!(found, expected);
    }
}
