//! Who this process runs as.

use std::fs;

use rustix::process::getuid;

/// The name of the user we run as; its number where it has none.
pub fn user_name() -> String {
    let number = getuid().as_raw();
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    name_of(number, &users).unwrap_or_else(|| format!("user {number}"))
}

/// Whether we run as the one who may do anything.
pub fn is_root() -> bool {
    getuid().is_root()
}

fn name_of(number: u32, users: &str) -> Option<String> {
    let fits = |line: &&str| line.split(':').nth(2) == Some(number.to_string().as_str());
    let line = users.lines().find(fits)?;
    line.split(':').next().filter(|name| !name.is_empty()).map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_number() {
        let users = "root:x:0:0:root:/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\nbroken\n:x:7:7::/:\n";
        for (number, expect) in [(0, Some("root")), (1000, Some("ada")), (10, None), (7, None)] {
            assert_eq!(name_of(number, users).as_deref(), expect, "{number}");
        }
        assert!(!user_name().is_empty());
    }
}
