//! The browser of the person at this machine.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Stdio;

use url::Url;

use crate::find_program;

/// What opens an address, by the names that systems give it.
const OPENERS: [&str; 3] = ["xdg-open", "open", "wslview"];

/// Opens an address in the person's browser; `search_path` is where programs are. It does not wait for the browser,
/// and does not end it.
///
/// # Errors
/// The address is none for a browser, there is nothing that opens it, or that cannot be started.
pub fn open_browser(search_path: &str, url: &Url) -> io::Result<()> {
    // An opener may do anything with other addresses.
    if !matches!(url.scheme(), "http" | "https") {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no address for a browser"));
    }
    let found = OPENERS.iter().find_map(|name| find_program(search_path, name));
    let opener =
        found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "nothing opens a browser here"))?;
    start(&opener, url)
}

fn start(opener: &Path, url: &Url) -> io::Result<()> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is where processes start; this one is left to itself"
    )]
    let mut command = std::process::Command::new(opener);
    // In a group of its own it outlives us, and a Ctrl-C to us is not one to it.
    command.arg(url.as_str()).process_group(0);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    std::thread::spawn(move || child.wait());
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_address_is_handed_to_what_opens_it_and_nothing_else_is() {
        let place = tempfile::tempdir().unwrap();
        let (opener, said) = (place.path().join("xdg-open"), place.path().join("said"));
        let script = format!("#!/bin/sh\nprintf %s \"$*\" > {0}.new && mv {0}.new {0}\n", said.display());
        std::fs::write(&opener, script).unwrap();
        std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:/usr/bin:/bin", place.path().display());
        let url = Url::parse("https://h/a?b=c&d=e f").unwrap();
        open_browser(&path, &url).unwrap();
        let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while !said.exists() {
            assert!(std::time::Instant::now() < until, "nothing was opened");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert_eq!(std::fs::read_to_string(&said).unwrap(), url.as_str());

        let refused =
            |path: &str, url: &str| open_browser(path, &Url::parse(url).unwrap()).unwrap_err().kind();
        assert_eq!(refused(&path, "javascript:alert(1)"), io::ErrorKind::InvalidInput);
        assert_eq!(refused(&path, "file:///etc/passwd"), io::ErrorKind::InvalidInput);
        assert_eq!(refused("/nowhere", "https://h/"), io::ErrorKind::NotFound);
    }
}
