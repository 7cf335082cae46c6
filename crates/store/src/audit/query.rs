//! A search of the audit as SQL.

use sqlx::{AnyPool, AssertSqlSafe};
use toolgate_core::{AuditQuery, AuditRow};

use crate::database::{to_i64, to_u64};
use crate::documents::is_text;

const SELECT: &str =
    "SELECT writer, sequence, time_ms, principal, target, outcome, line FROM audit WHERE 1 = 1";
const ORDER: &str = " ORDER BY time_ms DESC, writer DESC, sequence DESC LIMIT ";

/// What is searched for. Values stand beside the statement, never in it.
pub(super) struct Search {
    sql: String,
    values: Vec<Value>,
}

enum Value {
    Number(i64),
    Text(String),
}

pub(super) type Row = (String, i64, i64, String, String, String, String);

impl Search {
    /// The search, or none where nothing can be found.
    pub(super) fn of(query: &AuditQuery) -> Option<Self> {
        let mut search = Self { sql: SELECT.into(), values: Vec::new() };
        search.number(" AND time_ms >= ", query.since_ms.map(to_i64));
        search.number(" AND time_ms < ", query.until_ms.map(to_i64));
        search.text(" AND principal = ", query.principal.as_deref());
        search.text(" AND outcome = ", query.outcome.as_deref());
        search.text(" AND writer = ", query.writer.as_deref());
        match query.target.as_deref() {
            Some(pattern) if pattern.contains('*') => {
                search.text(" AND target LIKE ", Some(&like(pattern)));
                search.sql.push_str(" ESCAPE '!'");
            }
            target => search.text(" AND target = ", target),
        }
        if let Some((time_ms, writer, sequence)) = &query.before {
            search.number(" AND (time_ms, writer, sequence) < (", Some(to_i64(*time_ms)));
            search.text(", ", Some(writer));
            search.number(", ", Some(*sequence));
            search.sql.push(')');
        }
        search.number(ORDER, Some(i64::from(query.limit)));
        let findable = |value: &Value| matches!(value, Value::Text(text) if !is_text(text));
        (!search.values.iter().any(findable)).then_some(search)
    }

    pub(super) async fn run(self, pool: &AnyPool) -> Result<Vec<AuditRow>, sqlx::Error> {
        let mut query = sqlx::query_as::<_, Row>(AssertSqlSafe(self.sql));
        for value in self.values {
            query = match value {
                Value::Number(number) => query.bind(number),
                Value::Text(text) => query.bind(text),
            };
        }
        Ok(query.fetch_all(pool).await?.into_iter().map(row).collect())
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

pub(super) fn row((writer, sequence, time_ms, principal, target, outcome, line): Row) -> AuditRow {
    AuditRow { writer, sequence, time_ms: to_u64(time_ms), principal, target, outcome, line }
}

/// A pattern of ours as one of SQL.
fn like(pattern: &str) -> String {
    let mut like = String::with_capacity(pattern.len());
    for letter in pattern.chars() {
        match letter {
            '*' => like.push('%'),
            '%' | '_' | '!' => like.extend(['!', letter]),
            _ => like.push(letter),
        }
    }
    like
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_star_stands_for_anything() {
        assert_eq!(like("tool:*_x%!"), "tool:%!_x!%!!");
    }
}
