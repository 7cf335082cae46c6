//! Finds out whether a URI fits a URI template (RFC 6570), and what its variables then hold.
//!
//! Matching, not expansion: `{var}` is one or more characters but `/`, `{+var}` and `{var*}` are
//! anything but nothing, and `{?a,b}` at the end is a query. The time is bounded by the length of the
//! template times the length of the URI.

/// A URI template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
    query: Vec<String>,
}

/// Why a text is not accepted as a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTemplate {
    /// A brace has no partner.
    #[error("unbalanced brace in a URI template")]
    Unbalanced,
    /// An expression that is not known here.
    #[error("unsupported expression `{{{0}}}` in a URI template")]
    Unsupported(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Variable { name: String, slashes: bool },
}

impl Template {
    /// Reads a template.
    pub fn parse(text: &str) -> Result<Self, BadTemplate> {
        let mut template = Self { parts: Vec::new(), query: Vec::new() };
        let mut rest = text;
        while let Some(open) = rest.find(['{', '}']) {
            let (literal, from_brace) = rest.split_at(open);
            template.literal(literal);
            let inner = from_brace.strip_prefix('{').ok_or(BadTemplate::Unbalanced)?;
            let (expression, after) = inner.split_once('}').ok_or(BadTemplate::Unbalanced)?;
            template.expression(expression, after.is_empty())?;
            rest = after;
        }
        template.literal(rest);
        Ok(template)
    }

    /// The variables if `uri` fits, in the order of the template, as they are written in the URI:
    /// percent-encoding stays. Where several ways fit, an earlier variable takes more.
    pub fn matches<'a>(&self, uri: &'a str) -> Option<Vec<(&str, &'a str)>> {
        let (path, query) = match (self.query.is_empty(), uri.split_once('?')) {
            (false, Some((path, query))) => (path, Some(query)),
            (true, _) | (false, None) => (uri, None),
        };
        let mut found = self.match_path(path)?;
        for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = self.query.iter().find(|name| *name == key)?;
            found.push((name, value));
        }
        Some(found)
    }

    fn literal(&mut self, text: &str) {
        if !text.is_empty() {
            self.parts.push(Part::Literal(text.to_owned()));
        }
    }

    fn expression(&mut self, text: &str, last: bool) -> Result<(), BadTemplate> {
        let unsupported = || BadTemplate::Unsupported(text.to_owned());
        if let Some(names) = text.strip_prefix('?').filter(|_| last) {
            self.query = names.split(',').map(|name| name.trim_end_matches('*').to_owned()).collect();
            return if self.query.iter().all(|name| is_name(name)) { Ok(()) } else { Err(unsupported()) };
        }
        let reserved = text.strip_prefix('+');
        let name = reserved.unwrap_or(text);
        let exploded = name.strip_suffix('*');
        let name = exploded.unwrap_or(name);
        if !is_name(name) {
            return Err(unsupported());
        }
        let slashes = reserved.is_some() || exploded.is_some();
        self.parts.push(Part::Variable { name: name.to_owned(), slashes });
        Ok(())
    }

    fn match_path<'a>(&self, path: &'a str) -> Option<Vec<(&str, &'a str)>> {
        if !self.ends_fit(path) {
            return None;
        }
        let fits = self.fits(path);
        let mut at = 0;
        let mut found = Vec::new();
        for (index, part) in self.parts.iter().enumerate() {
            if !fits[index][at] {
                return None;
            }
            match part {
                Part::Literal(text) => at += text.len(),
                Part::Variable { name, slashes } => {
                    let length = path[at..].find('/').filter(|_| !slashes).unwrap_or(path.len() - at);
                    let ends = |end: &usize| path.is_char_boundary(*end) && fits[index + 1][*end];
                    let end = (at + 1..=at + length).rev().find(ends)?;
                    found.push((name.as_str(), &path[at..end]));
                    at = end;
                }
            }
        }
        (at == path.len()).then_some(found)
    }

    /// Whether the beginning and the end fit. Most templates differ there, and this takes neither time nor memory.
    fn ends_fit(&self, path: &str) -> bool {
        let fits = |part: Option<&Part>, at_its_end: fn(&str, &str) -> bool| match part {
            Some(Part::Literal(text)) => at_its_end(path, text),
            Some(Part::Variable { .. }) | None => true,
        };
        fits(self.parts.first(), |path, text| path.starts_with(text))
            && fits(self.parts.last(), |path, text| path.ends_with(text))
    }

    /// For each part and each byte of the path: whether that part and all behind it fit from there.
    fn fits(&self, path: &str) -> Vec<Vec<bool>> {
        let bytes = path.as_bytes();
        let mut rows = vec![vec![false; bytes.len() + 1]; self.parts.len() + 1];
        rows[self.parts.len()][bytes.len()] = true;
        for (index, part) in self.parts.iter().enumerate().rev() {
            for at in (0..bytes.len()).rev() {
                rows[index][at] = match part {
                    Part::Literal(text) => {
                        bytes[at..].starts_with(text.as_bytes()) && rows[index + 1][at + text.len()]
                    }
                    Part::Variable { slashes, .. } => {
                        let ends = path.is_char_boundary(at + 1) && rows[index + 1][at + 1];
                        (*slashes || bytes[at] != b'/') && (ends || rows[index][at + 1])
                    }
                };
            }
        }
        rows
    }
}

