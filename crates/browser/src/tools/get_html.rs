//! `get_html`: get the HTML of the page or of an element.

use std::time::Duration;

use toolgate_core::{Hints, Result, RunHandle, Text, Tool, ToolSpec};

use super::content::{Input, bounded, shown};
use crate::acting::What;
use crate::pack::Browser;

pub(super) struct GetHtml;

impl Tool<Browser> for GetHtml {
    type Input = Input;
    type Output = Text;
    const SPEC: ToolSpec = ToolSpec {
        name: "get_html",
        title: "HTML",
        description: "Get HTML of the page or an element.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Text> {
        let what = What::maybe(input.reference, input.selector)?;
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let limit = Duration::from_secs(30);
        let told = match &what {
            Some(what) => page.tab.on(what, ("html", bounded()), limit).await?.1,
            None => page.tab.run(&page.tab.main_spot(), ("page", bounded()), limit).await?,
        };
        Ok(shown(&told, "html", input.max_chars))
    }
}
