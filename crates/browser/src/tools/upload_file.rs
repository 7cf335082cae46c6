//! `upload_file`: put files of the workspace into a field for files.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_core::{Error, Hints, Kind, Result, RunHandle, Tool, ToolSpec};
use toolgate_host::files::ReadOptions;
use toolgate_host::{FileError, RelPath, Root};

use crate::acting::{Needs, What};
use crate::pack::Browser;
use crate::pool::Page;
use crate::reply::{Acted, Told, or_dialog};
use crate::tab::Halt;
use crate::text::brief;

/// The largest file.
const MOST: u64 = 32 * 1024 * 1024;

pub(super) struct UploadFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Element ref.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    reference: Option<String>,
    /// CSS selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    selector: Option<String>,
    /// Paths in the workspace.
    paths: Vec<String>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
    /// In ms (5000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    timeout: Option<u64>,
}

impl Tool<Browser> for UploadFile {
    type Input = Input;
    type Output = Told<Acted>;
    const SPEC: ToolSpec = ToolSpec {
        name: "upload_file",
        title: "Upload",
        description: "Upload workspace files.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Told<Acted>> {
        let what = What::of(input.reference, input.selector)?;
        let limit = Browser::limit(input.timeout, 5000)?;
        if input.paths.len() > 20 {
            return Err(Error::new(Kind::InvalidInput, "`paths` holds more than 20 files")
                .hint("upload fewer at once"));
        }
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let before = page.before();
        let needs = Needs { enabled: true, ..Needs::SEE };
        let ready = page.tab.ready(&what, needs, limit).await?;
        let copies = copied(pack, &page, &input.paths).await?;
        let this = What::Ref(ready.reference.clone());
        let put = async {
            let object = page.tab.object(&ready.spot, this.json(), limit).await?;
            let files = json!({"files": copies, "objectId": object});
            let session = &ready.spot.session;
            let call = ("DOM.setFileInputFiles", files);
            let done: Result<Value, Halt> = page.tab.call_in(session, call, Duration::from_secs(20)).await;
            page.tab.release(session, &object);
            done?;
            page.tab.settle(limit).await
        };
        or_dialog(put.await).map_err(|error| unfit(error, &ready.name))?;
        let did = format!("put {} into {} {}", input.paths.join(", "), ready.name, ready.reference);
        Ok(page.acted(pack.config.text, before, brief(&did, 1000)).await)
    }
}

/// Copies files to where the browser reads them: it gets these bytes, whatever becomes of the files.
async fn copied(pack: &Browser, page: &Page, paths: &[String]) -> Result<Vec<String>> {
    let root = Root::open(&pack.uploads).map_err(|error| refused(".", error))?;
    let mut copies = Vec::new();
    for text in paths {
        let path = RelPath::parse(text, "workspace").map_err(|error| refused(text, error))?;
        let content =
            root.read(&path, ReadOptions::whole(MOST)).await.map_err(|error| refused(text, error))?;
        let folder = page.context.room_for(content.bytes.len() as u64)?;
        let folder = Root::open(folder).map_err(|error| refused(text, error))?;
        let mut noise = [0_u8; 8];
        getrandom::fill(&mut noise)
            .map_err(|error| Error::new(Kind::Internal, "no name can be made").because(error))?;
        let noise: String = noise.iter().map(|byte| format!("{byte:02x}")).collect();
        let name = format!("{noise}/{}", path.file_name().unwrap_or("file"));
        let copy = RelPath::parse(&name, "uploads").map_err(|error| refused(text, error))?;
        let options = super::new_file(MOST);
        folder.write(&copy, content.bytes, options).await.map_err(|error| refused(text, error))?;
        copies.push(folder.path().join(copy.as_str()).display().to_string());
    }
    Ok(copies)
}

fn refused(path: &str, error: FileError) -> Error {
    let (kind, hint) = match &error {
        FileError::NotFound { .. } => (Kind::FileNotFound, "call `workspace_list` to see what exists"),
        FileError::Outside { .. } | FileError::Permission { .. } | FileError::Protected { .. } => {
            (Kind::Denied, "only files of the workspace can be uploaded")
        }
        FileError::InvalidPath { .. }
        | FileError::NotAFile { .. }
        | FileError::NotADirectory { .. }
        | FileError::AlreadyExists { .. } => {
            (Kind::InvalidInput, "give paths of regular files, without `..`")
        }
        FileError::TooLarge { .. } => (Kind::InvalidInput, "choose a file of at most 32 MB"),
        FileError::Busy { .. } => (Kind::Timeout, "try again in a moment"),
        FileError::NoSpace { .. } | FileError::Io { .. } => (Kind::Internal, "see the log for the reason"),
    };
    Error::new(kind, format!("`paths` names `{}`: {error}", brief(path, 200))).hint(hint).because(error)
}

fn unfit(error: Error, name: &str) -> Error {
    if !error.message().contains("Chromium refused") {
        return error;
    }
    let words = format!("{name} takes no files, or not so many");
    Error::new(Kind::InvalidInput, words).hint("name an `<input type=file>`").because(error)
}
