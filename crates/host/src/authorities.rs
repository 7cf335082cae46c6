//! Certificates of authorities that a person trusts beside those of the machine.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use reqwest::Certificate;

/// The largest file of certificates that is read; what machines trust by default is a fifth of it.
const MOST_BYTES: u64 = 1024 * 1024;

/// Why there are no certificates.
#[derive(Debug, thiserror::Error)]
#[error("`{}` {why}", path.display())]
pub struct NoAuthorities {
    path: PathBuf,
    why: String,
}

/// Reads the certificates in a file (PEM).
///
/// # Errors
/// The file cannot be read, or holds none.
pub fn read_authorities(path: &Path) -> Result<Vec<Certificate>, NoAuthorities> {
    let bad = |why: String| NoAuthorities { path: path.to_owned(), why };
    let mut text = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut text));
    read.map_err(|error| bad(format!("cannot be read: {error}")))?;
    if text.len() as u64 > MOST_BYTES {
        return Err(bad(format!("has more than {MOST_BYTES} bytes")));
    }
    let found = Certificate::from_pem_bundle(&text);
    found.ok().filter(|found| !found.is_empty()).ok_or_else(|| bad("holds no certificates (PEM)".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_of_certificates_is_said() {
        #[track_caller]
        fn check(content: &str, expect: &str) {
            let place = tempfile::tempdir().unwrap();
            let path = place.path().join("ca.pem");
            std::fs::write(&path, content).unwrap();
            let error = read_authorities(&path).unwrap_err();
            assert_eq!(error.to_string(), format!("`{}` {expect}", path.display()));
        }
        check("", "holds no certificates (PEM)");
        check("hello", "holds no certificates (PEM)");
        check(&"x".repeat(1024 * 1024 + 1), "has more than 1048576 bytes");
        let missing = read_authorities(Path::new("/nowhere/at/all")).unwrap_err();
        assert!(missing.to_string().starts_with("`/nowhere/at/all` cannot be read: "), "{missing}");
    }
}
