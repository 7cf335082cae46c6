//! Links between notes: `[[name]]`, and `[text](path)`.
//!
//! A link is kept as a key. `/a/b` is the note at that path; `b` or `a/b` is whichever note has a path that ends so.
//! Keys have no ending and are in lower case.

use toolgate_host::RelPath;

use crate::uri;

/// The longest link that is looked at, in bytes.
const LONGEST: usize = 1_000;

/// A path as links name it: lower case, without the ending of a note.
pub(crate) fn key(path: &str) -> String {
    without_ending(path).to_lowercase()
}

/// The last name of a path, without the ending of a note.
pub(crate) fn name_of(path: &str) -> &str {
    let path = without_ending(path);
    path.rsplit('/').next().unwrap_or(path)
}

/// Every link of a line, but those in code.
pub(super) fn of_line(line: &str, from: &RelPath, found: &mut impl FnMut(String)) {
    let mut rest = line;
    let mut code = false;
    while let Some(at) = rest.find(['[', ']', '`']) {
        let here = &rest[at..];
        let mut next = 1;
        if here.starts_with('`') {
            code = !code;
        } else if let (false, Some(inner)) = (code, here.strip_prefix("[[")) {
            if let Some(end) = inner.find("]]").filter(|end| *end <= LONGEST) {
                named(&inner[..end]).into_iter().for_each(&mut *found);
                next = end + 4;
            }
        } else if let (false, Some(inner)) = (code, here.strip_prefix("](")) {
            let end = inner.find(')').filter(|end| *end <= LONGEST);
            end.and_then(|end| at_path(&inner[..end], from)).into_iter().for_each(&mut *found);
        }
        rest = &here[next..];
    }
}

/// The key of `[[name#part|shown]]`.
fn named(inner: &str) -> Option<String> {
    let name = inner.split(['|', '#', '^']).next().unwrap_or_default();
    let name = name.trim().trim_end_matches('\\').trim_matches('/');
    let inside =
        !name.is_empty() && name.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    inside.then(|| key(name))
}

/// The key of a path that stands in a note.
fn at_path(target: &str, from: &RelPath) -> Option<String> {
    let target = target.trim();
    let target = match target.strip_prefix('<') {
        Some(inner) => inner.split('>').next().unwrap_or_default(),
        None => target.split_whitespace().next().unwrap_or_default(),
    };
    let target = target.split(['#', '?']).next().unwrap_or_default();
    if target.is_empty() || target.contains(':') {
        return None;
    }
    let target = uri::decode(target)?;
    let folder = from.parent().unwrap_or_else(RelPath::root);
    let mut names: Vec<&str> = match target.starts_with('/') || folder.is_root() {
        true => Vec::new(),
        false => folder.as_str().split('/').collect(),
    };
    for name in target.split('/').filter(|name| !name.is_empty() && *name != ".") {
        match name {
            // One that leads out is no link between notes.
            ".." => drop(names.pop()?),
            name => names.push(name),
        }
    }
    (!names.is_empty()).then(|| format!("/{}", key(&names.join("/"))))
}

fn without_ending(path: &str) -> &str {
    let ending = path
        .rsplit_once('.')
        .filter(|(_, end)| end.eq_ignore_ascii_case("md") || end.eq_ignore_ascii_case("markdown"));
    ending.map_or(path, |(bare, _)| bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expect: &[&str]) {
        let mut found = Vec::new();
        of_line(line, &RelPath::parse("a/b/here.md", "").unwrap(), &mut |link| found.push(link));
        assert_eq!(found, expect, "{line}");
    }

    #[test]
    fn links_by_name_are_found() {
        check("see [[Plan]], [[Plan#part|the plan]] and ![[x/Y.md]]", &["plan", "plan", "x/y"]);
        check("[[größe]] [[v1.2 notes]] [[a\\|b]]", &["größe", "v1.2 notes", "a"]);
        check("`[[code]]` [[ ]] [[#part]] [[../out]] [[a//b]] [[open", &[]);
    }

    #[test]
    fn links_by_path_are_found_from_where_they_stand() {
        check(
            "[x](other.md) [y](../up.md#z) [z](/top%20note.md \"title\")",
            &["/a/b/other", "/a/up", "/top note"],
        );
        check("[x](<with space.md>) ![i](img.png)", &["/a/b/with space", "/a/b/img.png"]);
        check("[x](https://example.com/a.md) [y](#part) [z](mailto:a@b) [o](../../../out.md) [e]()", &[]);
    }
}
