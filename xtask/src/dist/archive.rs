//! Files as a compressed archive that depends on nothing but them: no times, no owners.

use anyhow::Result;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use tar::{Archive, Builder, Header};

use super::Entry;

/// The files below a folder of this name.
pub(super) fn tar_gz(folder: &str, files: &[Entry]) -> Result<Vec<u8>> {
    let mut archive = Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    for file in files {
        let mut header = Header::new_gnu();
        header.set_size(u64::try_from(file.bytes.len())?);
        header.set_mode(if file.executable { 0o755 } else { 0o644 });
        header.set_mtime(0);
        archive.append_data(&mut header, format!("{folder}/{}", file.path), file.bytes.as_slice())?;
    }
    Ok(archive.into_inner()?.finish()?)
}

/// Unpacks an archive.
pub(super) fn unpack(bytes: &[u8], to: &std::path::Path) -> Result<()> {
    let mut archive = Archive::new(GzDecoder::new(bytes));
    archive.set_preserve_permissions(true);
    Ok(archive.unpack(to)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_files_make_the_same_archive() {
        let files = || [Entry::program("bin/a", "run"), Entry::text("b", "read")];
        let (one, other) = (tar_gz("x-1", &files()).unwrap(), tar_gz("x-1", &files()).unwrap());
        assert_eq!(one, other);
        let mut archive = Archive::new(GzDecoder::new(one.as_slice()));
        let shown = archive.entries().unwrap().map(|entry| {
            let entry = entry.unwrap();
            (entry.path().unwrap().display().to_string(), entry.header().mode().unwrap())
        });
        let expect = [("x-1/bin/a".to_owned(), 0o755), ("x-1/b".to_owned(), 0o644)];
        assert_eq!(shown.collect::<Vec<_>>(), expect);
    }
}
