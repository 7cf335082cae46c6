//! `{secret:NAME}` and `{env:NAME}` in the tables of upstreams: what they stand for takes their place.

use std::cell::RefCell;

use toolgate_config::Environment;
use toolgate_host::{Secret, is_telling, token_of};
use toolgate_secrets::Snapshot;
use toolgate_upstream::{Oauth, UpstreamConfig};

const OPEN: &str = "{env:";

/// Puts secrets and variables where texts refer to them, and remembers what came out.
pub(crate) struct Filling<'a> {
    secrets: &'a Snapshot,
    environment: &'a Environment,
    seen: RefCell<String>,
}

impl<'a> Filling<'a> {
    pub(crate) fn new(secrets: &'a Snapshot, environment: &'a Environment) -> Self {
        Self { secrets, environment, seen: RefCell::default() }
    }

    /// Where variables are looked up.
    pub(crate) fn environment(&self) -> &Environment {
        self.environment
    }

    /// The text with all references filled in; a value is never looked into.
    pub(crate) fn fill(&self, text: &str) -> Result<Secret, String> {
        let filled = self.filled(text);
        let mut seen = self.seen.borrow_mut();
        // One that is missing is told from one that is empty.
        seen.push_str(filled.as_ref().map_or("\0", |secret| secret.expose()));
        seen.push('\0');
        filled
    }

    fn filled(&self, text: &str) -> Result<Secret, String> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once(OPEN) {
            let Some((name, behind)) = behind.split_once('}') else {
                return Err("a reference is written `{env:NAME}`".into());
            };
            self.secrets_of(before, &mut filled)?;
            let value = self.environment.get(name);
            filled.push_str(value.ok_or_else(|| format!("the variable `{name}` is not set"))?);
            rest = behind;
        }
        self.secrets_of(rest, &mut filled)?;
        Ok(Secret::new(filled))
    }

    /// Tells what was filled in from what would be filled in another time.
    pub(crate) fn digest(&self) -> Vec<u8> {
        toolgate_wire::digest(&toolgate_wire::Raw::of(&*self.seen.borrow())).to_vec()
    }

    fn secrets_of(&self, text: &str, filled: &mut String) -> Result<(), String> {
        let secret = toolgate_secrets::fill(text, self.secrets);
        filled.push_str(secret.map_err(|missing| format!("{missing}; {}", missing.hint()))?.expose());
        Ok(())
    }
}

/// What is secret in a table without being kept as a secret: headers and variables whose names say so.
pub(crate) fn sensitive(table: &UpstreamConfig, environment: &Environment) -> Vec<Secret> {
    let none = Snapshot::default();
    let filling = Filling::new(&none, environment);
    let values = table.headers.iter().chain(&table.env).filter(|(name, _)| is_telling(name));
    let client = match &table.oauth {
        Some(Oauth::With(oauth)) => oauth.client_secret.as_ref(),
        Some(Oauth::On | Oauth::Off) | None => None,
    };
    // What refers to a secret is hidden as that secret.
    let filled = values.map(|(_, value)| value).chain(client).filter_map(|value| filling.fill(value).ok());
    filled.flat_map(|secret| with_token(secret.expose())).map(Secret::new).collect()
}

/// A header's value, and the token in it where a scheme stands before that: a server may tell it alone.
pub(crate) fn with_token(value: &str) -> Vec<String> {
    std::iter::once(value).chain(token_of(value)).map(ToOwned::to_owned).collect()
}

/// A text as it may look once it is filled in, for who has to judge it before.
pub(crate) fn stand_in(text: &str) -> Secret {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(start) = [OPEN, "{secret:"].iter().filter_map(|open| rest.find(open)).min() {
        let Some(length) = rest[start..].find('}') else { break };
        shown.push_str(&rest[..start]);
        // Whatever begins with a reference may well be an address.
        shown.push_str(if shown.is_empty() { "https://x" } else { "x" });
        rest = &rest[start + length + 1..];
    }
    shown.push_str(rest);
    Secret::new(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(text: &str) -> Result<String, String> {
        let secrets: Snapshot =
            [("KEY".parse().unwrap(), Secret::new("s3cret {env:HOME}".into()))].into_iter().collect();
        let environment: Environment =
            [("HOME", "/home/me"), ("ODD", "{secret:KEY}"), ("EMPTY", "")].into_iter().collect();
        let filled = Filling::new(&secrets, &environment).fill(text);
        filled.map(|secret| secret.expose().to_owned())
    }

    #[test]
    fn values_take_the_place_of_references_and_are_not_looked_into() {
        #[track_caller]
        fn check(text: &str, expect: Result<&str, &str>) {
            assert_eq!(fill(text), expect.map(Into::into).map_err(Into::into), "{text}");
        }
        check("", Ok(""));
        check("plain {x}", Ok("plain {x}"));
        check("{env:HOME}/notes", Ok("/home/me/notes"));
        check("{secret:KEY}", Ok("s3cret {env:HOME}"));
        check("{env:ODD}-{secret:KEY}-{env:HOME}", Ok("{secret:KEY}-s3cret {env:HOME}-/home/me"));
        check("{env:NONE}", Err("the variable `NONE` is not set"));
        check("{env:EMPTY}", Err("the variable `EMPTY` is not set"));
        check("{env:HOME", Err("a reference is written `{env:NAME}`"));
        check("{secret:NONE}", Err("there is no secret `NONE`; run `toolgate secret set NONE`"));
    }

    #[test]
    fn what_names_tell_is_hidden_with_the_token_in_it() {
        let texts = |pairs: [(&str, &str); 2]| {
            pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
        };
        let table = UpstreamConfig {
            headers: texts([("Authorization", "Bearer ghp_12345678"), ("Accept", "text/html")]),
            env: texts([("GIT_AUTHOR_NAME", "Ada Lovelace"), ("DEEP_KEY", "sesame-open")]),
            ..UpstreamConfig::default()
        };
        let hidden = sensitive(&table, &Environment::default());
        let hidden: Vec<&str> = hidden.iter().map(Secret::expose).collect();
        assert_eq!(hidden, ["Bearer ghp_12345678", "ghp_12345678", "sesame-open"]);
    }

    #[test]
    fn an_address_can_be_judged_before_it_is_known() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            assert_eq!(stand_in(text).expose(), expect);
        }
        check("https://h/mcp", "https://h/mcp");
        check("{secret:URL}", "https://x");
        check("{env:BASE}/mcp/{secret:T}", "https://x/mcp/x");
        check("https://h/{secret:T}?x={env:Y}", "https://h/x?x=x");
        check("https://h/{secret:T", "https://h/{secret:T");
    }
}
