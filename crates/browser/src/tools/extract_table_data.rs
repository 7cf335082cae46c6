//! `extract_table_data`: get the rows of a table, also over several pages of it.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolgate_core::{Error, Hints, Result, RunHandle, Text, Tool, ToolSpec};

use crate::acting::{Click, Needs, What};
use crate::pack::Browser;
use crate::pool::Page;
use crate::text::{MOST, cut, fenced, fitting};

/// How many rows are read at most.
const ROWS: usize = 5000;

/// How long a look may take.
const LOOK: Duration = Duration::from_secs(30);

pub(super) struct ExtractTableData;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Element ref.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    reference: Option<String>,
    /// CSS selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    selector: Option<String>,
    /// Default json.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Format")]
    format: Option<Format>,
    /// To turn pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    next_selector: Option<String>,
    /// Default 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize")]
    max_pages: Option<usize>,
    /// Default 500.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize")]
    max_rows: Option<usize>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Json,
    Csv,
}

/// What was read.
#[derive(Default)]
struct Rows {
    headers: Vec<String>,
    rows: Vec<Vec<String>>,
    pages: usize,
}

impl Tool<Browser> for ExtractTableData {
    type Input = Input;
    type Output = Text;
    const SPEC: ToolSpec = ToolSpec {
        name: "extract_table_data",
        title: "Table",
        description: "Get rows of a table, also over pages.",
        // To turn a page it clicks, on whatever it is told to.
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Text> {
        let what = What::of(input.reference, input.selector)?;
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let pages =
            if input.next_selector.is_some() { input.max_pages.unwrap_or(10).clamp(1, 100) } else { 1 };
        let mut all = Rows::default();
        while all.pages < pages {
            read(&page, &what, &mut all).await?;
            let Some(next) = input.next_selector.clone().filter(|_| all.pages < pages) else { break };
            if !turn(&page, &what, What::Selector(next), &all).await? {
                break;
            }
        }
        let total = all.rows.len();
        all.rows.truncate(input.max_rows.unwrap_or(500));
        let (lines, heads) = match input.format.unwrap_or_default() {
            Format::Json => (as_json(&all), 0),
            Format::Csv => (as_csv(&all), 1),
        };
        let shown = fitting(&lines, MOST);
        let rows = shown.len().saturating_sub(heads);
        let head = format!("{total} rows on {} pages, shown {rows}", all.pages);
        let mark = match shown.len() {
            all if all == lines.len() => "",
            0 => "\ntruncated: this is the beginning of one row",
            _ => "\ntruncated: ask for fewer rows with `maxRows`",
        };
        let first = lines.first().filter(|_| shown.is_empty()).map(|line| cut(line, MOST).0);
        let body = first.map_or_else(|| shown.join("\n"), Into::into);
        Ok(Text(format!("{head}\n{}{mark}", fenced(&body))))
    }
}

async fn read(page: &Page, what: &What, all: &mut Rows) -> Result<()> {
    let (_, told) = page.tab.on(what, ("table", json!({"most": ROWS})), LOOK).await?;
    all.headers = texts(&told["headers"]);
    let room = ROWS.saturating_sub(all.rows.len());
    all.rows.extend(told["rows"].as_array().into_iter().flatten().map(texts).take(room));
    all.pages += 1;
    Ok(())
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(Into::into).collect()
}

/// Turns to the next page of a table; there is none where there is nothing to click, or where nothing changes.
async fn turn(page: &Page, what: &What, next: What, all: &Rows) -> Result<bool> {
    let Ok(ready) = page.tab.ready(&next, Needs::CLICK, Duration::from_secs(1)).await.map_err(Error::from)
    else {
        return Ok(false);
    };
    let click = Click { button: "left", count: 1, modifiers: 0 };
    page.tab.click_at((ready.x, ready.y), &click).await?;
    page.tab.settle(Duration::from_secs(10)).await?;
    let last: Vec<String> = all.rows.last().cloned().unwrap_or_default();
    for _ in 0..20 {
        let (_, told) = page.tab.on(what, ("table", json!({"most": ROWS})), LOOK).await?;
        let now = told["rows"].as_array().and_then(|rows| rows.last()).cloned().unwrap_or(Value::Null);
        if now != json!(last) {
            return Ok(true);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(false)
}

fn as_json(all: &Rows) -> Vec<String> {
    all.rows.iter().map(|row| object(all, row)).collect()
}

fn object(all: &Rows, row: &[String]) -> String {
    let cells = row.iter().enumerate().map(|(at, cell)| {
        let name = all.headers.get(at).filter(|name| !name.is_empty());
        (name.cloned().unwrap_or_else(|| format!("column {}", at + 1)), Value::from(cell.as_str()))
    });
    Value::Object(cells.collect::<Map<_, _>>()).to_string()
}

fn as_csv(all: &Rows) -> Vec<String> {
    let cell = |text: &String| {
        let is_plain = !text.contains([',', '"', '\n', '\r']);
        if is_plain { text.clone() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
    };
    let line = |row: &Vec<String>| row.iter().map(cell).collect::<Vec<_>>().join(",");
    std::iter::once(&all.headers).chain(&all.rows).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_objects_or_lines() {
        let rows = vec![vec!["1".into(), "a, \"b\"".into()], vec!["2".into(), "c".into(), "more".into()]];
        let all = Rows { headers: vec!["id".into(), "name".into()], rows, pages: 1 };
        assert_eq!(as_csv(&all), ["id,name", "1,\"a, \"\"b\"\"\"", "2,c,more"]);
        assert_eq!(
            as_json(&all),
            [
                "{\"id\":\"1\",\"name\":\"a, \\\"b\\\"\"}",
                "{\"id\":\"2\",\"name\":\"c\",\"column 3\":\"more\"}"
            ]
        );
    }
}
