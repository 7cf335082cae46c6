//! Records are kept in bundles, and nobody who looks for them can tell.

use toolgate_core::{AuditQuery, AuditRow, Store};
use toolgate_testkit::MemoryStore;

use crate::stage::{BOTH, Stage};

/// Numbers that look random, and are the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[usize::try_from(self.below(words.len() as u64)).unwrap()]
    }

    fn some<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(3) == 0).then(|| value(self))
    }

    /// Some records of a chain, in any order, some of them twice; later ones are not earlier.
    fn batch(&mut self) -> Vec<AuditRow> {
        let (writer, from) = (self.pick(&["a", "b", "B"]), self.below(900));
        let count = [1, 3, 300, 700][usize::try_from(self.below(4)).unwrap()];
        let mut batch: Vec<AuditRow> = (from..from + count)
            .filter(|_| self.below(10) > 0)
            .map(|place| row(writer, i64::try_from(place + 1).unwrap()))
            .collect();
        let twice = batch.first().cloned();
        batch.extend(twice);
        let turned = usize::try_from(self.below(7)).unwrap().min(batch.len());
        batch.rotate_left(turned);
        batch
    }

    fn query(&mut self) -> AuditQuery {
        let text = |text: &str| text.to_owned();
        AuditQuery {
            since_ms: self.some(|it| it.below(200)),
            until_ms: self.some(|it| it.below(200)),
            principal: self.some(|it| text(it.pick(&["p0", "p1", "p2", "p"]))),
            target: self.some(|it| text(it.pick(&["tool:t1", "tool:*", "*3", "t*l*2", "none"]))),
            outcome: self.some(|it| text(it.pick(&["complete", "denied"]))),
            writer: self.some(|it| text(it.pick(&["a", "B", "c"]))),
            before: self.some(|it| (it.below(200), text(it.pick(&["a", "b"])), 500)),
            limit: [1, 7, 250, 5000][usize::try_from(self.below(4)).unwrap()],
        }
    }
}

/// What is recorded at a place, always the same; long stretches are of one principal.
fn row(writer: &str, sequence: i64) -> AuditRow {
    AuditRow {
        writer: writer.into(),
        sequence,
        time_ms: u64::try_from(sequence / 9).unwrap(),
        principal: format!("p{}", sequence / 400),
        target: format!("tool:t{}", sequence % 5),
        outcome: if sequence % 11 == 0 { "denied" } else { "complete" }.into(),
        line: format!("{{\"n\":\"{writer} {sequence}\n\"}}"),
    }
}

#[tokio::test]
async fn what_is_found_does_not_depend_on_how_records_were_added() {
    for kind in BOTH {
        let stage = Stage::on(kind);
        let (store, plain) = (stage.handle(), MemoryStore::new());
        let mut numbers = Numbers(1);
        for round in 0..40 {
            let batch = numbers.batch();
            store.append_audit(batch.clone()).await.unwrap();
            plain.append_audit(batch).await.unwrap();
            if round % 10 == 9 {
                let before_ms = numbers.below(40 + round);
                let gone = plain.prune_audit(before_ms).await.unwrap();
                assert_eq!(store.prune_audit(before_ms).await.unwrap(), gone, "{kind:?}, round {round}");
            }
            for query in (0..6).map(|_| numbers.query()) {
                let expect = plain.find_audit(&query).await.unwrap();
                assert_eq!(store.find_audit(&query).await.unwrap(), expect, "{kind:?}, {round}, {query:?}");
            }
            let sorted = |mut heads: Vec<AuditRow>| {
                heads.sort_by(|a, b| a.writer.cmp(&b.writer));
                heads
            };
            let expect = sorted(plain.audit_heads().await.unwrap());
            assert_eq!(sorted(store.audit_heads().await.unwrap()), expect, "{kind:?}, round {round}");
        }
    }
}
