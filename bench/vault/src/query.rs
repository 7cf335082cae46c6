//! What is asked: the same of the index and of the scan.

use serde::Serialize;
use serde_json::{Value, json};

use crate::notes;

/// A question.
pub(crate) struct Query {
    pub(crate) name: &'static str,
    /// As the tool takes it.
    pub(crate) input: Value,
    /// As a scan can answer it: these words, in lower case; nothing where it cannot.
    pub(crate) words: Option<Vec<String>>,
}

/// What answering a question took, each time.
#[derive(Debug, Serialize)]
pub(crate) struct Answered {
    pub(crate) name: &'static str,
    pub(crate) found: usize,
    pub(crate) ms: Vec<f64>,
}

/// Everything that is asked.
pub(crate) fn all() -> Vec<Query> {
    let words = |name: &'static str, words: &[String]| Query {
        name,
        input: json!({"query": words.join(" ")}),
        words: Some(words.to_vec()),
    };
    let (rare, usual, frequent) = (notes::word(9_000), notes::word(900), notes::word(0));
    vec![
        words("a rare word", std::slice::from_ref(&rare)),
        words("a usual word", std::slice::from_ref(&usual)),
        words("a word of nearly every note", std::slice::from_ref(&frequent)),
        words("four words", &[frequent, usual, notes::word(90), rare]),
        words("a word in no note", &["zzyzzyva".to_owned()]),
        words("Japanese", &["会議".to_owned()]),
        Query {
            name: "a tag and a word",
            input: json!({"query": notes::word(90), "tags": ["topic/3"]}),
            words: None,
        },
        Query {
            name: "backlinks, with all links",
            input: json!({"links_to": notes::path(7), "links": true}),
            words: None,
        },
    ]
}
