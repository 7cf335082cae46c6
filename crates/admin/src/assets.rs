//! The files of the page, in the binary.

/// A file of the page.
pub(crate) struct Asset {
    /// Its name behind `/admin/`; that of the page itself is empty.
    pub(crate) name: &'static str,
    pub(crate) content_type: &'static str,
    pub(crate) bytes: &'static [u8],
}

const fn asset(name: &'static str, content_type: &'static str, bytes: &'static [u8]) -> Asset {
    Asset { name, content_type, bytes }
}

const HTML: &str = "text/html; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// Every file of the page.
pub(crate) const ASSETS: &[Asset] = &[
    asset("access.js", JS, include_bytes!("../page/access.js")),
    asset("account.js", JS, include_bytes!("../page/account.js")),
    asset("accounts.js", JS, include_bytes!("../page/accounts.js")),
    asset("api.js", JS, include_bytes!("../page/api.js")),
    asset("app.js", JS, include_bytes!("../page/app.js")),
    asset("approvals.js", JS, include_bytes!("../page/approvals.js")),
    asset("approvals_pins.js", JS, include_bytes!("../page/approvals_pins.js")),
    asset("approvals_scripts.js", JS, include_bytes!("../page/approvals_scripts.js")),
    asset("ask.js", JS, include_bytes!("../page/ask.js")),
    asset("audit.js", JS, include_bytes!("../page/audit.js")),
    asset("base.css", CSS, include_bytes!("../page/base.css")),
    asset("catalog.js", JS, include_bytes!("../page/catalog.js")),
    asset("diff.js", JS, include_bytes!("../page/diff.js")),
    asset("dom.js", JS, include_bytes!("../page/dom.js")),
    asset("enter.js", JS, include_bytes!("../page/enter.js")),
    asset("form.js", JS, include_bytes!("../page/form.js")),
    asset("graph.js", JS, include_bytes!("../page/graph.js")),
    asset("icon.svg", SVG, include_bytes!("../page/icon.svg")),
    asset("", HTML, include_bytes!("../page/index.html")),
    asset("keys.js", JS, include_bytes!("../page/keys.js")),
    asset("live.js", JS, include_bytes!("../page/live.js")),
    asset("overview.js", JS, include_bytes!("../page/overview.js")),
    asset("parts.css", CSS, include_bytes!("../page/parts.css")),
    asset("router.js", JS, include_bytes!("../page/router.js")),
    asset("schema.js", JS, include_bytes!("../page/schema.js")),
    asset("scripts.js", JS, include_bytes!("../page/scripts.js")),
    asset("secrets.js", JS, include_bytes!("../page/secrets.js")),
    asset("server.js", JS, include_bytes!("../page/server.js")),
    asset("servers.js", JS, include_bytes!("../page/servers.js")),
    asset("settings.js", JS, include_bytes!("../page/settings.js")),
    asset("theme.js", JS, include_bytes!("../page/theme.js")),
    asset("tool.js", JS, include_bytes!("../page/tool.js")),
    asset("words.js", JS, include_bytes!("../page/words.js")),
];
