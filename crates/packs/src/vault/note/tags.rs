//! Tags in the text of notes.

/// The longest tag, in characters.
const LONGEST: usize = 100;

/// A tag as it is compared: lower case, without `#`.
pub(crate) fn tag(text: &str) -> Option<String> {
    let text = text.trim().trim_start_matches('#').trim_matches('/');
    let fits = !text.is_empty() && text.chars().count() <= LONGEST && text.chars().all(belongs);
    (fits && text.chars().any(|c| !c.is_numeric())).then(|| text.to_lowercase())
}

/// Every tag of a line, but those in code.
pub(super) fn of_line(line: &str, found: &mut impl FnMut(String)) {
    if !line.contains('#') {
        return;
    }
    let mut before = ' ';
    let mut code = false;
    for (at, c) in line.char_indices() {
        if c == '`' {
            code = !code;
        }
        if c == '#' && !code && (before.is_whitespace() || "([{,;".contains(before)) {
            let rest = &line[at + 1..];
            let end = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
            tag(&rest[..end]).into_iter().for_each(&mut *found);
        }
        before = c;
    }
}

fn belongs(c: char) -> bool {
    c.is_alphanumeric() || "_-/".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_words_with_a_hash_before_them() {
        #[track_caller]
        fn check(line: &str, expect: &[&str]) {
            let mut found = Vec::new();
            of_line(line, &mut |tag| found.push(tag));
            assert_eq!(found, expect, "{line}");
        }
        check("#One two #three/four, (#five) #6 #7a", &["one", "three/four", "five", "7a"]);
        check("#größe #日本語 #a_b-c.", &["größe", "日本語", "a_b-c"]);
        check("# heading a#b https://x/#frag `#code` ## #/", &[]);
        check("", &[]);
    }
}
