//! Secrets in words: in names that speak of them, in addresses, and among the arguments of a command.

use serde_json::Value;
use toolgate_host::is_telling;

use super::HIDDEN;

/// How keys begin that services give out.
const BEGINNINGS: [&str; 9] =
    ["sk-", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "AKIA"];

/// How long a key is at least.
const SHORTEST: usize = 12;

/// Whether a name says that its value may be a secret; a header may hold one.
pub(super) fn are_telling(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    is_telling(name) || ["header", "headers"].iter().any(|end| lower.ends_with(end))
}

/// A list of which some may be the arguments of a command.
pub(super) fn arguments(items: Vec<Value>) -> Value {
    let mut is_next = false;
    let shown = |item: Value| {
        let Value::String(text) = item else {
            is_next = false;
            return item;
        };
        let hides = is_next && !text.starts_with('-');
        is_next = is_flag(&text);
        if hides { HIDDEN.into() } else { argument(&text).into() }
    };
    items.into_iter().map(shown).collect()
}

/// A command on one line. Where its secret ends, only a shell could tell.
pub(super) fn command(text: &str) -> String {
    let mut start = 0;
    for piece in text.split_inclusive(' ') {
        let (end, word) = (start + piece.len(), piece.trim().trim_matches(['\'', '"']));
        if is_flag(word) && end < text.len() {
            return format!("{}{HIDDEN}", &text[..end]);
        }
        if word.split_once(['=', ':']).is_some_and(|(name, _)| are_telling(name)) {
            return format!("{}{HIDDEN}", &text[..start]);
        }
        start = end;
    }
    shown(text)
}

/// Whether the next argument is a secret.
fn is_flag(text: &str) -> bool {
    text == "-H" || (text.starts_with('-') && !text.contains(['=', ':']) && are_telling(text))
}

/// One argument: `--token=…`, `TOKEN=…` and `Authorization: …` lose what follows.
fn argument(text: &str) -> String {
    match text.split_once(['=', ':']) {
        Some((name, _)) if !name.contains([' ', '/', '?']) && are_telling(name) => {
            format!("{}{HIDDEN}", &text[..=name.len()])
        }
        _ => shown(text),
    }
}

/// A text, of which each word may be an address or a key.
pub(super) fn shown(text: &str) -> String {
    let is_gap = |letter: char| letter.is_whitespace() || "\"'<>()".contains(letter);
    text.split_inclusive(is_gap)
        .map(|piece| {
            let word = piece.trim_end_matches(is_gap);
            format!("{}{}", shown_word(word), &piece[word.len()..])
        })
        .collect()
}

fn shown_word(word: &str) -> String {
    if word.len() >= SHORTEST && BEGINNINGS.iter().any(|begin| word.starts_with(begin)) {
        return HIDDEN.into();
    }
    match word.split_once("://") {
        Some((scheme, rest)) => format!("{scheme}://{}", address(rest)),
        None => word.to_owned(),
    }
}

/// An address without who signs in, and without the values behind its path.
fn address(rest: &str) -> String {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, behind) = rest.split_at(end);
    let host = host.rsplit_once('@').map_or_else(|| host.to_owned(), |(_, host)| format!("{HIDDEN}@{host}"));
    let Some(start) = behind.find(['?', '#']) else { return host + behind };
    let (path, values) = behind.split_at(start);
    let pieces = values.split_inclusive(['&', '?', '#', ';']).map(|piece| {
        let sign =
            piece.chars().last().filter(|last| "&?#;".contains(*last)).map(String::from).unwrap_or_default();
        let pair = &piece[..piece.len() - sign.len()];
        match pair.split_once('=') {
            Some((name, value)) if !value.is_empty() => format!("{name}={HIDDEN}{sign}"),
            _ => format!("{pair}{sign}"),
        }
    });
    host + path + &pieces.collect::<String>()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn addresses_keep_what_is_not_secret() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            assert_eq!(shown(text), expect);
        }
        check("https://example.com/mcp", "https://example.com/mcp");
        check("https://me@example.com", "https://[REDACTED]@example.com");
        check("postgres://me:p@ss@db:5432/x", "postgres://[REDACTED]@db:5432/x");
        check("https://x/y?token=t&a=b#c=d", "https://x/y?token=[REDACTED]&a=[REDACTED]#c=[REDACTED]");
        check("https://x?flag&empty=", "https://x?flag&empty=");
        check("see <https://me:pw@x> and (a@b)", "see <https://[REDACTED]@x> and (a@b)");
        check("//cdn/x?y=z", "//cdn/x?y=z");
        check("use sk-0123456789ab now", "use [REDACTED] now");
        check("sk-short", "sk-short");
        check("mail@example.com: a key", "mail@example.com: a key");
    }

    #[test]
    fn arguments_lose_what_a_telling_one_is_followed_by() {
        #[track_caller]
        fn check(given: Value, expect: Value) {
            let Value::Array(items) = given else { panic!("a list") };
            assert_eq!(arguments(items), expect);
        }
        check(json!(["run", "--api-key", "k", "-v"]), json!(["run", "--api-key", HIDDEN, "-v"]));
        check(json!(["--token=t", "--port=80"]), json!(["--token=[REDACTED]", "--port=80"]));
        check(json!(["env", "MY_TOKEN=t", "A=b"]), json!(["env", "MY_TOKEN=[REDACTED]", "A=b"]));
        check(json!(["-H", "X-Any: v", "--header", "Y: z"]), json!(["-H", HIDDEN, "--header", HIDDEN]));
        check(json!(["Authorization: Bearer t"]), json!(["Authorization:[REDACTED]"]));
        check(json!(["--password", "--verbose"]), json!(["--password", "--verbose"]));
        check(json!(["--no-token", 7, "x"]), json!(["--no-token", 7, "x"]));
        check(json!(["python", "-u", "x.py"]), json!(["python", "-u", "x.py"]));
        check(json!(["npx", "https://u:p@h/x"]), json!(["npx", "https://[REDACTED]@h/x"]));
    }

    #[test]
    fn a_command_on_one_line_ends_where_a_secret_begins() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            assert_eq!(command(text), expect);
        }
        check("cargo fmt -- $FILE", "cargo fmt -- $FILE");
        check("curl -H 'Authorization: Bearer t' x", "curl -H [REDACTED]");
        check("curl 'Authorization: Bearer t' x", "curl [REDACTED]");
        check("A_TOKEN=t run", "[REDACTED]");
        check("run --token=t -v", "run [REDACTED]");
        check("run https://u:p@h", "run https://[REDACTED]@h");
    }
}
