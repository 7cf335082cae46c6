//! What stands in a note besides its words: front matter, title, tags and links.

mod front;
mod links;
mod tags;

use toolgate_host::RelPath;

pub(super) use front::front_matter;
pub(super) use links::{key, name_of};
pub(super) use tags::tag;

/// The most of each that is kept of one note.
const MOST: usize = 1_000;

/// How much a word counts by where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// In the name of the file, the title, or another name.
    Name = 6,
    /// In a tag.
    Tag = 4,
    /// In a heading.
    Heading = 3,
    /// In the front matter.
    Property = 2,
    /// Anywhere else.
    Body = 1,
}

/// A note, taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) title: String,
    /// In lower case, without `#`, each once.
    pub(super) tags: Vec<String>,
    /// The front matter, in its order.
    pub(super) properties: Vec<(String, String)>,
    /// Which notes it names, as [`key`] writes them, each once.
    pub(super) links: Vec<String>,
}

impl Note {
    /// Takes a note apart, and hands every piece of its text on with what it counts.
    pub(super) fn read(path: &RelPath, text: &str, mut piece: impl FnMut(&str, Weight)) -> Self {
        let stem = name_of(path.as_str());
        piece(stem, Weight::Name);
        if let Some(folder) = path.parent() {
            piece(folder.as_str(), Weight::Body);
        }
        let mut note = Self::default();
        let body = note.read_front(text, &mut piece);
        let mut heading = None;
        let mut fence = None;
        for line in body.lines() {
            if let Some(mark) = fence_of(line, fence) {
                fence = if fence.is_some() { None } else { Some(mark) };
            }
            if fence.is_some() {
                piece(line, Weight::Body);
                continue;
            }
            match heading_of(line) {
                Some((level, words)) => {
                    piece(words, Weight::Heading);
                    if level == 1 && heading.is_none() {
                        heading = Some(words);
                    }
                }
                None => piece(line, Weight::Body),
            }
            tags::of_line(line, &mut |tag| note.tags.push(tag));
            links::of_line(line, path, &mut |link| note.links.push(link));
        }
        if note.title.is_empty() {
            note.title = heading.filter(|words| !words.is_empty()).unwrap_or(stem).to_owned();
        }
        piece(&note.title, Weight::Name);
        note.tags.iter().for_each(|tag| piece(tag, Weight::Tag));
        note.tidy();
        note
    }

    /// Takes the front matter, and returns what follows it.
    fn read_front<'a>(&mut self, text: &'a str, piece: &mut impl FnMut(&str, Weight)) -> &'a str {
        let Some(found) = front_matter(text) else { return text };
        for property in found.properties() {
            let value = property.values.join(", ");
            match property.key.to_lowercase().as_str() {
                "tags" | "tag" => {
                    let words = property.values.iter().flat_map(|value| value.split([',', ' ']));
                    self.tags.extend(words.filter_map(tag));
                }
                "title" => {
                    piece(&value, Weight::Name);
                    self.title.clone_from(&value);
                }
                "alias" | "aliases" => piece(&value, Weight::Name),
                _ => piece(&value, Weight::Property),
            }
            self.properties.push((property.key, value));
        }
        &text[found.end..]
    }

    fn tidy(&mut self) {
        for list in [&mut self.tags, &mut self.links] {
            list.sort_unstable();
            list.dedup();
            list.truncate(MOST);
        }
    }
}

/// The character of a fence that begins or, where one is open, ends a block of code.
fn fence_of(line: &str, open: Option<char>) -> Option<char> {
    let line = line.trim_start();
    let mark = ['`', '~'].into_iter().find(|mark| line.starts_with(&mark.to_string().repeat(3)))?;
    open.is_none_or(|open| open == mark).then_some(mark)
}

/// The level and the words of a heading.
fn heading_of(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let words = line.get(level..)?;
    ((1..=6).contains(&level) && words.starts_with([' ', '\t']))
        .then(|| (level, words.trim().trim_end_matches('#').trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str, text: &str) -> (Note, Vec<(String, Weight)>) {
        let mut pieces = Vec::new();
        let path = RelPath::parse(path, "").unwrap();
        let note = Note::read(&path, text, |text, weight| pieces.push((text.to_owned(), weight)));
        (note, pieces)
    }

    #[test]
    fn a_note_is_taken_apart() {
        let text = "---\ntags: [Work, plan/2026]\nstatus: open\naliases:\n  - Big One\n---\n# The plan #\nSee [[Ideas|some]] and [b](../b.md). #Later\n\
                    ```\n# no heading #nope [[Nope]]\n```\n## More\n";
        let (note, pieces) = read("a/x.md", text);
        assert_eq!(note.title, "The plan");
        assert_eq!(note.tags, ["later", "plan/2026", "work"]);
        assert_eq!(note.links, ["/b", "ideas"]);
        let properties: Vec<_> =
            note.properties.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(properties, [("tags", "Work, plan/2026"), ("status", "open"), ("aliases", "Big One")]);
        for expect in [
            ("x", Weight::Name),
            ("The plan", Weight::Name),
            ("Big One", Weight::Name),
            ("open", Weight::Property),
            ("The plan", Weight::Heading),
            ("# no heading #nope [[Nope]]", Weight::Body),
            ("More", Weight::Heading),
            ("plan/2026", Weight::Tag),
        ] {
            assert!(
                pieces.iter().any(|(text, weight)| (text.as_str(), *weight) == expect),
                "{expect:?} {pieces:#?}"
            );
        }
    }

    #[test]
    fn a_title_is_what_it_is_called_or_the_first_heading_or_the_file() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            assert_eq!(read("b/My note.md", text).0.title, expect, "{text}");
        }
        check("", "My note");
        check("words", "My note");
        check("#tag\n## Second\n# First\n# Other", "First");
        check("---\ntitle: \"A: b\"\n---\n# First", "A: b");
        check("# \n", "My note");
        check("~~~\n# Code\n```\n~~~\n# Out", "Out");
    }
}
