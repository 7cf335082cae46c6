//! `save_pdf`: save the page as a PDF, and keep it.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_core::{Block, Content, Error, Hints, Kind, Result, RunHandle, Tool, ToolSpec};

use crate::config::TextForm;
use crate::pack::Browser;
use crate::store::tag;

pub(super) struct SavePdf;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Wider than high.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    landscape: bool,
    /// Such as `1-3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pages: Option<String>,
    /// To find it by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    tag: Option<String>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
}

impl Tool<Browser> for SavePdf {
    type Input = Input;
    type Output = Content;
    const SPEC: ToolSpec = ToolSpec {
        name: "save_pdf",
        title: "PDF",
        description: "Keep the page as a PDF.",
        hints: Hints::CREATE,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Content> {
        let tag = input.tag.as_deref().map(tag).transpose()?;
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let print = json!({
            "landscape": input.landscape, "printBackground": true, "pageRanges": input.pages.unwrap_or_default(),
        });
        let told: Value =
            page.tab.call(("Page.printToPDF", print), Duration::from_secs(60)).await.map_err(|halt| {
                let error = Error::from(halt);
                let is_range = error.message().contains("age range");
                if is_range {
                    Error::new(Kind::InvalidInput, "`pages` names no page").hint("give one like `1-3`")
                } else {
                    error
                }
            })?;
        let bytes = STANDARD.decode(told["data"].as_str().unwrap_or_default());
        let bytes =
            bytes.map_err(|error| Error::new(Kind::Internal, "the PDF cannot be read").because(error))?;
        let kept = pack.store.put(&run.principal().id, ("pdf", tag.as_deref()), bytes).await?;
        let told = json!({
            "success": true, "browserId": page.instance.id, "name": kept.name, "uri": kept.uri(), "bytes": kept.bytes,
        });
        let text = match pack.config.text {
            TextForm::Json => format!("{told:#}"),
            TextForm::Line => format!("saved {} ({} bytes)", kept.name, kept.bytes),
        };
        let link = Block::ResourceLink {
            uri: kept.uri(),
            name: kept.name.clone(),
            mime_type: Some(kept.mime.to_owned()),
            description: None,
        };
        Ok(Content(vec![Block::Text(text), link]))
    }
}
