//! Other programs of the machine: where they lie.

use std::path::PathBuf;

use rustix::fs::{Access, access};

/// The program of this name in the first folder of a search path (`PATH`) that has it and lets us run it.
#[must_use]
pub fn find_program(search_path: &str, name: &str) -> Option<PathBuf> {
    // An empty entry would mean the working folder, where anybody's file may lie.
    let folders = std::env::split_paths(search_path).filter(|folder| folder.is_absolute());
    folders
        .map(|folder| folder.join(name))
        .find(|path| path.is_file() && access(path, Access::EXEC_OK).is_ok())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_first_folder_with_a_program_that_runs_counts() {
        let place = tempfile::tempdir().unwrap();
        for (folder, mode) in [("plain", 0o644), ("first", 0o755), ("second", 0o755)] {
            let folder = place.path().join(folder);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("tool"), "").unwrap();
            fs::set_permissions(folder.join("tool"), fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::create_dir_all(place.path().join("folder/tool")).unwrap();
        let all = ["nowhere", "plain", "folder", "first", "second"].map(|name| place.path().join(name));
        let path = std::env::join_paths(all).unwrap().into_string().unwrap();
        assert_eq!(find_program(&path, "tool"), Some(place.path().join("first/tool")));
        assert_eq!(find_program(&path, "other"), None);
        assert_eq!(find_program("", "tool"), None);
        assert_eq!(find_program(":.", "Cargo.toml"), None);
    }
}
