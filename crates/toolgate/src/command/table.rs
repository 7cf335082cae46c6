//! Text of others on lines of ours.

/// Text on one line, without anything that a terminal would obey.
pub(crate) fn one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// As much of a line as fits, and a sign that there was more.
pub(crate) fn fit(line: &str, columns: usize) -> String {
    if line.chars().count() <= columns {
        return line.to_owned();
    }
    let kept: String = line.chars().take(columns.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_where_the_terminal_ends() {
        for (line, columns, expect) in [
            ("read a file", 20, "read a file"),
            ("read a file", 11, "read a file"),
            ("read a file", 10, "read a fi…"),
            ("read a file", 6, "read…"),
            ("größer", 5, "größ…"),
            ("x", 0, "…"),
        ] {
            assert_eq!(fit(line, columns), expect, "{columns}");
        }
    }

    #[test]
    fn what_a_terminal_would_obey_is_left_out() {
        assert_eq!(one_line(" a\u{1b}[31m\r\n\tb\u{9b}c "), "a [31m b c");
    }
}
