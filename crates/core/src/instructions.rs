//! What a model should know about using the server: our words, then those of the sources that the caller sees.

/// How many characters one source may add.
const MOST_OF_ONE: usize = 2_000;

/// How many characters all sources may add.
const MOST_OF_ALL: usize = 12_000;

/// Merges our own words with those of sources, each under its name and within its bounds.
pub(crate) fn merged<'a>(
    own: Option<&str>,
    sources: impl Iterator<Item = (&'a str, String)>,
) -> Option<String> {
    let mut text = own.unwrap_or_default().to_owned();
    let mut left = MOST_OF_ALL;
    for (name, words) in sources {
        let words = words.trim();
        if words.is_empty() || left == 0 {
            continue;
        }
        let shown = cut(words, MOST_OF_ONE.min(left));
        left -= shown.chars().count().min(left);
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&format!("Of the server `{name}`:\n{shown}"));
    }
    (!text.is_empty()).then_some(text)
}

fn cut(words: &str, most: usize) -> String {
    match words.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", words[..end].trim_end()),
        None => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_merged_in_order_and_bounded() {
        #[track_caller]
        fn check(own: Option<&str>, sources: &[(&'static str, &str)], expect: Option<&str>) {
            let sources = sources.iter().map(|(name, words)| (*name, (*words).to_owned()));
            assert_eq!(merged(own, sources).as_deref(), expect);
        }
        check(None, &[], None);
        check(Some("We."), &[], Some("We."));
        check(None, &[("a", "  ")], None);
        check(Some("We."), &[("a", " Be kind. "), ("b", "")], Some("We.\n\nOf the server `a`:\nBe kind."));
        check(None, &[("a", "1"), ("b", "2")], Some("Of the server `a`:\n1\n\nOf the server `b`:\n2"));
    }

    #[test]
    fn no_source_takes_more_than_its_share() {
        let long = "é".repeat(MOST_OF_ONE + 1);
        let many = (0..20).map(|_| ("s", long.clone()));
        let text = merged(None, many).unwrap();
        assert_eq!(text.matches('…').count(), MOST_OF_ALL / MOST_OF_ONE);
        assert!(text.chars().count() < MOST_OF_ALL + 500, "{}", text.len());
    }
}
