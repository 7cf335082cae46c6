//! The page as a part of the listener.

use toolgate_admin::{Admin, Body, Request};
use toolgate_front::http::{Site, SiteAnswer, SiteBody, SiteRequest};

/// The page as a part of the listener.
pub(super) struct AdminSite(pub(super) Admin);

impl Site for AdminSite {
    fn has(&self, path: &str) -> bool {
        self.0.has(path)
    }

    fn answer(&self, request: SiteRequest) -> SiteAnswer<'_> {
        let SiteRequest { method, uri, headers, body, peer } = request;
        let (path, query) = (uri.path().to_owned(), uri.query().unwrap_or_default().to_owned());
        let request = Request { method, path, query, headers, body, peer };
        Box::pin(async move {
            self.0.answer(request).await.map(|body| match body {
                Body::Whole(piece) => SiteBody::Whole(piece),
                Body::Stream(pieces) => SiteBody::Stream(pieces),
            })
        })
    }
}
