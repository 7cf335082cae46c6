//! The tools, a file each.

mod brooklyn_status;
mod click_element;
mod close_browser;
mod drag_and_drop;
mod evaluate_expression;
mod extract_table_data;
mod fill_form;
mod fill_text;
mod find_in_page;
mod get_attribute;
mod get_console_messages;
mod get_html;
mod get_page_snapshot;
mod get_text_content;
mod go_back;
mod going;
mod handle_dialog;
mod hover_element;
mod inspect_network;
mod launch_browser;
mod list_active_browsers;
mod list_screenshots;
mod manage_storage;
mod manage_tabs;
mod navigate_history;
mod navigate_to_url;
mod press_key;
mod save_pdf;
mod scroll_page;
mod seeing;
mod select_option;
mod take_screenshot;
mod upload_file;
mod wait_for_element;
mod wait_for_network_idle;
mod wait_for_url;

use std::path::Path;

use toolgate_core::{AnyTool, tool};
use toolgate_host::files::{WriteMode, WriteOptions};

use crate::pack::Browser;

/// Those for styles, which are off unless they are wanted.
pub(crate) const STYLES: [&str; 0] = [];

/// All tools, by what they are for.
pub(crate) fn all() -> Vec<AnyTool<Browser>> {
    vec![
        tool(launch_browser::LaunchBrowser),
        tool(close_browser::CloseBrowser),
        tool(list_active_browsers::ListActiveBrowsers),
        tool(navigate_to_url::NavigateToUrl),
        tool(go_back::GoBack),
        tool(navigate_history::NavigateHistory),
        tool(wait_for_url::WaitForUrl),
        tool(wait_for_network_idle::WaitForNetworkIdle),
        tool(manage_tabs::ManageTabs),
        tool(get_page_snapshot::GetPageSnapshot),
        tool(find_in_page::FindInPage),
        tool(get_text_content::GetTextContent),
        tool(get_html::GetHtml),
        tool(get_attribute::GetAttribute),
        tool(take_screenshot::TakeScreenshot),
        tool(list_screenshots::ListScreenshots),
        tool(click_element::ClickElement),
        tool(fill_text::FillText),
        tool(fill_form::FillForm),
        tool(press_key::PressKey),
        tool(select_option::SelectOption),
        tool(hover_element::HoverElement),
        tool(scroll_page::ScrollPage),
        tool(drag_and_drop::DragAndDrop),
        tool(wait_for_element::WaitForElement),
        tool(evaluate_expression::EvaluateExpression),
        tool(get_console_messages::GetConsoleMessages),
        tool(inspect_network::InspectNetwork),
        tool(extract_table_data::ExtractTableData),
        tool(handle_dialog::HandleDialog),
        tool(upload_file::UploadFile),
        tool(save_pdf::SavePdf),
        tool(manage_storage::ManageStorage),
        tool(brooklyn_status::BrooklynStatus),
    ]
}

/// How a file of ours is written that is not there yet.
fn new_file(most: u64) -> WriteOptions {
    WriteOptions {
        create_dirs: true,
        mode: WriteMode::CreateNew,
        max_bytes: most,
        protected: |_: &Path| false,
    }
}
