//! Names of tools and prompts as callers see them: `server_tool`, at most 64 characters, stable when another joins.

use toolgate_core::ToolName;
use toolgate_wire::Raw;

/// The longest name that all models' interfaces take.
const LONGEST: usize = 64;

/// How many characters of a digest tell long names apart.
const DIGEST: usize = 8;

/// The name under which callers see something that the server names so.
///
/// Without a prefix a name that is fit stays as it is; with one, what models' interfaces refuse becomes `_`.
pub(crate) fn shown(prefix: Option<&str>, own: &str) -> String {
    let Some(prefix) = prefix else {
        return if own.parse::<ToolName>().is_ok() { own.to_owned() } else { cut(&plain(own), own) };
    };
    let full = format!("{}_{}", plain(prefix), plain(own));
    cut(&full, own)
}

fn plain(text: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.chars().map(|c| if fits(c) { c } else { '_' }).collect()
}

/// Cuts a name that is too long, so that two long ones still differ.
fn cut(name: &str, own: &str) -> String {
    if name.len() <= LONGEST {
        return name.to_owned();
    }
    let kept = &name[..LONGEST - DIGEST - 1];
    format!("{kept}_{}", short_digest(own))
}

fn short_digest(text: &str) -> String {
    let digest = toolgate_wire::digest(&Raw::string(text));
    digest.iter().take(DIGEST / 2).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_prefix_and_only_plain_characters() {
        #[track_caller]
        fn check(prefix: Option<&str>, own: &str, expect: &str) {
            assert_eq!(shown(prefix, own), expect);
        }
        check(Some("git"), "status", "git_status");
        check(Some("git"), "git_status", "git_git_status");
        check(Some("fs"), "read.file/x y", "fs_read_file_x_y");
        check(Some("fs"), "lösche", "fs_l_sche");
        check(None, "read.file/x", "read.file/x");
        check(None, "a b", "a_b");
        check(None, "", "");
    }

    #[test]
    fn long_names_are_cut_and_still_differ() {
        let (one, two) = ("x".repeat(100) + "1", "x".repeat(100) + "2");
        let (one, two) = (shown(Some("server"), &one), shown(Some("server"), &two));
        assert_eq!((one.len(), two.len()), (LONGEST, LONGEST));
        assert_ne!(one, two);
        assert_eq!(shown(Some("server"), &"y".repeat(57)).len(), LONGEST);
    }
}
