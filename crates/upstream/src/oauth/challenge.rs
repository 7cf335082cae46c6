//! How a server asks who we are: the `WWW-Authenticate` header.

/// What a `Bearer` challenge says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Challenge {
    /// Where the server describes itself.
    pub(crate) resource_metadata: Option<String>,
    /// What one has to be allowed for the request.
    pub(crate) scope: Option<String>,
    pub(crate) error: Option<String>,
}

impl Challenge {
    /// Reads a header, or several joined by commas. What is no `Bearer` challenge says nothing.
    pub(crate) fn read(header: &str) -> Self {
        let mut this = Self::default();
        let mut bearer = false;
        let mut rest = header;
        loop {
            rest = rest.trim_start_matches([' ', '\t', ',']);
            let end = rest.find(|c| !is_token(c)).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            if word.is_empty() {
                // Something that is no word: pass by it, or come to the end.
                let mut letters = rest.chars();
                if letters.next().is_none() {
                    return this;
                }
                rest = letters.as_str();
                continue;
            }
            let Some(value) = behind.trim_start().strip_prefix('=') else {
                bearer = word.eq_ignore_ascii_case("bearer");
                rest = behind;
                continue;
            };
            let (value, behind) = read_value(value.trim_start());
            rest = behind;
            if bearer {
                this.take(word, value);
            }
        }
    }

    /// The first of several counts.
    fn take(&mut self, name: &str, value: String) {
        let place = match name.to_ascii_lowercase().as_str() {
            "resource_metadata" => &mut self.resource_metadata,
            "scope" => &mut self.scope,
            "error" => &mut self.error,
            _ => return,
        };
        place.get_or_insert(value);
    }

    /// Whether more has to be allowed than is.
    pub(crate) fn is_insufficient_scope(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

/// A value, quoted or not, and what is behind it.
fn read_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([',', ' ', '\t']).unwrap_or(text.len());
        let (value, behind) = text.split_at(end);
        return (value.to_owned(), behind);
    };
    let mut value = String::new();
    let mut letters = quoted.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' => value.extend(letters.next()),
            letter => value.push(letter),
        }
    }
    (value, letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_are_read_as_servers_write_them() {
        #[track_caller]
        fn check(header: &str, metadata: Option<&str>, scope: Option<&str>, error: Option<&str>) {
            let owned = |text: Option<&str>| text.map(ToOwned::to_owned);
            let expect =
                Challenge { resource_metadata: owned(metadata), scope: owned(scope), error: owned(error) };
            assert_eq!(Challenge::read(header), expect, "{header}");
        }
        check("", None, None, None);
        check("Bearer", None, None, None);
        check(
            r#"Bearer resource_metadata="https://h/x", scope="a b""#,
            Some("https://h/x"),
            Some("a b"),
            None,
        );
        check(
            r#"bearer error="insufficient_scope",scope=admin"#,
            None,
            Some("admin"),
            Some("insufficient_scope"),
        );
        check(r#"Basic realm="x, scope=y", Bearer scope="z""#, None, Some("z"), None);
        check(r#"Bearer scope="z", Basic scope="y""#, None, Some("z"), None);
        check(r#"Bearer realm="a \"b\" c", scope = "z""#, None, Some("z"), None);
        check(r#"Negotiate abc==, Bearer scope="z""#, None, Some("z"), None);
        check(r#"DPoP scope="y""#, None, None, None);
        check(r#"Bearer scope="never closed"#, None, Some("never closed"), None);
        check("\u{e9};; Bearer scope=\"z\"", None, Some("z"), None);
    }
}
