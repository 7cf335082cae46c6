//! The tools, a file each.

mod analyze_specificity;
mod brooklyn_status;
mod click_element;
mod close_browser;
mod content;
mod diff_css;
mod drag_and_drop;
mod evaluate_expression;
mod extract_css;
mod extract_table_data;
mod fill_form;
mod fill_text;
mod find_in_page;
mod get_applicable_rules;
mod get_attribute;
mod get_computed_styles;
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
mod numbered;
mod press_key;
mod save_pdf;
mod scroll_page;
mod seeing;
mod select_option;
mod styling;
mod take_screenshot;
mod upload_file;
mod wait_for_element;
mod wait_for_network_idle;
mod wait_for_url;
mod why_style_not_applied;

use std::path::Path;

use toolgate_core::{AnyTool, tool};
use toolgate_host::files::{WriteMode, WriteOptions};

use crate::pack::Browser;

/// Those for styles, which are off unless they are wanted.
pub const STYLES: [&str; 6] = [
    "get_computed_styles",
    "get_applicable_rules",
    "why_style_not_applied",
    "analyze_specificity",
    "extract_css",
    "diff_css",
];

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
        tool(get_computed_styles::GetComputedStyles),
        tool(get_applicable_rules::GetApplicableRules),
        tool(why_style_not_applied::WhyStyleNotApplied),
        tool(analyze_specificity::AnalyzeSpecificity),
        tool(extract_css::ExtractCss),
        tool(diff_css::DiffCss),
    ]
}

/// How a file of ours is written that is not there yet.
pub(crate) fn new_file(most: u64) -> WriteOptions {
    WriteOptions {
        create_dirs: true,
        mode: WriteMode::CreateNew,
        max_bytes: most,
        protected: |_: &Path| false,
    }
}
