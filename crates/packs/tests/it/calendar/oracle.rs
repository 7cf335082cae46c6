//! The same calendars, read by programs of other people.

#![expect(clippy::disallowed_methods, reason = "it starts a peer, and finds it where the set-up put it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::cases::{CASES, FROM, TO, ZONE};
use super::{Scene, calendar, listed};

/// The seed of the invented calendars; at the desk, another one (`CALENDAR_SEED`) gives others.
const SEED: &str = "20261116";

/// How many are invented, of forty events each.
const COUNT: usize = 25;

type Listed = Vec<[String; 3]>;

/// What the script of the peers says.
fn script(arguments: &[&str]) -> String {
    let peers = match std::env::var_os("TOOLGATE_PEERS_DIR").filter(|dir| !dir.is_empty()) {
        Some(dir) => std::env::current_dir().unwrap().join(dir),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers"),
    };
    let python = peers.join(".venv/bin/python");
    assert!(
        python.is_file(),
        "the real peers are not installed; run `cargo xtask test`, which installs them"
    );
    let script: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers/calendars.py");
    let ended = Command::new(python).arg(script).args(arguments).output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8(ended.stdout).unwrap()
}

#[tokio::test]
async fn others_read_what_was_written_by_hand_in_the_same_way() {
    let folder = tempfile::tempdir().unwrap();
    for case in CASES {
        fs::write(folder.path().join(format!("{}.ics", case.name)), calendar(case.lines)).unwrap();
    }
    let said = script(&["expect", folder.path().to_str().unwrap(), FROM, TO, ZONE]);
    let said: BTreeMap<String, Listed> = serde_json::from_str(&said).unwrap();
    for case in CASES {
        let expect: Listed = case.expect.iter().map(|item| item.map(str::to_owned)).collect();
        match case.disputed {
            None => assert_eq!(said[case.name], expect, "{}", case.name),
            Some(why) => assert_ne!(said[case.name], expect, "{}: it is no longer so that {why}", case.name),
        }
    }
}

#[tokio::test]
async fn others_find_the_same_in_calendars_full_of_invented_rules() {
    let folder = tempfile::tempdir().unwrap();
    let seed = std::env::var("CALENDAR_SEED").unwrap_or_else(|_| SEED.to_owned());
    script(&["make", &seed, &COUNT.to_string(), folder.path().to_str().unwrap()]);
    let mut events = 0;
    for number in 0..COUNT {
        let held = |end: &str| fs::read_to_string(folder.path().join(format!("{number}.{end}"))).unwrap();
        let made: Value = serde_json::from_str(&held("json")).unwrap();
        let mut asked = made["asked"].clone();
        asked["limit"] = json!(1000);
        let text = held("ics");
        let data = Scene::new(&[("x", &text)]).read(asked.clone()).await;
        let expect: Listed = serde_json::from_value(made["found"].clone()).unwrap();
        let found = listed(&data);
        let only = |one: &Listed, other: &Listed| {
            one.iter().filter(|item| !other.contains(item)).cloned().collect::<Listed>()
        };
        let (ours, theirs) = (only(&found, &expect), only(&expect, &found));
        assert!(
            ours.is_empty() && theirs.is_empty() && found.len() == expect.len(),
            "calendar {number} of seed {seed}, {asked}\nonly we find: {ours:#?}\nonly others find: {theirs:#?}\n{text}"
        );
        events += found.len();
    }
    assert!(events > 2_000, "there is something to compare: {events}");
}
