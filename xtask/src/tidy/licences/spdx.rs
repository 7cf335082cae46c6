//! SPDX licence expressions: `OR`, `AND`, `WITH`, parentheses, and the `/` of old manifests.

/// What a licence text offers.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Expression {
    /// One licence, perhaps with an exception.
    Licence(String, Option<String>),
    /// The user chooses.
    Any(Vec<Expression>),
    /// All of them hold.
    All(Vec<Expression>),
}

impl Expression {
    /// Reads an expression; `WITH` binds closest, then `AND`, then `OR`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let spaced = text.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let mut parser = Parser { words: &words };
        let expression = parser.any()?;
        match parser.words {
            [] => Ok(expression),
            [word, ..] => Err(format!("`{word}` is one word too many")),
        }
    }

    /// Whether someone may use the work who accepts the licences that `known` accepts.
    pub(super) fn is_met(&self, known: &dyn Fn(&str, Option<&str>) -> bool) -> bool {
        match self {
            Self::Licence(id, exception) => known(id, exception.as_deref()),
            Self::Any(choices) => choices.iter().any(|choice| choice.is_met(known)),
            Self::All(parts) => parts.iter().all(|part| part.is_met(known)),
        }
    }
}

struct Parser<'a> {
    words: &'a [&'a str],
}

impl Parser<'_> {
    fn any(&mut self) -> Result<Expression, String> {
        let mut choices = vec![self.all()?];
        while self.take("OR") {
            choices.push(self.all()?);
        }
        Ok(single(choices, Expression::Any))
    }

    fn all(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.one()?];
        while self.take("AND") {
            parts.push(self.one()?);
        }
        Ok(single(parts, Expression::All))
    }

    fn one(&mut self) -> Result<Expression, String> {
        if self.take("(") {
            let inner = self.any()?;
            return if self.take(")") { Ok(inner) } else { Err("a parenthesis stays open".into()) };
        }
        let id = self.name()?;
        // "This version or a later one": the named one is among them.
        let id = id.strip_suffix('+').unwrap_or(&id).to_owned();
        let exception = if self.take("WITH") { Some(self.name()?) } else { None };
        Ok(Expression::Licence(id, exception))
    }

    fn name(&mut self) -> Result<String, String> {
        match self.words {
            [] => Err("it ends where a licence should stand".into()),
            [word @ ("OR" | "AND" | "WITH" | ")" | "("), ..] => {
                Err(format!("`{word}` stands where a licence should"))
            }
            [word, rest @ ..] => {
                self.words = rest;
                Ok((*word).to_owned())
            }
        }
    }

    fn take(&mut self, word: &str) -> bool {
        match self.words {
            [first, rest @ ..] if *first == word => {
                self.words = rest;
                true
            }
            _ => false,
        }
    }
}

fn single(mut parts: Vec<Expression>, join: fn(Vec<Expression>) -> Expression) -> Expression {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        Some(last) => {
            parts.push(last);
            join(parts)
        }
        None => join(parts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An expression with all its parentheses.
    fn show(expression: &Expression) -> String {
        let join = |parts: &[Expression], word: &str| {
            format!("({})", parts.iter().map(show).collect::<Vec<_>>().join(word))
        };
        match expression {
            Expression::Licence(id, None) => id.clone(),
            Expression::Licence(id, Some(exception)) => format!("{id}~{exception}"),
            Expression::Any(parts) => join(parts, " | "),
            Expression::All(parts) => join(parts, " & "),
        }
    }

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let shown = Expression::parse(text).map_or_else(|error| error, |expression| show(&expression));
        assert_eq!(shown, expect, "{text}");
    }

    #[test]
    fn operators_bind_in_their_order() {
        check("MIT", "MIT");
        check("A OR B AND C", "(A | (B & C))");
        check("(A OR B) AND C", "((A | B) & C)");
        check("A WITH x OR B OR C", "(A~x | B | C)");
        check("A/B", "(A | B)");
        check("Apache-2.0+", "Apache-2.0");
    }

    #[test]
    fn broken_expressions_say_where() {
        check("", "it ends where a licence should stand");
        check("A OR", "it ends where a licence should stand");
        check("AND A", "`AND` stands where a licence should");
        check("(A", "a parenthesis stays open");
        check("A B", "`B` is one word too many");
        check("A)", "`)` is one word too many");
    }
}
