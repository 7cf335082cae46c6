//! The two text formats of metrics, and who reads which.

/// A text format of metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposition {
    /// OpenMetrics 1.0.0.
    OpenMetrics,
    /// What every Prometheus reads, and people in a browser.
    Plain,
}

impl Exposition {
    /// The format for whoever sends this `Accept` header: OpenMetrics only for those who ask for it.
    pub fn accepted(accept: &str) -> Self {
        let asked = accept.to_ascii_lowercase().contains("application/openmetrics-text");
        if asked { Self::OpenMetrics } else { Self::Plain }
    }

    /// Its `Content-Type`.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Plain => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// Writes what stands in OpenMetrics in this format.
    pub(crate) fn write(self, text: String) -> String {
        match self {
            Self::OpenMetrics => text,
            Self::Plain => plain(&text),
        }
    }
}

/// The older format names a family as its samples are named, and knows neither units nor an end.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut help = None;
    for line in text.lines() {
        let Some(comment) = line.strip_prefix("# ") else {
            out.push_str(line);
            out.push('\n');
            continue;
        };
        let mut words = comment.splitn(3, ' ');
        match (words.next(), words.next(), words.next()) {
            (Some("HELP"), Some(_), Some(words)) => help = Some(words),
            (Some("TYPE"), Some(name), Some(kind)) => {
                let (suffix, kind) = match kind {
                    "counter" => ("_total", "counter"),
                    "info" => ("_info", "gauge"),
                    "unknown" => ("", "untyped"),
                    kind => ("", kind),
                };
                if let Some(help) = help.take() {
                    out.push_str(&format!("# HELP {name}{suffix} {help}\n"));
                }
                out.push_str(&format!("# TYPE {name}{suffix} {kind}\n"));
            }
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_goes_by_what_is_accepted() {
        #[track_caller]
        fn check(accept: &str, expect: Exposition) {
            assert_eq!(Exposition::accepted(accept), expect, "{accept}");
        }
        check("", Exposition::Plain);
        check("*/*", Exposition::Plain);
        check("text/html,*/*;q=0.8", Exposition::Plain);
        check("text/plain;version=0.0.4;q=0.5,*/*;q=0.1", Exposition::Plain);
        check(
            "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3",
            Exposition::OpenMetrics,
        );
        check("Application/OpenMetrics-Text", Exposition::OpenMetrics);
    }

    #[test]
    fn the_older_format_names_families_as_their_samples() {
        let text = "# HELP a_b What.\n# TYPE a_b counter\na_b_total 1\n# HELP s It.\n# TYPE s gauge\n# UNIT s seconds\ns 2\n\
            # HELP v The # version.\n# TYPE v info\nv_info{version=\"# 1\"} 1\n# EOF\n";
        let expect = "# HELP a_b_total What.\n# TYPE a_b_total counter\na_b_total 1\n# HELP s It.\n# TYPE s gauge\ns 2\n\
            # HELP v_info The # version.\n# TYPE v_info gauge\nv_info{version=\"# 1\"} 1\n";
        assert_eq!(plain(text), expect);
    }
}
