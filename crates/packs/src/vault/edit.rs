//! What a note holds after a write: the ways to put new text to what is there.

use toolgate_core::{Error, Kind, Result};

use super::note::front_matter;

/// How new text is put to what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// In its place.
    Replace(String),
    /// Behind it, on a new line.
    Append(String),
    /// Before it, but behind the front matter.
    Prepend(String),
    /// In the place of one passage.
    Edit { passage: String, with: String },
    /// Only where nothing is.
    Create(String),
}

impl Change {
    /// What `path` is to hold, if that is another text than it holds.
    pub(super) fn apply(self, path: &str, old: Option<Vec<u8>>) -> Result<Vec<u8>> {
        let new = match (self, &old) {
            (Self::Create(_), Some(_)) => {
                return Err(Error::new(Kind::InvalidInput, format!("`{path}` exists already"))
                    .hint("choose another path, or another `mode`"));
            }
            (Self::Edit { .. }, None) => {
                return Err(Error::new(Kind::FileNotFound, format!("`{path}` does not exist"))
                    .hint("call `vault_search` to find the note, or write it with `mode` = `create`"));
            }
            (Self::Replace(new) | Self::Create(new), _) => new,
            (Self::Append(new) | Self::Prepend(new), None) => new,
            (Self::Append(new), Some(old)) => appended(text(path, old)?, &new),
            (Self::Prepend(new), Some(old)) => prepended(text(path, old)?, &new),
            (Self::Edit { passage, with }, Some(old)) => edited(path, text(path, old)?, &passage, &with)?,
        };
        if old.is_some_and(|old| old == new.as_bytes()) {
            return Err(Error::new(
                Kind::InvalidInput,
                format!("nothing changed: `{path}` holds just that already"),
            )
            .hint("read the note to see what it holds"));
        }
        Ok(new.into_bytes())
    }
}

fn text<'a>(path: &str, bytes: &'a [u8]) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|error| {
        Error::new(Kind::InvalidInput, format!("`{path}` is not UTF-8 text"))
            .hint("write it as a whole with `mode` = `replace`")
            .because(error)
    })
}

fn appended(old: &str, new: &str) -> String {
    let open = !new.is_empty() && !old.is_empty() && !old.ends_with('\n');
    [old, if open { "\n" } else { "" }, new].concat()
}

fn prepended(old: &str, new: &str) -> String {
    let (head, body) = old.split_at(front_matter(old).map_or(0, |found| found.end));
    let open = |text: &str| !text.is_empty() && !text.ends_with('\n');
    let before = if open(head) && !new.is_empty() { "\n" } else { "" };
    let between = if open(new) && !body.is_empty() { "\n" } else { "" };
    [head, before, new, between, body].concat()
}

fn edited(path: &str, old: &str, passage: &str, with: &str) -> Result<String> {
    let refused = |message: String, hint: String| Err(Error::new(Kind::InvalidInput, message).hint(hint));
    if passage.is_empty() {
        return refused("`passage` is empty".into(), "give the exact text to replace".into());
    }
    let found = places(old, passage);
    match found[..] {
        [] => refused(
            format!("`{path}` does not hold the passage"),
            "read the note, and copy the passage from it letter by letter, line breaks included".into(),
        ),
        [at] => Ok([&old[..at], with, &old[at + passage.len()..]].concat()),
        _ => {
            let lines: Vec<String> = found.iter().take(10).map(|at| line_of(old, *at).to_string()).collect();
            refused(
                format!("`{path}` holds the passage {} times: in line {}", found.len(), lines.join(", ")),
                "give more of the text around it, so that there is one".into(),
            )
        }
    }
}

/// Where a passage begins, each time, also where it overlaps itself.
fn places(text: &str, passage: &str) -> Vec<usize> {
    let step = passage.chars().next().map_or(1, char::len_utf8);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(passage) {
        found.push(from + at);
        from += at + step;
    }
    found
}

/// The number of the line in which a place is.
fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(change: Change, old: Option<&str>, expect: Result<&str, &str>) {
        let new = change.apply("a.md", old.map(|old| old.as_bytes().to_vec()));
        let new =
            new.map(|bytes| String::from_utf8(bytes).unwrap()).map_err(|error| error.message().to_owned());
        assert_eq!(new, expect.map(Into::into).map_err(Into::into));
    }

    fn edit(passage: &str, with: &str) -> Change {
        Change::Edit { passage: passage.into(), with: with.into() }
    }

    #[test]
    fn each_mode_puts_the_text_where_it_says() {
        check(Change::Replace("new".into()), Some("old"), Ok("new"));
        check(Change::Replace("new".into()), None, Ok("new"));
        check(Change::Create(String::new()), None, Ok(""));
        check(Change::Append("b".into()), Some("a"), Ok("a\nb"));
        check(Change::Append("b\n".into()), Some("a\n"), Ok("a\nb\n"));
        check(Change::Append("b".into()), None, Ok("b"));
        check(Change::Append("b".into()), Some(""), Ok("b"));
        check(Change::Prepend("b".into()), Some("a"), Ok("b\na"));
        check(Change::Prepend("b\n".into()), Some("a"), Ok("b\na"));
        check(Change::Prepend("b".into()), Some("---\nx: 1\n---\na"), Ok("---\nx: 1\n---\nb\na"));
        check(Change::Prepend("b".into()), Some("---\nx: 1\n---"), Ok("---\nx: 1\n---\nb"));
        check(Change::Prepend("b".into()), Some("---\nno end"), Ok("b\n---\nno end"));
        check(edit("a", "c"), Some("xay"), Ok("xcy"));
        check(edit("a\n", ""), Some("xa\ny"), Ok("xy"));
        check(edit("größe 🦀", "x"), Some("die größe 🦀!"), Ok("die x!"));
    }

    #[test]
    fn what_would_change_nothing_or_cannot_be_found_is_an_error() {
        let same = "nothing changed: `a.md` holds just that already";
        check(Change::Replace("a".into()), Some("a"), Err(same));
        check(Change::Append(String::new()), Some("a"), Err(same));
        check(Change::Prepend(String::new()), Some("a"), Err(same));
        check(edit("a", "a"), Some("a"), Err(same));
        check(Change::Create("a".into()), Some(""), Err("`a.md` exists already"));
        check(edit("a", "b"), None, Err("`a.md` does not exist"));
        check(edit("b", "c"), Some("a"), Err("`a.md` does not hold the passage"));
        check(edit("", "c"), Some("a"), Err("`passage` is empty"));
        check(edit("a", "c"), Some("a\na\n"), Err("`a.md` holds the passage 2 times: in line 1, 2"));
        check(edit("aa", "c"), Some("aaa"), Err("`a.md` holds the passage 2 times: in line 1, 1"));
        check(edit("éé", "c"), Some("ééé"), Err("`a.md` holds the passage 2 times: in line 1, 1"));
        let binary = Change::Append("x".into()).apply("a.md", Some(vec![0xff])).unwrap_err();
        assert_eq!(binary.message(), "`a.md` is not UTF-8 text");
    }
}
