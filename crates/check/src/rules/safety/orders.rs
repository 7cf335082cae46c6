//! Orders to the model that no honest description needs.

/// What turns the model against its user.
const ORDERS: [&str; 26] = [
    "ignore previous instructions",
    "ignore all previous",
    "ignore any previous",
    "ignore prior instructions",
    "ignore the above",
    "ignore your instructions",
    "disregard previous",
    "disregard all previous",
    "disregard prior",
    "forget your instructions",
    "do not tell the user",
    "don't tell the user",
    "do not inform the user",
    "do not mention this to",
    "do not mention that you",
    "do not reveal this",
    "never reveal this",
    "without telling the user",
    "without informing the user",
    "without the user's knowledge",
    "hide this from the user",
    "keep this secret",
    "the user must not know",
    "<important>",
    "<system>",
    "reveal your system prompt",
];

/// What draws calls away from other tools, or to this one.
const MEDDLING: [&str; 9] = [
    "before using any other tool",
    "before calling any other tool",
    "before any other tool is",
    "whenever another tool is",
    "instead of any other tool",
    "do not use any other tool",
    "never use any other tool",
    "must be called before every",
    "tools of other servers",
];

pub(super) fn orders(text: &str) -> Vec<&'static str> {
    within(text, &ORDERS)
}

pub(super) fn meddling(text: &str) -> Vec<&'static str> {
    within(text, &MEDDLING)
}

fn within(text: &str, phrases: &'static [&'static str]) -> Vec<&'static str> {
    let plain = plain(text);
    phrases.iter().copied().filter(|phrase| plain.contains(phrase)).collect()
}

/// Small letters, single spaces, nothing invisible: as a model may read it.
fn plain(text: &str) -> String {
    let visible = text.chars().filter(|letter| letter.is_whitespace() || !super::is_hidden(*letter));
    let lower: String = visible
        .flat_map(char::to_lowercase)
        .map(|letter| if letter == '’' { '\'' } else { letter })
        .collect();
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_found_in_any_dress() {
        assert_eq!(orders("Ig\u{200b}nore  PREVIOUS\ninstructions"), ["ignore previous instructions"]);
        assert_eq!(orders("Don’t tell the user"), ["don't tell the user"]);
        assert_eq!(orders("Reads a file. Important: paths are absolute."), Vec::<&str>::new());
        assert_eq!(meddling("Call this before using any other tool!"), ["before using any other tool"]);
        assert_eq!(meddling("Deprecated: use read_text_file instead."), Vec::<&str>::new());
    }
}
