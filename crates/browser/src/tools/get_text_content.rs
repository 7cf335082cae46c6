//! `get_text_content`: get the text of an element as it is shown.

use std::time::Duration;

use toolgate_core::{Hints, Result, RunHandle, Text, Tool, ToolSpec};

use super::content::{Input, bounded, shown};
use crate::acting::What;
use crate::pack::Browser;

pub(super) struct GetTextContent;

impl Tool<Browser> for GetTextContent {
    type Input = Input;
    type Output = Text;
    const SPEC: ToolSpec = ToolSpec {
        name: "get_text_content",
        title: "Text",
        description: "Get the text of an element.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Text> {
        let what = What::of(input.reference, input.selector)?;
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let (_, told) = page.tab.on(&what, ("text", bounded()), Duration::from_secs(30)).await?;
        Ok(shown(&told, "text", input.max_chars))
    }
}
