//! What of GitHub's answers is passed on: the part that a reader needs, and no more.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::repo::Repo;

/// How many characters of a text are passed on where nobody says.
pub(super) const BODY: usize = 10_000;

/// An issue or a pull request, in short.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Issue {
    /// Its number in the repository.
    pub(super) number: u64,
    /// What it is called.
    title: String,
    /// Whether it is `open` or `closed`.
    state: String,
    /// Who wrote it.
    author: String,
    /// The names of its labels.
    labels: Vec<String>,
    /// Who is to work on it.
    assignees: Vec<String>,
    /// How many comments it has.
    pub(super) comments: u64,
    /// When it was created.
    created: String,
    /// When it was last changed.
    updated: String,
    /// Where people see it.
    url: String,
}

/// A comment.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Comment {
    /// Who wrote it.
    author: String,
    /// When it was written.
    created: String,
    /// What it says, in Markdown.
    body: String,
    /// Where people see it.
    url: String,
}

/// A pull request, in short.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Pull {
    /// Its number in the repository.
    number: u64,
    /// What it is called.
    title: String,
    /// Whether it is `open`, `closed` or `merged`.
    state: String,
    /// Whether it is a draft.
    draft: bool,
    /// Who wrote it.
    author: String,
    /// The branch that is to be merged, with its owner.
    head: String,
    /// The branch it is to be merged into.
    base: String,
    /// The names of its labels.
    labels: Vec<String>,
    /// When it was created.
    created: String,
    /// When it was last changed.
    updated: String,
    /// Where people see it.
    url: String,
}

impl Issue {
    /// Reads one; `None` if it is none.
    pub(super) fn read(value: &Value) -> Option<Self> {
        Some(Self {
            number: number(value)?,
            title: text(value, "/title"),
            state: text(value, "/state"),
            author: author(value),
            labels: names(value, "labels", "name"),
            assignees: names(value, "assignees", "login"),
            comments: value.get("comments").and_then(Value::as_u64).unwrap_or(0),
            created: text(value, "/created_at"),
            updated: text(value, "/updated_at"),
            url: text(value, "/html_url"),
        })
    }

    /// Which of these labels and users it does not have.
    pub(super) fn lacks(&self, labels: &[String], users: &[String]) -> Vec<String> {
        let missing = |wanted: &[String], there: &[String]| -> Vec<String> {
            let has = |name: &str| there.iter().any(|there| there.eq_ignore_ascii_case(name));
            wanted.iter().filter(|name| !has(name)).cloned().collect()
        };
        [missing(labels, &self.labels), missing(users, &self.assignees)].concat()
    }
}

impl Comment {
    pub(super) fn read(value: &Value, most: usize) -> Option<Self> {
        value.get("id")?;
        Some(Self {
            author: author(value),
            created: text(value, "/created_at"),
            body: body(value, most),
            url: text(value, "/html_url"),
        })
    }
}

impl Pull {
    pub(super) fn read(value: &Value) -> Option<Self> {
        let merged = value.get("merged_at").is_some_and(Value::is_string);
        Some(Self {
            number: number(value)?,
            title: text(value, "/title"),
            state: if merged { "merged".into() } else { text(value, "/state") },
            draft: value.get("draft").and_then(Value::as_bool).unwrap_or(false),
            author: author(value),
            head: text(value, "/head/label"),
            base: text(value, "/base/ref"),
            labels: names(value, "labels", "name"),
            created: text(value, "/created_at"),
            updated: text(value, "/updated_at"),
            url: text(value, "/html_url"),
        })
    }
}

/// Whether what GitHub calls an issue is a pull request.
pub(super) fn is_pull(value: &Value) -> bool {
    value.get("pull_request").is_some_and(Value::is_object)
}

/// The repository of a found issue.
pub(super) fn repo(value: &Value) -> Option<Repo> {
    let url = value.get("repository_url")?.as_str()?;
    let mut segments = url.rsplit('/');
    let (name, owner) = (segments.next()?, segments.next()?);
    Repo::parse(owner, name).ok()
}

/// The text of an issue or a comment, cut off where it gets too long.
pub(super) fn body(value: &Value, most: usize) -> String {
    let text = value.get("body").and_then(Value::as_str).unwrap_or_default();
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => {
            let left = text[end..].chars().count();
            format!("{}… [{left} more characters; raise `max_body` to see them]", &text[..end])
        }
    }
}

pub(super) fn number(value: &Value) -> Option<u64> {
    value.get("number")?.as_u64()
}

pub(super) fn text(value: &Value, place: &str) -> String {
    value.pointer(place).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// GitHub shows an account that is gone as `ghost`.
fn author(value: &Value) -> String {
    value.pointer("/user/login").and_then(Value::as_str).unwrap_or("ghost").to_owned()
}

/// Names of a list, whose items are texts or objects.
fn names(value: &Value, list: &str, key: &str) -> Vec<String> {
    let items = value.get(list).and_then(Value::as_array).into_iter().flatten();
    items.filter_map(|item| item.as_str().or_else(|| item.get(key)?.as_str())).map(str::to_owned).collect()
}
