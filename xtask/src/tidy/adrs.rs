//! Every decision record is listed in `ARCHITECTURE.md`, or nobody finds it.

use super::{Finding, Subject};

const MAP: &str = "ARCHITECTURE.md";
const RECORDS: &str = "docs/adr/";

pub(super) fn check(subject: &Subject) -> Vec<Finding> {
    // Before the map is written there is nothing to list them in.
    let Some(map) = subject.file(MAP).and_then(|file| file.text.as_deref()) else { return Vec::new() };
    let records =
        subject.files.iter().filter(|file| file.path.starts_with(RECORDS) && file.extension() == "md");
    let unlisted = records.filter(|file| file.name() != "README.md" && !map.contains(&file.path));
    unlisted
        .map(|file| {
            Finding::new(&file.path, None, format!("`{MAP}` does not list this decision"))
                .instead(format!("add a link to `{}` there", file.path))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn an_unlisted_record_is_found() {
        let subject = sample::files(&[
            ("ARCHITECTURE.md", "[paths](docs/adr/0001-paths.md)\n"),
            ("docs/adr/0001-paths.md", ""),
            ("docs/adr/0002-wire.md", ""),
            ("docs/adr/README.md", ""),
        ]);
        assert_eq!(sample::places(&check(&subject)), ["docs/adr/0002-wire.md"]);
    }

    #[test]
    fn without_a_map_nothing_is_asked() {
        assert!(check(&sample::files(&[("docs/adr/0001-paths.md", "")])).is_empty());
    }
}
