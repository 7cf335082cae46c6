//! The files of the page, in the binary.

/// A file of the page.
pub(crate) struct Asset {
    /// Its name behind `/admin/`; that of the page itself is empty.
    pub(crate) name: &'static str,
    pub(crate) content_type: &'static str,
    pub(crate) bytes: &'static [u8],
}

const HTML: &str = "text/html; charset=utf-8";

/// Every file of the page.
pub(crate) const ASSETS: &[Asset] =
    &[Asset { name: "", content_type: HTML, bytes: include_bytes!("../page/index.html") }];
