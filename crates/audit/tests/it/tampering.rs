//! Whatever is done to a record or to a chain shows.

use std::sync::Arc;

use proptest::prelude::*;
use sha2::{Digest as _, Sha256};
use toolgate_audit::{Archive, Report};
use toolgate_core::{AuditRow, Store as _};
use toolgate_testkit::MemoryStore;

use crate::scene::{Scene, record, rewrite, written};

/// A spool of some calls that nobody has copied, as it stood when its writer died.
fn spool(calls: &[(u64, String)]) -> (Scene, Vec<u8>) {
    let scene = Scene::new();
    let process = scene.process();
    for (time_ms, tool) in calls {
        record(&process.audit, *time_ms, tool);
    }
    drop(process);
    let bytes = written(&scene.spools()[0]);
    (scene, bytes)
}

fn verify(archive: &Archive) -> Report {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(archive.verify(&[])).unwrap()
}

/// What is found with these bytes in the spool.
fn spooled(scene: &Scene, bytes: &[u8]) -> Report {
    rewrite(&scene.spools()[0], bytes);
    verify(&scene.archive())
}

/// What is found with these rows in the store, and nothing in a spool.
fn stored(rows: &[AuditRow]) -> Report {
    let store = MemoryStore::new();
    let appending = store.append_audit(rows.to_vec());
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(appending).unwrap();
    let nowhere = tempfile::tempdir().unwrap();
    verify(&Archive::new(Arc::new(store), nowhere.path()))
}

/// The rows that the lines of a spool become.
fn rows(bytes: &[u8]) -> Vec<AuditRow> {
    let row = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| value[key].as_str().unwrap().to_owned();
        AuditRow {
            writer: text("writer"),
            sequence: value["seq"].as_i64().unwrap(),
            time_ms: value["time_ms"].as_u64().unwrap(),
            principal: text("principal"),
            target: text("target"),
            outcome: text("outcome"),
            line: line.to_owned(),
        }
    };
    str::from_utf8(bytes).unwrap().lines().map(row).collect()
}

fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

