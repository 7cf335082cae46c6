//! The bundle that desktop clients install by a click: a zip with a manifest, see the MCPB specification.

use std::io::{Cursor, Write as _};
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use super::release::Release;
use super::{Entry, read};

/// The files of the bundle.
pub(super) fn files(root: &Path, release: &Release) -> Result<Vec<Entry>> {
    let mut manifest: Value = serde_json::from_slice(&read(root, "dist/mcpb/manifest.json")?)?;
    manifest["version"] = release.version.clone().into();
    manifest["tools"] = tools(&release.run(&["tools", "list", "--json"])?)?;
    Ok(vec![
        Entry::text("LICENSE", read(root, "LICENSE")?),
        Entry::text("manifest.json", serde_json::to_vec_pretty(&manifest)?),
        Entry::program("server/toolgate", release.binary.clone()),
    ])
}

/// The tools that are on by default, for who looks before installing.
fn tools(listed: &str) -> Result<Value> {
    let listed: Value = serde_json::from_str(listed).context("`toolgate tools list --json` is no JSON")?;
    let items = listed["items"].as_array().context("`toolgate tools list --json` has no items")?;
    let of = |item: &Value| {
        let definition = &item["definition"];
        json!({"name": definition["name"], "description": definition["description"]})
    };
    Ok(items.iter().map(of).collect())
}

/// The files as a zip.
pub(super) fn zip(files: &[Entry]) -> Result<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for file in files {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default())
            .unix_permissions(if file.executable { 0o755 } else { 0o644 });
        zip.start_file(&file.path, options)?;
        zip.write_all(&file.bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}

/// Unpacks a bundle.
pub(super) fn unpack(bytes: &[u8], to: &Path) -> Result<()> {
    Ok(ZipArchive::new(Cursor::new(bytes))?.extract(to)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_files_make_the_same_bundle() {
        let files = || [Entry::text("manifest.json", "{}"), Entry::program("server/a", "run")];
        let (one, other) = (zip(&files()).unwrap(), zip(&files()).unwrap());
        assert_eq!(one, other);
        let mut archive = ZipArchive::new(Cursor::new(one)).unwrap();
        let mode = archive.by_name("server/a").unwrap().unix_mode().unwrap();
        assert_eq!(mode & 0o777, 0o755);
    }

    #[test]
    fn the_manifest_names_tools_with_what_they_do() {
        let listed =
            r#"{"items": [{"source": "p", "definition": {"name": "a", "description": "Do.", "x": 1}}]}"#;
        assert_eq!(tools(listed).unwrap(), json!([{"name": "a", "description": "Do."}]));
        assert!(tools("{}").is_err());
    }
}
