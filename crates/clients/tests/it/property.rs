//! Random documents: what we write we can take back, and nothing else moves.

use proptest::prelude::*;
use proptest::sample::select;
use toolgate_clients::{Action, Client};

use crate::scene::{NAME, Scene, lean, local};

/// Blanks, line breaks and comments as people leave them between tokens.
fn gap() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "",
        "",
        " ",
        "  ",
        "\t",
        "\n",
        "\n  ",
        "\r\n\t",
        "/* c */",
        "/* // } , */",
        "// l, \"x\": {\n",
        "// /* l\r\n",
        "/*\n*/",
    ]);
    prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

fn scalar() -> impl Strategy<Value = String> {
    select(vec![
        "1",
        "-0.5e3",
        "true",
        "null",
        "\"\"",
        "\"a\\\"b\"",
        "\"// no }\"",
        "\"é\\u00e9\"",
        "12345678901234567890123",
    ])
    .prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = String> {
    scalar().prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            object(
                select(vec!["\"a\"", "\"b c\"", "\"toolgate\"", "\"mcpServers\""]).prop_map(str::to_owned),
                inner.clone()
            ),
            (prop::collection::vec((gap(), inner, gap()), 0..3), any::<bool>()).prop_map(|(items, comma)| {
                let items: Vec<String> =
                    items.into_iter().map(|(a, value, b)| format!("{a}{value}{b}")).collect();
                let trailing = if comma && !items.is_empty() { "," } else { "" };
                format!("[{}{trailing}]", items.join(","))
            }),
        ]
    })
}

/// An object with these properties, each name once.
fn object(
    name: impl Strategy<Value = String>,
    value: impl Strategy<Value = String>,
) -> impl Strategy<Value = String> {
    (prop::collection::vec((gap(), name, gap(), gap(), value, gap()), 0..4), gap(), any::<bool>()).prop_map(
        |(properties, end, comma)| {
            let mut names = Vec::new();
            let mut written = Vec::new();
            for (a, name, b, c, value, d) in properties {
                if !names.contains(&name) {
                    written.push(format!("{a}{name}{b}:{c}{value}{d}"));
                    names.push(name);
                }
            }
            let trailing = if comma && !written.is_empty() { "," } else { "" };
            format!("{{{}{trailing}{end}}}", written.join(","))
        },
    )
}

/// A document with or without a list of servers, which has or has not our entry.
fn document() -> impl Strategy<Value = String> {
    let names = || select(vec!["\"a\"", "\"b\"", "\"é\"", "\"toolgate\""]).prop_map(str::to_owned);
    let servers =
        object(names(), object(select(vec!["\"command\"", "\"x\""]).prop_map(str::to_owned), value()));
    let root = (
        object(select(vec!["\"a\"", "\"z\""]).prop_map(str::to_owned), value()),
        servers,
        gap(),
        any::<u8>(),
    );
    let root = root.prop_map(|(rest, servers, gap, way)| match way % 4 {
        0 => rest,
        1 => format!("{{{gap}\"mcpServers\"{gap}:{servers}{gap}}}"),
        2 if !rest.contains(':') => format!("{{\"mcpServers\":{servers}}}"),
        2 => format!("{{{gap}\"mcpServers\":{servers},{}", &rest[1..]),
        _ => format!("{{{gap}\"q\": [1, 2,],\n  \"mcpServers\":{gap}{servers},}}"),
    });
    (select(vec!["", "\u{feff}"]), gap(), root, gap())
        .prop_map(|(bom, a, root, b)| format!("{bom}{a}{root}{b}"))
}

/// The longest beginning and the longest end that two texts share cover all of the shorter one.
fn is_one_insertion_apart(short: &str, long: &str) -> bool {
    let same = |one: &mut dyn Iterator<Item = u8>, other: &mut dyn Iterator<Item = u8>| {
        one.zip(other).take_while(|(one, other)| one == other).count()
    };
    let start = same(&mut short.bytes(), &mut long.bytes());
    let end = same(&mut short.bytes().rev(), &mut long.bytes().rev());
    start + end >= short.len()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn written_and_undone_is_as_before(before in document()) {
        let scene = Scene::new(Client::Cursor, &before);
        let had = scene.read().unwrap().entry(NAME).is_some();
        let others: Vec<_> = scene.read().unwrap().entries().iter().filter(|entry| entry.name != NAME).cloned().collect();
        scene.set(&local());
        let now: Vec<_> = scene.read().unwrap().entries().iter().filter(|entry| entry.name != NAME).cloned().collect();
        prop_assert_eq!(&others, &now);
        prop_assert_eq!(scene.read().unwrap().entry(NAME).unwrap().server.clone(), Some(local()));
        prop_assert_eq!(scene.set(&local()), Action::Nothing);
        scene.set(&lean());
        prop_assert_eq!(scene.undo(), Action::Restore);
        prop_assert_eq!(scene.content(), &*before);
        prop_assert_eq!(scene.undo(), if had { Action::Remove } else { Action::Nothing });
    }

    #[test]
    fn an_insertion_moves_no_other_byte(before in document()) {
        let scene = Scene::new(Client::Cursor, &before);
        if scene.read().unwrap().entry(NAME).is_none() {
            scene.set(&local());
            let after = scene.content();
            // A comma may come before a comment that the entry comes after: then it is two insertions.
            let one = is_one_insertion_apart(&before, &after);
            let two = (0..=before.len()).filter(|at| before.is_char_boundary(*at)).any(|at| {
                is_one_insertion_apart(&format!("{},{}", &before[..at], &before[at..]), &after)
            });
            prop_assert!(one || two, "{before:?}\n{after:?}");
        }
    }

    #[test]
    fn taken_out_without_a_backup_nothing_else_is_lost(before in document()) {
        let scene = Scene::new(Client::Cursor, &before);
        if scene.read().unwrap().entry(NAME).is_some() {
            let others: Vec<_> = scene.read().unwrap().entries().iter().filter(|entry| entry.name != NAME).cloned().collect();
            scene.undo();
            let file = scene.read().unwrap();
            prop_assert_eq!(file.entries(), &others[..]);
            let after = scene.content();
            let mut rest = before.chars();
            prop_assert!(after.chars().all(|letter| rest.any(|other| other == letter)), "only cuts: {after:?}");
        }
    }
}
