//! Relative links in Markdown lead to files that exist.

use super::{Finding, Subject};
use crate::repo::File;

pub(super) fn check(subject: &Subject) -> Vec<Finding> {
    let pages = subject.files.iter().filter(|file| file.extension() == "md");
    pages.flat_map(|page| judge(subject, page)).collect()
}

fn judge(subject: &Subject, page: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut fenced = false;
    for (number, line) in page.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let dead = targets(line).into_iter().filter(|target| !leads_somewhere(subject, page, target));
            findings.extend(dead.map(|target| {
                Finding::new(&page.path, number, format!("`{target}` does not exist"))
                    .instead("correct the link; it counts from the folder of this page")
            }));
        }
    }
    findings
}

/// The targets of the links in a line: `[…](target)` and `[…]: target`, outside of code.
fn targets(line: &str) -> Vec<String> {
    // Every second part stands between backticks.
    let prose: Vec<&str> = line.split('`').step_by(2).collect();
    let prose = prose.join("`");
    let mut found: Vec<String> = prose
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', ' ']).next())
        .map(|target| target.trim_matches(['<', '>']).to_owned())
        .collect();
    if let Some((_, target)) = prose.strip_prefix('[').and_then(|rest| rest.split_once("]: ")) {
        found.extend(target.split_whitespace().next().map(str::to_owned));
    }
    found
}

fn leads_somewhere(subject: &Subject, page: &File, target: &str) -> bool {
    let path = target.split('#').next().unwrap_or_default();
    let scheme = target.split_once(':').is_some_and(|(scheme, _)| !scheme.contains('/'));
    if scheme || path.is_empty() {
        return true;
    }
    resolve(&page.path, path).is_some_and(|path| exists(subject, &path))
}

/// A link's target from the root, unless it leaves the repository.
fn resolve(page: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    if target.starts_with('/') {
        parts.clear();
    }
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

fn exists(subject: &Subject, path: &str) -> bool {
    let folder = format!("{path}/");
    path.is_empty() || subject.files.iter().any(|file| file.path == path || file.path.starts_with(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[track_caller]
    fn check_line(line: &str, expect: bool) {
        let text = format!("# Page\n{line}\n");
        let subject =
            sample::files(&[("README.md", ""), ("docs/adr/0001-a.md", ""), ("docs/page.md", &text)]);
        let findings = check(&subject);
        assert_eq!(findings.is_empty(), expect, "{line}: {findings:?}");
        assert!(findings.iter().all(|finding| finding.place() == "docs/page.md:2"));
    }

    #[test]
    fn links_count_from_the_page() {
        check_line("[a](adr/0001-a.md)", true);
        check_line("[a](./adr) and [b](../README.md#top)", true);
        check_line("[a](/docs/page.md \"title\")", true);
        check_line("[a](#here)", true);
        check_line("[a](https://example.com/x) [b](mailto:me@example.com)", true);
        check_line("`[a](nowhere.md)`", true);
        check_line("[a]: adr/0001-a.md", true);
        check_line("[`a`](adr/0001-a.md) [b](nowhere.md)", false);
        check_line("[a](README.md)", false);
        check_line("[a](../../README.md)", false);
        check_line("![a](adr/0002.png)", false);
        check_line("[a]: nowhere.md", false);
    }

    #[test]
    fn code_is_not_read() {
        let subject = sample::files(&[("a.md", "```\n[a](nowhere.md)\n```\n[b](nowhere.md)\n")]);
        assert_eq!(sample::places(&check(&subject)), ["a.md:4"]);
    }
}