fn is_name(name: &str) -> bool {
    let valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '%');
    !name.is_empty() && name.chars().all(valid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(template: &str, uri: &str, expect: Option<&[(&str, &str)]>) {
        let template = Template::parse(template).unwrap();
        assert_eq!(template.matches(uri).as_deref(), expect);
    }

    #[test]
    fn a_variable_is_one_segment() {
        check("test://template/{id}/data", "test://template/123/data", Some(&[("id", "123")]));
        check("test://template/{id}/data", "test://template/a%2Fb/data", Some(&[("id", "a%2Fb")]));
        check("test://template/{id}/data", "test://template/1/2/data", None);
        check("test://template/{id}/data", "test://template//data", None);
        check("test://template/{id}/data", "test://template/1/data/", None);
        check("x://{a}-{b}", "x://1-2-3", Some(&[("a", "1-2"), ("b", "3")]));
        check("x://{a}{b}", "x://é", None);
        check("x://{a}{b}", "x://éü", Some(&[("a", "é"), ("b", "ü")]));
    }

    #[test]
    fn a_reserved_or_exploded_variable_goes_over_slashes() {
        check("file:///{+path}", "file:///a/b.txt", Some(&[("path", "a/b.txt")]));
        check("file:///{path*}", "file:///a/b.txt", Some(&[("path", "a/b.txt")]));
        check("file:///{+path}", "file:///", None);
        check("{+a}/{b}.{c}", "x/y/z.t", Some(&[("a", "x/y"), ("b", "z"), ("c", "t")]));
    }

    #[test]
    fn a_query_may_be_there_or_not() {
        check("x://{id}{?q,n}", "x://7", Some(&[("id", "7")]));
        check("x://{id}{?q,n}", "x://7?n=1&q=a%20b", Some(&[("id", "7"), ("n", "1"), ("q", "a%20b")]));
        check("x://{id}{?q,n}", "x://7?other=1", None);
        check("x://{id}", "x://7?q=1", Some(&[("id", "7?q=1")]));
    }

    #[test]
    fn without_variables_it_is_the_text() {
        check("x://y", "x://y", Some(&[]));
        check("x://y", "x://y2", None);
        check("", "", Some(&[]));
        check("", "x", None);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        #[track_caller]
        fn check(template: &str, expect: &str) {
            assert_eq!(Template::parse(template).unwrap_err().to_string(), expect);
        }
        check("x://{a", "unbalanced brace in a URI template");
        check("x://a}", "unbalanced brace in a URI template");
        check("x://{}", "unsupported expression `{}` in a URI template");
        check("x://{#a}", "unsupported expression `{#a}` in a URI template");
        check("x://{?a}/b", "unsupported expression `{?a}` in a URI template");
        check("x://{a,b}", "unsupported expression `{a,b}` in a URI template");
    }

    #[test]
    fn what_begins_or_ends_otherwise_is_told_from_its_ends() {
        #[track_caller]
        fn check(template: &str, uri: &str, ends_fit: bool) {
            let template = Template::parse(template).unwrap();
            assert_eq!(template.ends_fit(uri), ends_fit);
            assert!(ends_fit || template.matches(uri).is_none());
        }
        check("file:///{+path}", "file:///a", true);
        check("file:///{+path}", "note:///a", false);
        check("x://{id}/data", "x://1/data", true);
        check("x://{id}/data", "x://1/date", false);
        check("{+a}/{b}", "", true);
        check("x://y", "x://", false);
        check("", "x", true);
        check("ab{x}ba", "aba", true);
    }

    #[test]
    fn many_variables_take_no_time() {
        let template = Template::parse(&"{+a}x".repeat(50)).unwrap();
        assert_eq!(template.matches(&"xy".repeat(1000)), None);
    }
}
