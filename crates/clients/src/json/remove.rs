//! A property taken out of an object: what [`super::insert`] does, the other way round.

use jsonc_parser::ast::ObjectProp;
use jsonc_parser::common::Ranged as _;

use super::trivia;
use crate::splice::Splice;
use crate::text;

/// The edits that take the property at this place out. Comments stay, for they are someone's words.
pub(super) fn property(text: &str, properties: &[ObjectProp<'_>], place: usize) -> Vec<Splice> {
    let gone = &properties[place];
    let mut splices = Vec::new();
    let next = trivia::skip(text, gone.end());
    let has_comma = text[next..].starts_with(',');
    if !has_comma && let Some(previous) = place.checked_sub(1).map(|previous| &properties[previous]) {
        // It was the last one, and the one before it becomes the last.
        let comma = trivia::skip(text, previous.end());
        splices.push(Splice::cut(comma..comma + 1));
    }
    let blank_before_comma = text[gone.end()..next].trim().is_empty();
    let end = if has_comma && blank_before_comma { next + 1 } else { gone.end() };
    let start = gone.start();
    splices.push(Splice::cut(if text::begins_line(text, start) && text::ends_line(text, end) {
        line_break_before(text, start)..end
    } else if has_comma {
        start..end + blanks_after(text, end)
    } else {
        start - blanks_before(text, start)..end
    }));
    if has_comma && !blank_before_comma {
        splices.push(Splice::cut(next..next + 1));
    }
    splices
}

/// Where the line break begins that the line of an offset follows.
fn line_break_before(text: &str, offset: usize) -> usize {
    let break_end = text::line_start(text, offset);
    let before = &text[..break_end];
    before.strip_suffix("\r\n").or_else(|| before.strip_suffix('\n')).unwrap_or(before).len()
}

fn blanks_after(text: &str, offset: usize) -> usize {
    let rest = &text[offset..];
    rest.len() - rest.trim_start_matches([' ', '\t']).len()
}

fn blanks_before(text: &str, offset: usize) -> usize {
    let before = &text[..offset];
    before.len() - before.trim_end_matches([' ', '\t']).len()
}
