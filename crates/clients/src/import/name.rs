//! Names that fit where they go.

/// The longest name of a server.
const SERVER: usize = 32;

/// The longest name of a secret.
const SECRET: usize = 64;

/// A client's name for a server as one for `[mcp.NAME]`: letters, digits, `-` and `_`, at most 32.
#[must_use]
pub fn server_name(name: &str) -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let mut out = String::new();
    for letter in name.chars() {
        match letter {
            letter if fits(letter) => out.push(letter),
            _ if out.is_empty() || out.ends_with('-') => {}
            _ => out.push('-'),
        }
    }
    out.truncate(SERVER);
    let out = out.trim_end_matches('-');
    if out.is_empty() { "server".to_owned() } else { out.to_owned() }
}

/// A name with an ending, both within the limit.
pub(super) fn with_ending(name: &str, ending: &str) -> String {
    let room = SERVER.saturating_sub(ending.len() + 1);
    let kept: String = name.chars().take(room).collect();
    format!("{}-{ending}", kept.trim_end_matches('-'))
}

/// The name of a secret: capital letters, digits and `_`, a letter first.
pub(super) fn secret_name(parts: &[&str]) -> String {
    let letter =
        |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' };
    let joined: String = parts.join("_").trim_start_matches(['-', '.', '_']).chars().map(letter).collect();
    let begins = joined.starts_with(|first: char| first.is_ascii_uppercase());
    let mut name = if begins { joined } else { format!("SECRET_{joined}") };
    name.truncate(SECRET);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_to_fit() {
        for (name, expect) in [
            ("github", "github"),
            ("My Server (work)", "My-Server-work"),
            ("io.github.me/server", "io-github-me-server"),
            ("日本", "server"),
            ("x_y-1", "x_y-1"),
        ] {
            assert_eq!(server_name(name), expect);
        }
        assert_eq!(server_name(&"a".repeat(40)).len(), 32);
        assert_eq!(with_ending(&"a".repeat(32), "cursor"), format!("{}-cursor", "a".repeat(25)));
    }

    #[test]
    fn secrets_are_named_in_capitals() {
        for (parts, expect) in [
            (&["GITHUB_TOKEN"][..], "GITHUB_TOKEN"),
            (&["notion", "X-Api-Key"], "NOTION_X_API_KEY"),
            (&["--api-key"], "API_KEY"),
            (&[".key"], "KEY"),
            (&["1password"], "SECRET_1PASSWORD"),
        ] {
            assert_eq!(secret_name(parts), expect);
        }
    }
}
