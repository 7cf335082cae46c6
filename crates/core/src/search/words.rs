//! Words of a text, as they are compared: lower case, taken apart, without endings.

/// The most words that are taken from one text.
const MOST: usize = 600;

/// What says nothing about a tool.
const EMPTY: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "for", "from", "how", "i", "in", "is",
    "it", "its", "me", "my", "of", "on", "or", "that", "the", "this", "to", "tool", "want", "with",
];

/// The words of a text that is to be found. A word of several parts counts as its parts and as a whole.
pub(super) fn of_text(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for run in runs(text) {
        if words.len() >= MOST {
            break;
        }
        match run {
            Run::Unspaced(run) => unspaced(&run, &mut words, true),
            Run::Word(run) => {
                let parts = parts(&run);
                if parts.len() > 1 {
                    words.push(stem(lower(&run)));
                }
                words.extend(parts.into_iter().map(|part| stem(lower(part))));
            }
        }
    }
    words.truncate(MOST);
    words
}

/// The words of a question, each once. Words that say nothing are left out, unless there are no others.
pub(super) fn of_query(text: &str, most: usize) -> Vec<String> {
    let mut all = Vec::new();
    for run in runs(text) {
        match run {
            Run::Unspaced(run) => unspaced(&run, &mut all, false),
            Run::Word(run) => all.extend(parts(&run).into_iter().map(lower)),
        }
    }
    let mut telling: Vec<String> =
        all.iter().filter(|word| !EMPTY.contains(&word.as_str())).cloned().collect();
    if telling.is_empty() {
        telling = all;
    }
    let mut words: Vec<String> = Vec::new();
    for word in telling.into_iter().map(stem) {
        if words.len() < most && !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// Letters and digits only, in lower case: `readFile`, `read_file` and `read file` are the same.
pub(super) fn squashed(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Letters that belong together.
enum Run {
    Word(String),
    /// Of a script that puts no spaces between words.
    Unspaced(Vec<char>),
}

fn runs(text: &str) -> Vec<Run> {
    let mut runs = Vec::new();
    for c in text.chars() {
        let unspaced = is_unspaced(c);
        match runs.last_mut() {
            Some(Some(Run::Unspaced(run))) if unspaced => run.push(c),
            Some(Some(Run::Word(run))) if !unspaced && c.is_alphanumeric() => run.push(c),
            _ if unspaced => runs.push(Some(Run::Unspaced(vec![c]))),
            _ if c.is_alphanumeric() => runs.push(Some(Run::Word(c.to_string()))),
            Some(None) => {}
            _ => runs.push(None),
        }
    }
    runs.into_iter().flatten().collect()
}

/// Chinese, Japanese, Korean, Thai and their neighbours.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// Pairs of letters stand for the words that nobody marked; single letters are found too.
fn unspaced(run: &[char], words: &mut Vec<String>, singles: bool) {
    words.extend(run.windows(2).map(String::from_iter));
    if singles || run.len() == 1 {
        words.extend(run.iter().map(char::to_string));
    }
}

/// The parts of `getHTTPResponse2`: `get`, `HTTP`, `Response2`.
fn parts(word: &str) -> Vec<&str> {
    let letters: Vec<(usize, char)> = word.char_indices().collect();
    let mut parts = Vec::new();
    let mut from = 0;
    for (place, pair) in letters.windows(2).enumerate() {
        let ((_, a), (at, b)) = (pair[0], pair[1]);
        let next = letters.get(place + 2).map(|(_, c)| *c);
        let begins = b.is_uppercase() && !a.is_uppercase();
        let ends_capitals = a.is_uppercase() && b.is_uppercase() && next.is_some_and(char::is_lowercase);
        if begins || ends_capitals {
            parts.push(&word[from..at]);
            from = at;
        }
    }
    parts.push(&word[from..]);
    parts
}

fn lower(word: &str) -> String {
    word.to_lowercase()
}

/// An English word without its ending, roughly: the same for `file` and `files`, `create` and `creating`.
fn stem(mut word: String) -> String {
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word;
    }
    let plural = |word: &str| {
        if word.ends_with("ies") && word.len() > 4 {
            Some((3, "y"))
        } else if ["sses", "xes", "zes", "ches", "shes"].iter().any(|end| word.ends_with(end)) {
            Some((2, ""))
        } else if word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) {
            Some((1, ""))
        } else {
            None
        }
    };
    if let Some((less, more)) = plural(&word) {
        word.truncate(word.len() - less);
        word.push_str(more);
    }
    for end in ["ing", "ed"] {
        if word.ends_with(end) && word.len() >= end.len() + 3 {
            let bare = word.len() - end.len();
            let doubled = word.as_bytes()[bare - 1] == word.as_bytes()[bare - 2];
            if doubled || bare >= 4 || end == "ing" {
                let halved = doubled && bare > 3 && !word[..bare].ends_with(['l', 's']);
                word.truncate(if halved { bare - 1 } else { bare });
            }
            break;
        }
    }
    if word.len() >= 4 && word.ends_with('e') {
        word.pop();
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_taken_apart_and_kept_whole() {
        #[track_caller]
        fn check(text: &str, expect: &[&str]) {
            assert_eq!(of_text(text), expect, "{text}");
        }
        check("read_file", &["read", "fil"]);
        check("getHTTPResponse", &["gethttprespons", "get", "http", "respons"]);
        check("GitHub issues", &["github", "git", "hub", "issu"]);
        check("a.b/c-d  e", &["a", "b", "c", "d", "e"]);
        check("oauth2 v1", &["oauth2", "v1"]);
        check("Überprüfung läuft", &["überprüfung", "läuft"]);
        check("文件", &["文件", "文", "件"]);
        check("read文x", &["read", "文", "x"]);
        check("", &[]);
        check("🦀 -- …", &[]);
    }

    #[test]
    fn forms_of_a_word_are_one() {
        for forms in [
            &["file", "files", "filing"][..],
            &["create", "creates", "created", "creating"],
            &["query", "queries"],
            &["search", "searches", "searching", "searched"],
            &["run", "runs", "running"],
            &["process", "processes", "processing"],
            &["list", "lists", "listing"],
            &["add", "adds", "added", "adding"],
            &["call", "calls", "calling"],
        ] {
            let stems: Vec<String> = forms.iter().map(|form| stem((*form).to_owned())).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{forms:?} {stems:?}");
        }
        for apart in [("status", "stat"), ("is", "i"), ("class", "clas"), ("new", "news2")] {
            assert_ne!(stem(apart.0.into()), stem(apart.1.into()));
        }
    }

    #[test]
    fn a_question_is_asked_without_empty_words_and_each_word_once() {
        #[track_caller]
        fn check(text: &str, expect: &[&str]) {
            assert_eq!(of_query(text, 8), expect, "{text}");
        }
        check("how can I read a file, or files?", &["read", "fil"]);
        check("to do", &["to", "do"]);
        check("读取文件", &["读取", "取文", "文件"]);
        check("文", &["文"]);
        check(
            "one two three four five six seven eight nine",
            &["one", "two", "thre", "four", "fiv", "six", "seven", "eight"],
        );
    }
}
