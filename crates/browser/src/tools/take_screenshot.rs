//! `take_screenshot`: take a picture of the window, the page or an element, and keep it.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_core::{Block, Content, Error, Hints, Kind, Result, RunHandle, Tool, ToolSpec};

use crate::acting::{Needs, What};
use crate::config::TextForm;
use crate::pack::Browser;
use crate::pool::Page;
use crate::store::tag;

/// How large a picture may be that is shown without being asked for.
const SMALL: usize = 200 * 1024;

/// How large one may be at all within an answer.
const INLINE: usize = 4 * 1024 * 1024;

/// Chromium draws no picture that is higher than this.
const HIGHEST: f64 = 16_000.0;

/// How long it may take: all of a long page is drawn for it.
const LIMIT: Duration = Duration::from_secs(60);

pub(super) struct TakeScreenshot;

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
    /// The whole page.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    full_page: bool,
    /// Default webp.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Format")]
    r#type: Option<Format>,
    /// 1 to 100 (80).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    quality: Option<u32>,
    /// To find it by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    tag: Option<String>,
    /// Show even a large one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    inline: Option<bool>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    Png,
    Jpeg,
    #[default]
    Webp,
}

impl Format {
    fn word(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpeg",
            Self::Webp => "webp",
        }
    }
}

impl Tool<Browser> for TakeScreenshot {
    type Input = Input;
    type Output = Content;
    const SPEC: ToolSpec = ToolSpec {
        name: "take_screenshot",
        title: "Screenshot",
        description: "Take a picture of the page or an element.",
        hints: Hints::CREATE,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Content> {
        let what = What::maybe(input.reference, input.selector)?;
        if what.is_some() && input.full_page {
            return Err(Error::new(Kind::InvalidInput, "an element and `fullPage` are both given")
                .hint("give one of them"));
        }
        let tag = input.tag.as_deref().map(tag).transpose()?;
        let format = input.r#type.unwrap_or_default();
        let quality = input.quality.unwrap_or(80);
        if !(1..=100).contains(&quality) {
            return Err(
                Error::new(Kind::InvalidInput, format!("`quality` is {quality}")).hint("give 1 to 100")
            );
        }
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let mut shot = json!({"format": format.word(), "optimizeForSpeed": format == Format::Png});
        if format != Format::Png {
            shot["quality"] = quality.into();
        }
        let [x, y, mut width, whole] = area(&page, what.as_ref(), input.full_page).await?;
        let mut height = whole.min(HIGHEST);
        if what.is_some() || input.full_page {
            shot["captureBeyondViewport"] = true.into();
            // Wider than this nobody sees more, but everybody pays.
            let scale = (1280.0 / width.max(1.0)).min(1.0);
            shot["clip"] = json!({"x": x, "y": y, "width": width, "height": height, "scale": scale});
            (width, height) = ((width * scale).round(), (height * scale).round());
        }
        let told: Value = page.tab.call(("Page.captureScreenshot", shot), LIMIT).await?;
        let bytes = STANDARD.decode(told["data"].as_str().unwrap_or_default());
        let bytes =
            bytes.map_err(|error| Error::new(Kind::Internal, "the picture cannot be read").because(error))?;
        let kept =
            pack.store.put(&run.principal().id, (format.word(), tag.as_deref()), bytes.clone()).await?;
        let is_inline = input.inline.unwrap_or(bytes.len() <= SMALL) && bytes.len() <= INLINE;
        let mut told = json!({
            "success": true, "browserId": page.instance.id, "name": kept.name, "uri": kept.uri(), "bytes": kept.bytes,
            "width": width.round() as u64, "height": height.round() as u64, "mimeType": kept.mime,
        });
        let mut missing = String::new();
        if whole > HIGHEST {
            let below = (whole - HIGHEST).round() as u64;
            told["missingBelow"] = below.into();
            missing = format!(", without the last {below} px of the page");
        }
        let text = match pack.config.text {
            TextForm::Json => format!("{told:#}"),
            TextForm::Line => {
                format!("took {} ({width} x {height}, {} bytes{missing})", kept.name, kept.bytes)
            }
        };
        let link = Block::ResourceLink {
            uri: kept.uri(),
            name: kept.name.clone(),
            mime_type: Some(kept.mime.to_owned()),
            description: None,
        };
        let image = Block::Image { bytes, mime_type: kept.mime };
        Ok(Content([Block::Text(text), link].into_iter().chain(is_inline.then_some(image)).collect()))
    }
}

/// What of the page the picture is of: from the left, from the top, width and height.
async fn area(page: &Page, what: Option<&What>, full: bool) -> Result<[f64; 4]> {
    let metrics: Value = page.tab.call(("Page.getLayoutMetrics", json!({})), LIMIT).await?;
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    let (window, whole) = (&metrics["cssVisualViewport"], &metrics["cssContentSize"]);
    if let Some(what) = what {
        let ready = page.tab.ready(what, Needs::SEE, Duration::from_secs(5)).await?;
        // Bringing it into view may have scrolled the page.
        let now: Value = page.tab.call(("Page.getLayoutMetrics", json!({})), LIMIT).await?;
        let window = &now["cssVisualViewport"];
        let [left, top, width, height] = ready.area;
        if width < 1.0 || height < 1.0 {
            return Err(Error::new(Kind::InvalidInput, format!("{} has no size", ready.name))
                .hint("name another element"));
        }
        return Ok([left + number(&window["pageX"]), top + number(&window["pageY"]), width, height]);
    }
    if full {
        return Ok([0.0, 0.0, number(&whole["width"]), number(&whole["height"])]);
    }
    Ok([0.0, 0.0, number(&window["clientWidth"]), number(&window["clientHeight"])])
}
