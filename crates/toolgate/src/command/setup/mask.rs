//! Secrets on the lines of others: people paste what a terminal shows.

use toolgate_clients::import::looks_secret;
use toolgate_host::is_telling;

/// What stands in the place of a secret.
const HIDDEN: &str = "…";

/// The lines of a file of JSON or TOML, without the texts that a telling name stands before, or that look like secrets.
pub(in crate::command) fn secrets<'l>(lines: impl IntoIterator<Item = &'l str>) -> Vec<String> {
    let mut follows = false;
    lines.into_iter().map(|line| masked(line.trim_end_matches(['\r', '\n']), &mut follows)).collect()
}

/// A line of it; `follows` says whether the last argument announced a secret, as `--token` does.
fn masked(line: &str, follows: &mut bool) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(start) = rest.find(['"', '\'']) {
        let (before, literal) = rest.split_at(start);
        let end = end_of(literal);
        out.push_str(before);
        let (quote, inside) = (&literal[..1], literal[1..end].trim_end_matches(&literal[..1]));
        // A list goes on only by commas.
        *follows &= before.trim_matches([' ', '\t', ',', '[']).is_empty();
        let hides = is_secret(&out) || (*follows && !inside.starts_with('-'));
        let shown = if hides && !is_reference(inside) { HIDDEN.to_owned() } else { argument(inside) };
        *follows =
            inside == "-H" || (inside.starts_with('-') && !inside.contains(['=', ':']) && is_telling(inside));
        out = if shown == inside { out + &literal[..end] } else { out + quote + &shown + quote };
        rest = &literal[end..];
    }
    out + rest
}

/// One text: `--token=…`, `TOKEN=…` and `Authorization: …` lose what follows, and what looks like a secret goes.
fn argument(text: &str) -> String {
    match text.split_once(['=', ':']) {
        Some((name, value))
            if !name.contains([' ', '/', '?', '{']) && is_telling(name) && !is_reference(value.trim()) =>
        {
            format!("{}{HIDDEN}", &text[..=name.len()])
        }
        _ if looks_secret("", text) => HIDDEN.to_owned(),
        // A header may stand behind an option.
        Some((name, value)) if name.starts_with('-') => {
            format!("{}{}", &text[..=name.len()], argument(value))
        }
        _ => text.to_owned(),
    }
}

/// Where a text between quotes ends, or the line.
fn end_of(literal: &str) -> usize {
    let quote = literal.chars().next().unwrap_or('"');
    let mut escaped = false;
    for (at, letter) in literal.char_indices().skip(1) {
        match letter {
            _ if letter == quote && !escaped => return at + 1,
            _ => escaped = letter == '\\' && !escaped && quote == '"',
        }
    }
    literal.len()
}

/// Whether a text only says where its secret is: `Bearer {secret:NAME}`.
fn is_reference(literal: &str) -> bool {
    let opens = ["{secret:", "{env:"];
    let Some(start) = opens.iter().filter_map(|open| literal.find(open)).min() else { return false };
    let Some(length) = literal[start..].find('}') else { return false };
    let around = literal[..start].len() + literal[start + length + 1..].len();
    around <= "Bearer ".len()
}

/// Whether what stands before a text is the name of a secret.
fn is_secret(before: &str) -> bool {
    let Some(name) = before.trim_end().strip_suffix([':', '=']) else { return false };
    let name = name.trim_end().trim_end_matches(['"', '\'']);
    let start = name.rfind(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '-');
    is_telling(&name[start.map_or(0, |at| at + 1)..])
}

#[cfg(test)]
mod tests {
    use super::secrets;

    #[track_caller]
    fn check(line: &str, expect: &str) {
        assert_eq!(secrets(line.split('\n')).join("\n"), expect);
    }

    #[test]
    fn values_of_telling_names_are_left_out() {
        check(r#"  "GITHUB_TOKEN": "ghp_1\"2", "#, r#"  "GITHUB_TOKEN": "…", "#);
        check(
            r#"{"headers":{"X-Api-Key":"k","Accept":"a"}}"#,
            r#"{"headers":{"X-Api-Key":"…","Accept":"a"}}"#,
        );
        check(
            r#"env = { OPENAI_API_KEY = "sk", HOME = "/h" }"#,
            r#"env = { OPENAI_API_KEY = "…", HOME = "/h" }"#,
        );
        check(r#""token": "cut"#, r#""token": "…""#);
        check("token = 'cut'", "token = '…'");
        check("// don't", "// don't");
        check(r#""args": ["token", "é"] // key"#, r#""args": ["token", "é"] // key"#);
        check(r#"KEY = "{secret:KEY}""#, r#"KEY = "{secret:KEY}""#);
        check(r#"Authorization = "Bearer {env:T}""#, r#"Authorization = "Bearer {env:T}""#);
        check(r#"KEY = "abcdefghijk{env:T}""#, r#"KEY = "…""#);
        check(r#"KEY = "{env:T""#, r#"KEY = "…""#);
        check("", "");
    }

    #[test]
    fn arguments_that_hold_secrets_are_left_out_also_on_lines_of_their_own() {
        check(r#"["--api-key", "k1", "-v"]"#, r#"["--api-key", "…", "-v"]"#);
        check("[\n  \"--api-key\",\n  \"k1\",\r\n  \"k2\"\n]", "[\n  \"--api-key\",\n  \"…\",\n  \"k2\"\n]");
        check(r#"["--token", "{secret:T}"]"#, r#"["--token", "{secret:T}"]"#);
        check(r#"["--token"], "cwd": "/h"#, r#"["--token"], "cwd": "/h"#);
        check(r#"["--token=t1", "TOKEN=t2", "--port=80"]"#, r#"["--token=…", "TOKEN=…", "--port=80"]"#);
        check(r#"["-H", "Authorization: Bearer t"]"#, r#"["-H", "…"]"#);
        check(r#"["--header=X-Api-Key: t"]"#, r#"["--header=X-Api-Key:…"]"#);
        check(r#"["postgres://me:hunter2@db/app"]"#, r#"["…"]"#);
        check(r#"["ghp_0123456789abcdef"]"#, r#"["…"]"#);
        check(r#"["-y", "@scope/server-files", "/home/me"]"#, r#"["-y", "@scope/server-files", "/home/me"]"#);
    }
}
