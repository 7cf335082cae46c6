//! No file names a folder that exists on one machine only.

use super::{Finding, Subject};
use crate::repo::File;

/// Where people's folders lie. Written in halves, or this file would find itself.
const HOMES: &[&str] = &[concat!("/ho", "me/"), concat!("/Us", "ers/")];
/// Folders that are one machine's whatever follows.
const PRIVATE: &[&str] = &[concat!("/ro", "ot/"), concat!("/wo", "rk/")];
/// People who do not exist, for examples and tests.
const INVENTED: &[&str] = &["ada", "me", "someone", "you"];

pub(super) fn check(subject: &Subject) -> Vec<Finding> {
    let written = subject.files.iter().filter(|file| file.name() != "package-lock.json");
    written
        .flat_map(|file| file.lines().filter_map(move |(number, line)| judge(file, number, line)))
        .collect()
}

fn judge(file: &File, number: usize, line: &str) -> Option<Finding> {
    let private = PRIVATE.iter().copied().find(|folder| starts(line, folder).next().is_some());
    let home = || HOMES.iter().copied().find(|folder| starts(line, folder).any(is_real));
    let folder = private.or_else(home)?;
    let finding = Finding::new(&file.path, number, format!("a path of one machine, under `{folder}`"));
    Some(
        finding.instead(format!("use a relative path, a temporary folder, or the invented `{}me`", HOMES[0])),
    )
}

/// What follows each path in a line that begins with `folder`.
fn starts<'a>(line: &'a str, folder: &'a str) -> impl Iterator<Item = &'a str> {
    line.match_indices(folder).filter_map(move |(start, _)| {
        let before = line[..start].chars().next_back();
        // After one of these the folder is a part of a longer, relative path.
        let inner = before.is_some_and(|letter| letter.is_alphanumeric() || "._-~}>)*".contains(letter));
        (!inner).then(|| &line[start + folder.len()..])
    })
}

fn is_real(rest: &str) -> bool {
    let name = rest.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
    !name.is_empty() && !INVENTED.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[track_caller]
    fn check_line(line: &str, expect: bool) {
        // `~` stands for the folder that this file must not name.
        let text = line.replace("~h", HOMES[0]).replace("~w", PRIVATE[1]);
        let found = !check(&sample::files(&[("a.md", &text)])).is_empty();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn paths_of_one_machine_are_found() {
        check_line("cd ~hbob/src", true);
        check_line("file://~hbob", true);
        check_line("`~wmain`", true);
        check_line("see ~hme/project", false);
        check_line("(\"HOME\", \"~hada\")", false);
        check_line("crates~wmain", false);
        check_line("{root}~wmain", false);
        check_line("every folder under ~h", false);
    }
}
