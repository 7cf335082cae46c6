//! Patterns in which `*` stands for any text, also none, and nothing else is special.

/// Whether a pattern fits the whole text. Takes time in proportion to both, at the worst to their product.
pub fn fits_pattern(pattern: &str, text: &str) -> bool {
    let Some((head, mut rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut left) = text.strip_prefix(head) else { return false };
    while let Some((part, behind)) = rest.split_once('*') {
        // The earliest place leaves the most for what follows.
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
        rest = behind;
    }
    left.ends_with(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text() {
        #[track_caller]
        fn check(pattern: &str, text: &str, expect: bool) {
            assert_eq!(fits_pattern(pattern, text), expect, "{pattern} {text}");
        }
        check("a", "a", true);
        check("a", "ab", false);
        check("a*", "ab", true);
        check("*b", "ab", true);
        check("*", "", true);
        check("a*c*e", "abcde", true);
        check("a*c*e", "abde", false);
        check("aa*aa", "aaa", false);
        check("*a*", "bab", true);
        check("", "a", false);
    }
}
