//! TOML text becomes a tree that knows where each value stands.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Number, Value};
use toml::Spanned;
use toml::de::{DeFloat, DeInteger, DeTable, DeValue};

use crate::error::Problem;
use crate::excerpt::Lines;
use crate::node::{Content, Node, Table};
use crate::origin::{Origin, Place};

/// Reads a TOML document.
pub(crate) fn parse(path: &Path, text: &str) -> Result<Table, Problem> {
    let source = Source { path: path.into(), lines: Lines::new(text) };
    match DeTable::parse(text) {
        Ok(table) => source.table(table.into_inner()),
        Err(error) => Err(source.refuse(&error.span().unwrap_or(0..0), error.message())),
    }
}

struct Source<'a> {
    path: Arc<Path>,
    lines: Lines<'a>,
}

impl Source<'_> {
    fn table(&self, table: DeTable<'_>) -> Result<Table, Problem> {
        table.into_iter().map(|(key, value)| self.entry(&key, value)).collect()
    }

    fn entry(
        &self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        value: Spanned<DeValue<'_>>,
    ) -> Result<(String, Node), Problem> {
        let node = Node { named: self.origin(&key.span()), ..self.node(value)? };
        Ok((key.get_ref().clone().into_owned(), node))
    }

    fn node(&self, value: Spanned<DeValue<'_>>) -> Result<Node, Problem> {
        let span = value.span();
        let content = match value.into_inner() {
            DeValue::String(text) => Content::Scalar(Value::String(text.into_owned())),
            DeValue::Integer(integer) => Content::Scalar(self.integer(&integer, &span)?),
            DeValue::Float(float) => Content::Scalar(self.float(&float, &span)?),
            DeValue::Boolean(truth) => Content::Scalar(Value::Bool(truth)),
            DeValue::Datetime(time) => Content::Scalar(Value::String(time.to_string())),
            DeValue::Array(items) => {
                Content::List(items.into_iter().map(|item| self.node(item)).collect::<Result<_, _>>()?)
            }
            DeValue::Table(table) => Content::Table(self.table(table)?),
        };
        let origin = self.origin(&span);
        Ok(Node { content, named: origin.clone(), origin })
    }

    fn integer(&self, integer: &DeInteger<'_>, span: &Range<usize>) -> Result<Value, Problem> {
        let (digits, radix) = (integer.as_str(), integer.radix());
        i64::from_str_radix(digits, radix)
            .map(Value::from)
            .or_else(|_| u64::from_str_radix(digits, radix).map(Value::from))
            .map_err(|_| self.refuse(span, "integer too large, expected at most 64 bits"))
    }

    fn float(&self, float: &DeFloat<'_>, span: &Range<usize>) -> Result<Value, Problem> {
        let number = float.as_str().parse().ok().and_then(Number::from_f64);
        number.map(Value::Number).ok_or_else(|| self.refuse(span, "number too large, or not a number"))
    }

    fn origin(&self, span: &Range<usize>) -> Origin {
        let (line, column) = self.lines.position(span.start);
        Origin::File(Place { path: Arc::clone(&self.path), line, column })
    }

    fn refuse(&self, span: &Range<usize>, message: &str) -> Problem {
        Problem::new(self.origin(span), message).excerpt(self.lines.excerpt(span.start))
    }
}
