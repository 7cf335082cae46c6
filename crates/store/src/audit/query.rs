//! A search of the audit: bundle by bundle, newest first, until no older one can hold what is wanted.

use sqlx::{AnyPool, AssertSqlSafe};
use toolgate_core::{AuditQuery, AuditRow};

use super::bundle::{Bundle, Row};
use crate::database::to_i64;
use crate::documents::is_text;

const SELECT: &str =
    "SELECT writer, first, last, from_ms, to_ms, principal, count, records FROM audit WHERE 1 = 1";
const ORDER: &str = " ORDER BY to_ms DESC, writer DESC, last DESC LIMIT ";

/// How many bundles are read at once, at first.
const AT_FIRST: i64 = 2;
/// How many records are read at once, about.
const AT_MOST: i64 = 4096;

/// Finds records, newest first.
pub(super) async fn run(query: &AuditQuery, pool: &AnyPool) -> Result<Vec<AuditRow>, sqlx::Error> {
    let limit = query.limit as usize;
    let (mut found, mut count, mut behind) = (Vec::new(), AT_FIRST, None);
    loop {
        let Some(select) = Select::of(query, behind.as_ref(), count) else { return Ok(found) };
        let bundles = select.run(pool).await?;
        let last = bundles.len() < usize::try_from(count).unwrap_or_default();
        // Where calls are rare a bundle holds few.
        let each = bundles.iter().map(|it| it.count).max().unwrap_or(1).clamp(1, AT_MOST);
        behind = bundles.last().map(|it| (it.to_ms, it.writer.clone(), it.last));
        found.extend(bundles.into_iter().flat_map(Bundle::rows).filter(|row| fits(row, query)));
        found.sort_by(|a, b| place(b).cmp(&place(a)));
        found.truncate(limit);
        // What is newer than all that is left stays where it is.
        let done = |row: &AuditRow| behind.as_ref().is_none_or(|(to_ms, ..)| to_i64(row.time_ms) > *to_ms);
        if last || (found.len() == limit && found.last().is_none_or(done)) {
            return Ok(found);
        }
        count = (count * 2).min(AT_MOST / each);
    }
}

/// A statement, and its values beside it, never in it.
struct Select {
    sql: String,
    values: Vec<Value>,
}

enum Value {
    Number(i64),
    Text(String),
}

impl Select {
    /// The bundles that may hold what is wanted; none where nothing can be found.
    fn of(query: &AuditQuery, behind: Option<&(i64, String, i64)>, count: i64) -> Option<Self> {
        let mut select = Self { sql: SELECT.into(), values: Vec::new() };
        select.number(" AND to_ms >= ", query.since_ms.map(to_i64));
        select.number(" AND from_ms < ", query.until_ms.map(to_i64));
        select.number(" AND from_ms <= ", query.before.as_ref().map(|(time_ms, ..)| to_i64(*time_ms)));
        select.text(" AND writer = ", query.writer.as_deref());
        if let Some(principal) = query.principal.as_deref() {
            select.text(" AND (principal IS NULL OR principal = ", Some(principal));
            select.sql.push(')');
        }
        if let Some((to_ms, writer, last)) = behind {
            select.number(" AND (to_ms, writer, last) < (", Some(*to_ms));
            select.text(", ", Some(writer));
            select.number(", ", Some(*last));
            select.sql.push(')');
        }
        select.number(ORDER, Some(count));
        let no_text = |value: &Value| matches!(value, Value::Text(text) if !is_text(text));
        (!select.values.iter().any(no_text)).then_some(select)
    }

    async fn run(self, pool: &AnyPool) -> Result<Vec<Bundle>, sqlx::Error> {
        let mut query = sqlx::query_as::<_, Row>(AssertSqlSafe(self.sql));
        for value in self.values {
            query = match value {
                Value::Number(number) => query.bind(number),
                Value::Text(text) => query.bind(text),
            };
        }
        Ok(query.fetch_all(pool).await?.into_iter().map(Bundle::from).collect())
    }

    fn number(&mut self, sql: &'static str, value: Option<i64>) {
        self.add(sql, value.map(Value::Number));
    }

    fn text(&mut self, sql: &'static str, value: Option<&str>) {
        self.add(sql, value.map(|text| Value::Text(text.to_owned())));
    }

    fn add(&mut self, sql: &'static str, value: Option<Value>) {
        let Some(value) = value else { return };
        self.values.push(value);
        self.sql.push_str(sql);
        self.sql.push_str(&format!("${}", self.values.len()));
    }
}

fn place(row: &AuditRow) -> (u64, &str, i64) {
    (row.time_ms, &row.writer, row.sequence)
}

fn fits(row: &AuditRow, query: &AuditQuery) -> bool {
    let is = |wanted: &Option<String>, it: &str| wanted.as_deref().is_none_or(|wanted| wanted == it);
    let before = query.before.as_ref().map(|(time, writer, sequence)| (*time, writer.as_str(), *sequence));
    query.since_ms.is_none_or(|since_ms| row.time_ms >= since_ms)
        && query.until_ms.is_none_or(|until_ms| row.time_ms < until_ms)
        && is(&query.principal, &row.principal)
        && is(&query.outcome, &row.outcome)
        && query.target.as_deref().is_none_or(|pattern| matches(pattern, &row.target))
        && before.is_none_or(|before| place(row) < before)
}

/// Whether a text fits a pattern in which `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(head) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return text.ends_with(part);
        }
        // The earliest place leaves the most for what follows.
        let Some(at) = text.find(part) else { return false };
        text = &text[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_star_stands_for_anything() {
        #[track_caller]
        fn check(pattern: &str, text: &str, expect: bool) {
            assert_eq!(matches(pattern, text), expect, "{pattern} {text}");
        }
        check("tool:x", "tool:x", true);
        check("tool:x", "tool:xy", false);
        check("tool:*", "tool:", true);
        check("tool:*", "TOOL:", false);
        check("*", "", true);
        check("*%c!*", "a%c!d", true);
        check("a%*", "abc", false);
        check("a*b*c", "aXbYbZc", true);
        check("ab*ba", "aba", false);
        check("**x", "x", true);
        check("", "", true);
        check("", "x", false);
    }
}
