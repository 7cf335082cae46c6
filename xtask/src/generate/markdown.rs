//! Tables of Markdown.

/// A table; a `|` in a cell is escaped, a line break becomes a space.
pub(super) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
        text += format!("| {} |", cells.join(" | ")).replace("  |", " |").as_str();
        text.push('\n');
    }
    text
}

/// Text in backticks, or nothing.
pub(super) fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{text}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stay_in_their_columns() {
        let rows = [vec!["a|b".to_owned(), "two\nlines".to_owned()], vec![String::new(), code("x")]];
        assert_eq!(
            table(&["one", "two"], &rows),
            "| one | two |\n|---|---|\n| a\\|b | two lines |\n| | `x` |\n"
        );
    }
}
