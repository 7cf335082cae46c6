//! Characters that a person does not see.

/// What is hidden in a text, each sort of it once.
pub(super) fn hidden(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let mut found: Vec<String> = Vec::new();
    for (place, letter) in letters.iter().enumerate() {
        let Some(sort) = sort(*letter) else { continue };
        if is_honest(&letters, place) {
            continue;
        }
        let what = format!("a {sort} (U+{:04X})", u32::from(*letter));
        if !found.contains(&what) {
            found.push(what);
        }
    }
    found
}

/// Whether a character is one that a person does not see.
pub(crate) fn is_hidden(letter: char) -> bool {
    sort(letter).is_some()
}

fn sort(letter: char) -> Option<&'static str> {
    match letter {
        '\n' | '\r' | '\t' => None,
        '\u{200B}'..='\u{200D}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}' | '\u{00AD}' | '\u{180E}' => {
            Some("zero-width character")
        }
        '\u{115F}' | '\u{1160}' | '\u{3164}' | '\u{FFA0}' => Some("letter without a shape"),
        '\u{200E}' | '\u{200F}' | '\u{061C}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => {
            Some("mark that turns the direction of text")
        }
        '\u{E0000}'..='\u{E007F}' => Some("tag character"),
        '\u{E0100}'..='\u{E01EF}' => Some("variation selector"),
        letter if letter.is_control() => Some("control character"),
        _ => None,
    }
}

/// Whether a hidden character does what it was made for: joining signs and letters of some scripts, or naming a flag.
fn is_honest(letters: &[char], place: usize) -> bool {
    let at = |place: Option<usize>| place.and_then(|place| letters.get(place)).copied().unwrap_or(' ');
    let (before, after) = (at(place.checked_sub(1)), at(place.checked_add(1)));
    match letters[place] {
        // A sign may be followed by the selector of its colour before it is joined.
        '\u{200C}' | '\u{200D}' => {
            !before.is_ascii() && !after.is_ascii() && !is_hidden(before) && !is_hidden(after)
        }
        '\u{E0020}'..='\u{E007F}' => {
            let start =
                letters[..place].iter().rposition(|letter| !('\u{E0020}'..='\u{E007E}').contains(letter));
            let flag = start.is_some_and(|start| letters[start] == '\u{1F3F4}' && place - start <= 7);
            flag && letters[place..].iter().take(7).any(|letter| *letter == '\u{E007F}')
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_found_unless_it_serves_a_script() {
        #[track_caller]
        fn check(text: &str, expect: &[&str]) {
            assert_eq!(hidden(text), expect, "{text:?}");
        }
        check("plain, größer, 日本語, عربي\n\t", &[]);
        check("👩‍💻 🏳️‍🌈 ❤️", &[]);
        check("\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}", &[]);
        check("می\u{200C}خواهم", &[]);
        check("a\u{200D}b", &["a zero-width character (U+200D)"]);
        check("a\u{202E}b\u{202E}", &["a mark that turns the direction of text (U+202E)"]);
        check("a\u{E0069}\u{E0067}", &["a tag character (U+E0069)", "a tag character (U+E0067)"]);
        check("\u{1b}[2J", &["a control character (U+001B)"]);
        check("\u{feff}a", &["a zero-width character (U+FEFF)"]);
        check("a\u{3164}", &["a letter without a shape (U+3164)"]);
    }
}
