//! Short excerpts of a note: the lines that say most about what was asked.

use super::index::words::{self, Asked};
use super::note::front_matter;

/// The most lines of one note.
const MOST: usize = 3;
/// The most characters of one line, and how many of them the next piece of a long line repeats.
const LONGEST: usize = 240;
const OVERLAP: usize = 40;

/// A piece of a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Excerpt {
    /// From 1.
    pub(super) line: usize,
    pub(super) text: String,
}

/// The lines that say most, in order; without a word in any of them, the first that says something.
pub(super) fn excerpts(text: &str, asked: &[Asked]) -> Vec<Excerpt> {
    let mut best: Vec<(f32, Excerpt)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Some((score, piece)) = best_piece(line, asked) else { continue };
        let last = best.last().map_or(0.0, |(score, _)| *score);
        if best.len() < MOST || score > last {
            let at = best.partition_point(|(other, _)| *other >= score);
            best.insert(at, (score, Excerpt { line: number + 1, text: piece }));
            best.truncate(MOST);
        }
    }
    if best.is_empty() {
        return first(text).into_iter().collect();
    }
    let mut chosen: Vec<Excerpt> = best.into_iter().map(|(_, excerpt)| excerpt).collect();
    chosen.sort_unstable_by_key(|excerpt| excerpt.line);
    chosen
}

/// The first line of the text that has words.
fn first(text: &str) -> Option<Excerpt> {
    let body = front_matter(text).map_or(0, |found| found.end);
    let before = text[..body].matches('\n').count();
    let mut lines = text[body..].lines().enumerate();
    let (number, line) = lines.find(|(_, line)| line.chars().any(char::is_alphanumeric))?;
    let piece = pieces(line).next()?;
    Some(Excerpt { line: before + number + 1, text: piece })
}

/// The piece of a line that says most, and how much.
fn best_piece(line: &str, asked: &[Asked]) -> Option<(f32, String)> {
    let scored = pieces(line).filter_map(|piece| Some((score(&piece, asked)?, piece)));
    scored.reduce(|best, next| if next.0 > best.0 { next } else { best })
}

/// How many of the words a piece has, better ones counting more.
fn score(piece: &str, asked: &[Asked]) -> Option<f32> {
    let mut fits = vec![0.0_f32; asked.len()];
    words::each(piece, |word| {
        for (fit, asked) in fits.iter_mut().zip(asked) {
            *fit = fit.max(asked.fits(word).unwrap_or(0.0));
        }
    });
    let all: f32 = fits.iter().sum();
    (all > 0.0).then_some(all)
}

/// A line, or the overlapping pieces of a long one.
fn pieces(line: &str) -> impl Iterator<Item = String> + '_ {
    let line = line.trim();
    let mut from = Some(0);
    std::iter::from_fn(move || {
        let start = from?;
        let rest = &line[start..];
        let nth = |count: usize| rest.char_indices().nth(count).map(|(at, _)| at);
        let end = nth(LONGEST);
        from = end.and(nth(LONGEST - OVERLAP)).map(|step| start + step);
        let piece = &rest[..end.unwrap_or(rest.len())];
        Some([if start > 0 { "…" } else { "" }, piece, if end.is_some() { "…" } else { "" }].concat())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, query: &str, expect: &[(usize, &str)]) {
        let found = excerpts(text, &words::of_query(query));
        let found: Vec<_> = found.iter().map(|excerpt| (excerpt.line, excerpt.text.as_str())).collect();
        assert_eq!(found, expect, "{query}");
    }

    #[test]
    fn the_lines_that_say_most_come_in_order() {
        let text = "apple\n\nno\nbanana apple\n  apples \napple\nBANANA\r\n";
        check(text, "apple", &[(1, "apple"), (4, "banana apple"), (6, "apple")]);
        check(text, "banana apple", &[(1, "apple"), (4, "banana apple"), (6, "apple")]);
        check(text, "banana", &[(4, "banana apple"), (7, "BANANA")]);
        check("---\na: b\n---\n\n# Title\ntext", "zebra", &[(5, "# Title")]);
        check("東京で\n会議です", "会議", &[(2, "会議です")]);
        check("", "x", &[]);
        check("---\n---\n", "x", &[]);
    }

    #[test]
    fn of_a_long_line_the_piece_that_says_most_is_shown() {
        let line = format!("{} needle {}", "é ".repeat(2_000), "ü ".repeat(2_000));
        let found = excerpts(&line, &words::of_query("needle"));
        assert_eq!(found.len(), 1);
        let text = &found[0].text;
        assert!(text.contains("needle") && text.starts_with('…') && text.ends_with('…'), "{text}");
        assert_eq!(text.chars().count(), LONGEST + 2);
        assert_eq!(pieces(&"x".repeat(LONGEST)).count(), 1);
        assert_eq!(pieces(&"x".repeat(LONGEST + 1)).count(), 2);
        assert_eq!(pieces("").collect::<Vec<_>>(), [""]);
    }
}
