//! Which processes there are, as `/proc` tells.

use std::fs;

/// The processes of a group, also those that have ended and wait to be buried. What only the first process of the machine
/// can bury does not count: some never do.
pub fn processes_of_group(group: u32) -> Vec<u32> {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_of_group = |pid: &u32| {
        // One that ends meanwhile is not there.
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let behind = stat.rsplit_once(')').map(|(_, behind)| behind).unwrap_or_default();
        let fields: Vec<&str> = behind.split_ascii_whitespace().collect();
        let [state, parent, of, ..] = fields[..] else { return false };
        of == group.to_string() && (state != "Z" || parent != "1")
    };
    pids.filter(is_of_group).collect()
}
