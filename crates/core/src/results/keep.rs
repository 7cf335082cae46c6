//! Where whole answers are kept: a bounded number of bounded documents for each principal, for an hour.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toolgate_wire::Raw;

use super::Results;
use super::cut::Whole;
use crate::store::{Collection, Document, Write, Written};
use crate::{Error, Kind, Principal, Result};

/// How long an answer is kept.
const KEPT_MS: u64 = 60 * 60 * 1000;

/// How many answers of one principal are kept, and how many bytes of them; the oldest go first.
const MOST: usize = 32;
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// How often someone faster is given way to.
const TRIES: usize = 8;

/// Answers never change, so each is as it was first written.
const FIRST: i64 = 1;

/// A whole answer as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    principal: String,
    text: String,
    structured: Option<Raw>,
}

/// Which answers of a principal are kept, oldest first.
#[derive(Default, Serialize, Deserialize)]
struct Shelf {
    answers: Vec<Place>,
}

#[derive(Serialize, Deserialize)]
struct Place {
    id: String,
    bytes: usize,
    expires_ms: u64,
}

impl Results {
    /// Keeps an answer, and lets go of older ones for which there is no room any more.
    pub(super) async fn keep(&self, id: &str, principal: &Principal, whole: &Whole) -> Result<()> {
        let kept = Kept {
            principal: principal.id.to_string(),
            text: whole.text.clone(),
            structured: whole.structured.clone(),
        };
        let body = Raw::of(&kept).as_str().to_owned();
        for turn in 0..TRIES {
            let shelf = self.store.get(Collection::Results, &shelf_of(principal)).await?;
            let now_ms = self.clock.unix_ms();
            let place = Place { id: id.into(), bytes: whole.bytes(), expires_ms: now_ms + KEPT_MS };
            let mut writes = made_room(shelf, principal, (place, now_ms), turn + 1 < TRIES);
            let expires_ms = Some(now_ms + KEPT_MS);
            let (collection, id) = (Collection::Results, id.to_owned());
            writes.push(Write::Insert { collection, id, body: body.clone(), expires_ms });
            if self.store.write(writes).await? == Written::Done {
                return Ok(());
            }
        }
        Err(Error::new(Kind::Internal, "too many answers were to be kept at once"))
    }

    /// An answer that this principal got.
    pub(super) async fn kept(&self, id: &str, principal: &Principal) -> Result<Option<Whole>> {
        // The shelves lie in the same collection, under other names.
        if id.len() != 32 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let Some(document) = self.store.get(Collection::Results, id).await? else { return Ok(None) };
        let kept: Option<Kept> = serde_json::from_str(&document.body).ok();
        let kept = kept.filter(|kept| kept.principal == principal.id.as_str());
        Ok(kept.map(|kept| Whole { text: kept.text, structured: kept.structured }))
    }
}

/// What has to be written so that there is room for one more.
fn made_room(
    shelf: Option<Document>,
    principal: &Principal,
    (place, now_ms): (Place, u64),
    removes: bool,
) -> Vec<Write> {
    let known: Option<Shelf> = shelf.as_ref().and_then(|shelf| serde_json::from_str(&shelf.body).ok());
    let mut answers = known.unwrap_or_default().answers;
    // The store lets go of what has expired by itself.
    answers.retain(|answer| answer.expires_ms > now_ms);
    let expires_ms = Some(place.expires_ms);
    answers.push(place);
    let mut bytes: usize = answers.iter().map(|answer| answer.bytes).sum();
    let mut gone = 0;
    while answers.len() - gone > MOST || (bytes > MOST_BYTES && answers.len() - gone > 1) {
        bytes -= answers[gone].bytes;
        gone += 1;
    }
    let collection = Collection::Results;
    // One that is gone already would make every try fail; it ends by itself all the same.
    let mut writes: Vec<Write> = answers
        .drain(..gone)
        .filter(|_| removes)
        .map(|answer| Write::Remove { collection, id: answer.id, revision: FIRST })
        .collect();
    let (id, body) = (shelf_of(principal), Raw::of(&Shelf { answers }).as_str().to_owned());
    writes.push(match shelf {
        Some(Document { revision, .. }) => Write::Replace { collection, id, revision, body, expires_ms },
        None => Write::Insert { collection, id, body, expires_ms },
    });
    writes
}

/// The document that says which answers of a principal are kept.
fn shelf_of(principal: &Principal) -> String {
    let digest = Sha256::digest(principal.id.as_str());
    let digest: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("of-{digest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers that are removed, and those that stay, when one of so many bytes comes to those of these.
    #[track_caller]
    fn check(there: &[usize], new: usize, removed: usize, stay: usize) {
        let place = |id: usize, bytes: usize| Place { id: id.to_string(), bytes, expires_ms: 1_000 };
        let answers = there.iter().enumerate().map(|(id, bytes)| place(id, *bytes)).collect();
        let body = Raw::of(&Shelf { answers }).as_str().to_owned();
        let shelf = Document { id: "shelf".into(), revision: 3, body, expires_ms: None };
        let writes = made_room(Some(shelf), &Principal::local(), (place(99, new), 500), true);
        let (Some(Write::Replace { body, .. }), gone) = (writes.last(), writes.len() - 1) else {
            panic!("the shelf is not replaced")
        };
        let shelf: Shelf = serde_json::from_str(body).unwrap();
        assert_eq!((gone, shelf.answers.len()), (removed, stay));
        assert_eq!(shelf.answers.last().unwrap().id, "99");
    }

    #[test]
    fn the_oldest_make_room_for_the_newest() {
        const MEGA: usize = 1024 * 1024;
        check(&[], 5, 0, 1);
        check(&[1; 31], 1, 0, 32);
        check(&[1; 32], 1, 1, 32);
        check(&[1; 40], 1, 9, 32);
        check(&[8 * MEGA; 3], 8 * MEGA, 0, 4);
        check(&[8 * MEGA; 4], 8 * MEGA, 1, 4);
        check(&[8 * MEGA, 1, 8 * MEGA, 8 * MEGA], 16 * MEGA, 2, 3);
        check(&[1, 1], 99 * MEGA, 2, 1);
    }

    #[test]
    fn what_has_expired_is_forgotten_and_what_may_be_gone_is_not_removed() {
        let place = |id: &str, expires_ms| Place { id: id.into(), bytes: MOST_BYTES, expires_ms };
        let body = Raw::of(&Shelf { answers: vec![place("old", 400), place("live", 600)] });
        let shelf =
            |body: &str| Some(Document { id: "s".into(), revision: 1, body: body.into(), expires_ms: None });
        let count =
            |shelf, removes| made_room(shelf, &Principal::local(), (place("new", 900), 500), removes).len();
        assert_eq!(count(shelf(body.as_str()), true), 2);
        assert_eq!(count(shelf(body.as_str()), false), 1);
        assert_eq!(count(shelf("no JSON"), true), 1);
        assert_eq!(count(None, true), 1);
    }
}
