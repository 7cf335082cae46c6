//! The nearest name to one that nobody knows.

/// Names longer than this are no typing mistakes.
const LONGEST: usize = 64;

/// The candidate that was probably meant, if any is near.
pub(crate) fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if typed.len() > LONGEST {
        return None;
    }
    let allowed = (typed.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(typed, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// A hint that names the nearest candidate, or says something else where none is near.
pub(crate) fn did_you_mean<'a>(
    typed: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    otherwise: &str,
) -> String {
    nearest(typed, candidates).map_or_else(|| otherwise.to_owned(), |near| format!("did you mean `{near}`?"))
}

/// Someone's text, fit for a message: short, on one line, and without control characters.
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars().take(80) {
        if letter.is_control() { out.extend(letter.escape_default()) } else { out.push(letter) }
    }
    if text.chars().nth(80).is_some() {
        out.push('…');
    }
    out
}