fn calls() -> impl Strategy<Value = Vec<(u64, String)>> {
    prop::collection::vec((0..u64::MAX / 4, "[a-z_./-]{1,20}"), 3..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]

    #[test]
    fn every_flipped_bit_of_a_record_in_a_spool_shows(calls in calls(), at in any::<prop::sample::Index>()) {
        let (scene, whole) = spool(&calls);
        prop_assert!(spooled(&scene, &whole).ok);
        let lines = lines(&whole);
        let which = at.index(lines.len());
        let start: usize = lines[..which].iter().map(Vec::len).sum();
        for bit in 0..lines[which].len() * 8 {
            let mut bytes = whole.clone();
            bytes[start + bit / 8] ^= 1 << (bit % 8);
            prop_assert!(!spooled(&scene, &bytes).ok, "bit {} of line {}", bit, which);
        }
    }

    #[test]
    fn every_flipped_bit_of_a_record_in_the_store_shows(calls in calls(), at in any::<prop::sample::Index>()) {
        let (_scene, whole) = spool(&calls);
        let rows = rows(&whole);
        prop_assert!(stored(&rows).ok);
        let which = at.index(rows.len());
        for bit in 0..rows[which].line.len() * 8 {
            let mut line = rows[which].line.clone().into_bytes();
            line[bit / 8] ^= 1 << (bit % 8);
            // A text column holds nothing that is no text.
            let Ok(line) = String::from_utf8(line) else { continue };
            let mut rows = rows.clone();
            rows[which].line = line;
            prop_assert!(!stored(&rows).ok, "bit {} of row {}", bit, which);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn lines_that_are_gone_swapped_doubled_or_added_show(calls in calls()) {
        let (scene, whole) = spool(&calls);
        let lines = lines(&whole);
        let last = lines.len() - 1;
        for one in 0..=last {
            let mut gone = lines.clone();
            gone.remove(one);
            // Without an anchor the end may be cut off: see `anchors`.
            prop_assert_eq!(spooled(&scene, &gone.concat()).ok, one == last);
            let mut doubled = lines.clone();
            doubled.insert(one, lines[one].clone());
            prop_assert!(!spooled(&scene, &doubled.concat()).ok);
            let mut empty = lines.clone();
            empty.insert(one, b"\n".to_vec());
            prop_assert!(!spooled(&scene, &empty.concat()).ok);
            for other in 0..one {
                let mut swapped = lines.clone();
                swapped.swap(one, other);
                prop_assert!(!spooled(&scene, &swapped.concat()).ok);
            }
        }
    }

    #[test]
    fn rows_that_are_gone_swapped_or_told_otherwise_show(calls in calls(), by in 1_u64..1000) {
        let (_scene, whole) = spool(&calls);
        let rows = rows(&whole);
        let last = rows.len() - 1;
        let changed = |change: &dyn Fn(&mut Vec<AuditRow>)| {
            let mut rows = rows.clone();
            change(&mut rows);
            stored(&rows)
        };
        for one in 0..=last {
            prop_assert_eq!(changed(&|rows| drop(rows.remove(one))).ok, one == last);
            for other in 0..one {
                let report = changed(&|rows| {
                    let line = std::mem::take(&mut rows[one].line);
                    rows[one].line = std::mem::replace(&mut rows[other].line, line);
                });
                prop_assert!(!report.ok);
            }
            prop_assert!(!changed(&|rows| rows[one].principal.push('x')).ok);
            prop_assert!(!changed(&|rows| rows[one].outcome.push('x')).ok);
            prop_assert!(!changed(&|rows| rows[one].target.push('x')).ok);
            prop_assert!(!changed(&|rows| rows[one].writer.push('a')).ok);
            prop_assert!(!changed(&|rows| rows[one].time_ms += by).ok);
            prop_assert!(!changed(&|rows| rows[one].sequence += i64::try_from(by).unwrap()).ok);
        }
    }
}

#[test]
fn a_chain_does_not_pass_for_another_and_a_copy_has_to_be_the_same() {
    let calls = [(1, "a".to_owned()), (2, "b".to_owned())];
    let (scene, bytes) = spool(&calls);
    let renamed = scene.folder().join("0123.jsonl");
    std::fs::rename(&scene.spools()[0], &renamed).unwrap();
    assert!(!verify(&scene.archive()).ok);
    std::fs::remove_file(&renamed).unwrap();
    let (other, theirs) = spool(&calls);
    let mut mixed = rows(&bytes);
    mixed.extend(rows(&theirs));
    assert!(stored(&mixed).ok);
    mixed[1].line = rows(&theirs)[1].line.clone();
    assert!(!stored(&mixed).ok);
    drop(other);
}

#[test]
fn a_chain_begins_with_its_own_beginning() {
    let (scene, bytes) = spool(&[(1, "a".to_owned())]);
    let text = String::from_utf8(bytes).unwrap();
    let at = text.find(",\"prev\":").unwrap();
    // Whoever can write can hash; but the first record of a chain follows from the name of its writer.
    let open = format!("{},\"prev\":\"{}\"", &text[..at], "0".repeat(64));
    let hash = Sha256::digest(format!("{open}}}"));
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let report = spooled(&scene, format!("{open},\"hash\":\"{hash}\"}}\n").as_bytes());
    assert_eq!(report.chains[0].broken[0].reason, "it does not begin its chain", "{report}");
    assert_eq!(report.chains[0].problems, 1, "{report}");
}

/// A line that says something else, with a hash that is right for it.
fn reforged(line: &str) -> String {
    let (open, _) = line.split_once(",\"hash\":").unwrap();
    let open = open.replace("\"outcome\":\"complete\"", "\"outcome\":\"denied\"");
    let hash: String = Sha256::digest(format!("{open}}}")).iter().map(|byte| format!("{byte:02x}")).collect();
    let forged = format!("{open},\"hash\":\"{hash}\"}}");
    assert_ne!(forged, line);
    forged
}

#[test]
fn a_record_that_was_forged_with_its_hash_does_not_fit_its_neighbours() {
    let calls: Vec<(u64, String)> = (1..=4).map(|time_ms| (time_ms, format!("tool_{time_ms}"))).collect();
    let (scene, bytes) = spool(&calls);
    assert!(spooled(&scene, &bytes).ok);
    for place in 0..3 {
        let mut lines: Vec<String> = str::from_utf8(&bytes).unwrap().lines().map(Into::into).collect();
        lines[place] = reforged(&lines[place]);
        let forged = lines.join("\n") + "\n";
        assert!(!spooled(&scene, forged.as_bytes()).ok, "record {place} in a spool");
        assert!(!stored(&rows(forged.as_bytes())).ok, "record {place} in the store");
    }
}
