//! What stands between the tokens: blanks, line breaks and comments.

/// Where blanks, line breaks and comments end that begin here.
pub(super) fn skip(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let blanks = text[at..].len() - text[at..].trim_start().len();
        at += blanks;
        let Some(comment) = comment(&text[at..]) else { return at };
        at += comment.len();
    }
}

/// The comments on the rest of a line, as far as they end on it.
pub(super) struct Rest {
    /// Where the last of them ends, or where the rest began.
    pub(super) end: usize,
    /// Whether the last of them goes on to the end of the line.
    pub(super) to_end: bool,
}

/// Looks at the rest of a line.
pub(super) fn rest_of_line(text: &str, from: usize) -> Rest {
    let (mut end, mut at) = (from, from);
    loop {
        at += text[at..].len() - text[at..].trim_start_matches([' ', '\t']).len();
        match comment(&text[at..]) {
            Some(comment) if comment.starts_with("//") => {
                return Rest { end: at + comment.len(), to_end: true };
            }
            Some(comment) if !comment.contains('\n') => {
                at += comment.len();
                end = at;
            }
            _ => return Rest { end, to_end: false },
        }
    }
}

/// The comment that a text begins with; one line's ends before the break.
fn comment(text: &str) -> Option<&str> {
    if text.starts_with("//") {
        let line = text.split('\n').next().unwrap_or(text);
        return Some(line.strip_suffix('\r').unwrap_or(line));
    }
    let inner = text.strip_prefix("/*")?;
    let length = inner.find("*/").map_or(text.len(), |end| end + 4);
    text.get(..length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, skipped: &str, rest: &str, to_end: bool) {
        assert_eq!(&text[..skip(text, 0)], skipped);
        let found = rest_of_line(text, 0);
        assert_eq!((&text[..found.end], found.to_end), (rest, to_end));
    }

    #[test]
    fn comments_end_where_the_language_says() {
        check(",", "", "", false);
        check("  \r\n , x", "  \r\n ", "", false);
        check(" // a, /* b\r\n , x", " // a, /* b\r\n ", " // a, /* b", true);
        check(" /* a // b */ , x", " /* a // b */ ", " /* a // b */", false);
        check(" /* a */ /* b\n */ // c\n,", " /* a */ /* b\n */ // c\n", " /* a */", false);
        check("/**/}", "/**/", "/**/", false);
        check("//", "//", "//", true);
    }
}
