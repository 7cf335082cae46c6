//! The key of the secrets: in a file that is made at first use, or given.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use toolgate_host::Secret;
use zeroize::Zeroizing;

use crate::SecretError;

/// The name of the key file in the data folder.
pub const KEY_FILE: &str = "secret.key";

/// The key itself, wiped when it is let go.
pub(crate) type Key = Zeroizing<[u8; 32]>;

/// Where the key of the secrets comes from.
#[derive(Debug, Clone)]
pub enum KeySource {
    /// A file that only its owner can read, made when the first secret is stored.
    File(PathBuf),
    /// 32 bytes in base64 or hex, as they were given.
    Given(Secret),
}

impl KeySource {
    /// The key file of a data folder.
    pub fn in_data(data_dir: &Path) -> Self {
        Self::File(data_dir.join(KEY_FILE))
    }

    /// The key, if there is one.
    pub(crate) fn read(&self) -> Result<Option<Key>, SecretError> {
        match self {
            Self::Given(text) => parse(text.expose()).map(Some).ok_or(SecretError::BadKey),
            Self::File(path) => read_file(path),
        }
    }

    /// The key; makes one if there is none.
    pub(crate) fn read_or_make(&self) -> Result<Key, SecretError> {
        if let Some(key) = self.read()? {
            return Ok(key);
        }
        let Self::File(path) = self else { return Err(SecretError::BadKey) };
        make_file(path).map_err(|source| SecretError::KeyFile { path: path.clone(), source })?;
        // Whoever was first: the key that is there now is the one.
        read_file(path)?.ok_or_else(|| SecretError::BadKeyFile { path: path.clone() })
    }
}

fn read_file(path: &Path) -> Result<Option<Key>, SecretError> {
    let failed = |source| SecretError::KeyFile { path: path.to_owned(), source };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if file.metadata().map_err(failed)?.mode() & 0o077 != 0 {
        return Err(SecretError::OpenKeyFile { path: path.to_owned() });
    }
    let text = Zeroizing::new(io::read_to_string(file).map_err(failed)?);
    parse(&text).map(Some).ok_or_else(|| SecretError::BadKeyFile { path: path.to_owned() })
}

/// Makes the key file in one step: it is there with all of its content, or not at all, and one that is there
/// already stays.
fn make_file(path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let temp = folder.join(format!(".{KEY_FILE}.{:016x}", u64::from_le_bytes(random)));
    let made = write_new(&temp).and_then(|()| match fs::hard_link(&temp, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    });
    let removed = fs::remove_file(&temp);
    made?;
    removed?;
    // Secrets under a key that a crash took away would be lost.
    File::open(folder)?.sync_all()
}

fn write_new(path: &Path) -> io::Result<()> {
    let mut key = Key::default();
    getrandom::fill(key.as_mut_slice()).map_err(io::Error::other)?;
    let mut text = Zeroizing::new(STANDARD.encode(*key));
    text.push('\n');
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn parse(text: &str) -> Option<Key> {
    let text = text.trim();
    let bytes = Zeroizing::new(unhex(text).or_else(|| {
        let engines = [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD];
        engines.iter().find_map(|engine| engine.decode(text).ok())
    })?);
    Some(Zeroizing::new(bytes.as_slice().try_into().ok()?))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..32).map(|index| u8::from_str_radix(text.get(2 * index..2 * index + 2)?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_32_bytes_in_base64_or_hex() {
        #[track_caller]
        fn check(text: &str, good: bool) {
            assert_eq!(parse(text).is_some_and(|key| *key == [0xFB; 32]), good, "{text}");
        }
        check(&"fb".repeat(32), true);
        check(&"FB".repeat(32), true);
        check(&STANDARD.encode([0xFB; 32]), true);
        check(&format!(" {}\n", URL_SAFE_NO_PAD.encode([0xFB; 32])), true);
        check(&URL_SAFE.encode([0xFB; 32]), true);
        check(&STANDARD_NO_PAD.encode([0xFB; 32]), true);
        check(&"fb".repeat(31), false);
        check(&STANDARD.encode([0xFB; 31]), false);
        check("", false);
        check("not a key", false);
    }
}
