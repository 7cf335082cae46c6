//! What a page has said or asked for, a numbered line each, and a page of them at a time.

use toolgate_core::Text;

use crate::text::{fenced, fitting};

/// Which of them are wanted.
pub(super) struct Wanted {
    /// Only those after this number.
    pub(super) since: Option<u64>,
    /// How many at most.
    pub(super) limit: Option<usize>,
}

/// Lines for those that are wanted, and how to see more. `what` is what they are called.
pub(super) fn listed<'a, T: 'a>(
    all: impl Iterator<Item = (u64, &'a T)>,
    wanted: &Wanted,
    what: &str,
    line: impl Fn(u64, &T) -> String,
) -> Text {
    let fits: Vec<_> = all.filter(|(number, _)| *number > wanted.since.unwrap_or(0)).collect();
    let most = wanted.limit.unwrap_or(50).clamp(1, 500);
    let lines: Vec<String> = fits.iter().take(most).map(|(number, entry)| line(*number, entry)).collect();
    let shown = fitting(&lines, 40_000);
    let Some((last, _)) = shown.len().checked_sub(1).map(|at| fits[at]) else {
        return Text(format!("no {what}"));
    };
    let rest =
        if fits.len() > shown.len() { format!("; `since` = {last} tells more") } else { String::new() };
    Text(format!("shown {} of {} {what}{rest}\n{}", shown.len(), fits.len(), fenced(&shown.join("\n"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_lines_says_how_to_see_the_next() {
        let all: Vec<(u64, &str)> = vec![(3, "c"), (4, "d"), (5, "e")];
        let check = |since: Option<u64>, limit: Option<usize>, head: &str, lines: &str| {
            let wanted = Wanted { since, limit };
            let entries = all.iter().map(|(number, text)| (*number, text));
            let Text(text) = listed(entries, &wanted, "letters", |number, text| format!("{number} {text}"));
            let expect =
                if lines.is_empty() { head.to_owned() } else { format!("{head}\n{}", fenced(lines)) };
            assert_eq!(text, expect, "{since:?} {limit:?}");
        };
        check(None, None, "shown 3 of 3 letters", "3 c\n4 d\n5 e");
        check(None, Some(2), "shown 2 of 3 letters; `since` = 4 tells more", "3 c\n4 d");
        check(Some(4), Some(2), "shown 1 of 1 letters", "5 e");
        check(Some(5), None, "no letters", "");
        check(None, Some(0), "shown 1 of 3 letters; `since` = 3 tells more", "3 c");
    }

    #[test]
    fn lines_that_are_left_out_are_on_the_next_page() {
        let long = "x".repeat(15_000);
        let next = |since: Option<u64>| {
            let all = (1..=4).map(|number| (number, &long));
            let Text(text) = listed(all, &Wanted { since, limit: None }, "lines", |number, text| {
                format!("{number} {text}")
            });
            text.lines().next().unwrap().to_owned()
        };
        assert_eq!(next(None), "shown 2 of 4 lines; `since` = 2 tells more");
        assert_eq!(next(Some(2)), "shown 2 of 2 lines");
    }
}
