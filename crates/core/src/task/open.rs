//! The questions of a task that have no answer yet.

use std::collections::HashSet;

use toolgate_wire::Raw;

use crate::{Answers, Ask, Error, Question};

/// The questions of a task that have no answer yet.
#[derive(Default)]
pub(super) struct Opens {
    all: Vec<Open>,
    used_keys: HashSet<String>,
}

/// Questions asked together, under keys that this task has never used before.
struct Open {
    ask: Ask,
    keys: Vec<String>,
    answers: Answers,
    /// Whether someone who waits for the result has put them to the client.
    claimed: bool,
}

impl Opens {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.all.clear();
    }

    pub(super) fn ask(&mut self, ask: Ask) {
        let keys = ask.questions.iter().map(|question| unused(&mut self.used_keys, &question.key)).collect();
        self.all.push(Open { ask, keys, answers: Answers::default(), claimed: false });
    }

    /// Forgets what nobody wants to know any more.
    pub(super) fn forget(&mut self) {
        self.all.retain(|open| !open.ask.is_over());
    }

    /// Takes an answer; tells whether it was asked for and not there yet.
    pub(super) fn answer(&mut self, key: &str, answer: &Raw) -> bool {
        for open in &mut self.all {
            let place = open.keys.iter().position(|name| name == key);
            if let Some(question) = place.and_then(|place| open.ask.questions.get(place)) {
                let new = open.answers.get(&question.key).is_none();
                if new {
                    open.answers.insert(question.key.clone(), answer.clone());
                }
                return new;
            }
        }
        false
    }

    /// Hands over what is answered.
    pub(super) fn settle(&mut self) {
        for open in std::mem::take(&mut self.all) {
            if open.is_complete() {
                open.ask.answer(Ok(open.answers));
            } else {
                self.all.push(open);
            }
        }
    }

    /// Ends the questions with these keys without an answer; tells whether there were any.
    pub(super) fn refuse(&mut self, keys: &[String], error: Error) -> bool {
        let Some(place) = self.place(keys) else { return false };
        self.all.remove(place).ask.answer(Err(error));
        true
    }

    /// Takes the first questions that nobody has put to the client and that `fits` likes, until they are let go.
    pub(super) fn claim(&mut self, fits: impl Fn(&Question) -> bool) -> Option<Vec<Question>> {
        let free = |open: &&mut Open| !open.claimed && open.unanswered().all(|question| fits(&question));
        let open = self.all.iter_mut().find(free)?;
        open.claimed = true;
        Some(open.unanswered().collect())
    }

    /// Lets go of questions that were taken.
    pub(super) fn let_go(&mut self, keys: &[String]) {
        if let Some(place) = self.place(keys) {
            self.all[place].claimed = false;
        }
    }

    /// What is asked, as the extension has it.
    pub(super) fn requests(&self) -> Raw {
        let unanswered: Vec<Question> = self.all.iter().flat_map(Open::unanswered).collect();
        crate::parking::requests(unanswered.iter())
    }

    fn place(&self, keys: &[String]) -> Option<usize> {
        let first = keys.first()?;
        self.all.iter().position(|open| open.keys.contains(first))
    }
}

impl Open {
    fn is_complete(&self) -> bool {
        self.unanswered().next().is_none()
    }

    fn unanswered(&self) -> impl Iterator<Item = Question> {
        let both = self.ask.questions.iter().zip(&self.keys);
        both.filter(|(question, _)| self.answers.get(&question.key).is_none())
            .map(|(question, key)| Question { key: key.clone(), ..question.clone() })
    }
}

/// A key this task has not used yet, as near to the wanted one as can be.
fn unused(used: &mut HashSet<String>, wanted: &str) -> String {
    let mut key = wanted.to_owned();
    let mut count = 1;
    while !used.insert(key.clone()) {
        count += 1;
        key = format!("{wanted}-{count}");
    }
    key
}
