//! `list_screenshots`: list your screenshots, PDFs and downloads, the newest first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec, iso8601};

use crate::pack::Browser;

pub(super) struct ListScreenshots;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Of this tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    tag: Option<String>,
    /// Default 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize")]
    limit: Option<usize>,
    /// Skip so many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize")]
    offset: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The screenshots, PDFs and downloads.
    items: Vec<Item>,
    /// How many there are.
    total: usize,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Item {
    /// The name of it.
    name: String,
    /// What `resources/read` reads it by.
    uri: String,
    /// What it is.
    mime_type: &'static str,
    /// How many bytes it has.
    bytes: u64,
    /// When it was taken.
    taken_at: String,
    /// Its tag, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    tag: Option<String>,
    /// What it was called, if it is a download.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    file: Option<String>,
}

impl Tool<Browser> for ListScreenshots {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "list_screenshots",
        title: "Kept files",
        description: "List your screenshots, PDFs and downloads.",
        hints: Hints::READ_ONLY,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Json<Output>> {
        // What pages handed over since the last call is listed as well.
        for instance in pack.pool.of(&run.principal().id) {
            let context = instance.context.lock().await.clone();
            if let Some(downloads) = &context.downloads {
                downloads.keep(&pack.store, &instance.owner).await;
            }
        }
        let mut all = pack.store.of(&run.principal().id).await?;
        all.retain(|capture| input.tag.is_none() || capture.tag == input.tag);
        let total = all.len();
        let shown = all.into_iter().skip(input.offset.unwrap_or(0)).take(input.limit.unwrap_or(20).min(200));
        let items = shown.map(|capture| Item {
            uri: capture.uri(),
            name: capture.name,
            mime_type: capture.mime,
            bytes: capture.bytes,
            taken_at: iso8601(capture.unix_ms),
            tag: capture.tag,
            file: capture.file,
        });
        Ok(Json(Output { items: items.collect(), total }))
    }
}
