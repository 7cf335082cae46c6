//! The path of a key, such as `mcp.github.args[0]`.

use std::fmt;

use crate::secret;

/// The longest piece of someone's text that a message repeats.
const SHOWN: usize = 80;

/// The way from the top of a document to one value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KeyPath(pub(crate) Vec<Step>);

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Into a table.
    Key(String),
    /// Into a list.
    Index(usize),
}

impl KeyPath {
    /// Reads a dotted key as it stands in code or in a message: `http.port`, `policy.rules[2].when`,
    /// `principals."a.b".roles`.
    pub(crate) fn dotted(text: &str) -> Self {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            rest = rest.strip_prefix('.').unwrap_or(rest);
            if let Some((index, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'))
                && let Ok(index) = index.parse()
            {
                steps.push(Step::Index(index));
                rest = after;
            } else if let Some((key, after)) = quoted(rest) {
                steps.push(Step::Key(key));
                rest = after;
            } else {
                // A mark that is none of the above belongs to the key that it begins.
                let end = rest.char_indices().skip(1).find(|(_, letter)| ".[".contains(*letter));
                let (key, after) = rest.split_at(end.map_or(rest.len(), |(end, _)| end));
                steps.push(Step::Key(key.to_owned()));
                rest = after;
            }
        }
        Self(steps)
    }

    /// This path and one key more.
    pub(crate) fn key(&self, key: &str) -> Self {
        self.step(Step::Key(key.to_owned()))
    }

    /// This path and one step more.
    pub(crate) fn step(&self, step: Step) -> Self {
        let mut path = self.clone();
        path.0.push(step);
        path
    }

    /// This path and then the other one.
    pub(crate) fn join(&self, other: &Self) -> Self {
        Self(self.0.iter().chain(&other.0).cloned().collect())
    }

    /// The path without its last step, and that step if it is a key.
    pub(crate) fn split_key(&self) -> Option<(Self, &str)> {
        match self.0.split_last()? {
            (Step::Key(key), rest) => Some((Self(rest.to_vec()), key)),
            (Step::Index(_), _) => None,
        }
    }

    /// Whether a value here must not be repeated in a message.
    pub(crate) fn is_secret(&self) -> bool {
        self.0.iter().any(|step| match step {
            Step::Key(key) => secret::is_secret_name(key),
            Step::Index(_) => false,
        })
    }
}

/// A key in quotes, and what stands behind it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut letters = text.strip_prefix('"')?.char_indices();
    let mut key = String::new();
    while let Some((place, letter)) = letters.next() {
        match letter {
            '"' => return Some((key, &text[place + 2..])),
            '\\' => key.push(letters.next()?.1),
            letter => key.push(letter),
        }
    }
    None
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(number) => write!(f, "[{number}]")?,
                Step::Key(key) => {
                    let dot = if index > 0 { "." } else { "" };
                    let quote = if is_bare(key) { "" } else { "\"" };
                    write!(f, "{dot}{quote}{}{quote}", shown(key))?;
                }
            }
        }
        Ok(())
    }
}

fn is_bare(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// Someone's text, fit for a message: short, on one line, and without control characters.
pub(crate) fn shown(text: &str) -> String {
    let mut out: String = text.chars().take(SHOWN).flat_map(visible).collect();
    if text.chars().nth(SHOWN).is_some() {
        out.push('…');
    }
    out
}

/// Control characters are escaped, so that a file cannot write to the reader's terminal.
fn visible(letter: char) -> impl Iterator<Item = char> {
    let escaped = letter.is_control().then(|| letter.escape_default());
    let plain = (!letter.is_control()).then_some(letter);
    escaped.into_iter().flatten().chain(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_as_it_is_written() {
        for text in [
            "a",
            "http.port",
            "policy.rules[2].when",
            "a[0][1].b",
            r#"principals."a.b".roles[0]"#,
            r#""x y""#,
        ] {
            assert_eq!(KeyPath::dotted(text).to_string(), text);
        }
        assert_eq!(KeyPath::dotted("policy.rules[2].when").0.len(), 4);
        for odd in ["", ".", "a.", "a..b", "[", "a[x]", "\"", "\"a", "[]"] {
            // It names nothing, and is read to its end all the same.
            drop(KeyPath::dotted(odd));
        }
    }
}
