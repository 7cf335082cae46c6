//! What the log says of tools that are not as they were accepted, when that is first found.

use toolgate_core::SourceId;

use super::report::Standing;

/// How many tools of one list are told one by one.
const MOST: usize = 8;

/// A tool of which that was found.
pub(super) struct News {
    /// Its name, fit to be shown.
    pub(super) tool: String,
    pub(super) standing: Standing,
    /// What is not as it was, in a few words.
    pub(super) why: String,
}

/// Logs it, what is held before what is used; a server may have many tools.
pub(super) fn tell(source: &SourceId, mut news: Vec<News>) {
    news.sort_by_key(|one| std::cmp::Reverse(one.standing));
    for News { tool, standing, why } in news.iter().take(MOST) {
        let so = if *standing == Standing::Held { "held, because" } else { "used, although" };
        tracing::warn!(
            %source, tool,
            "the tool is {so} it is not as it was accepted ({why}); `toolgate pins show {source} {tool}` tells what differs"
        );
    }
    let more = news.len().saturating_sub(MOST);
    if more > 0 {
        tracing::warn!(%source, "and {more} more of its tools are not as they were accepted; `toolgate pins list` shows them");
    }
}
