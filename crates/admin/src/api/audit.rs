//! The record of calls: searched page by page, and taken along as a file.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::mpsc;
use toolgate_wire::Raw;

use super::VIEWER;
use crate::admin::Inner;
use crate::desk::{AuditFilter, AuditPage};
use crate::problem::Problem;
use crate::route::{Ask, File, GET, Query, Route};

/// How many records a page has, if nothing is said.
const PAGE: u32 = 100;
/// How many it may have.
const MOST: u32 = 1000;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new((GET, "/audit"), VIEWER, "Search the record, newest first.", search),
        Route::new((GET, "/audit/export"), VIEWER, "All records that fit, as a file.", export),
    ]
}

async fn search(ask: Ask, Query(filter): Query<AuditFilter>) -> Result<AuditPage, Problem> {
    let limit = filter.limit.unwrap_or(PAGE);
    if !(1..=MOST).contains(&limit) {
        return Err(Problem::field("limit", format!("has to be 1 to {MOST}")));
    }
    Ok(ask.admin.desk.audit(AuditFilter { limit: Some(limit), ..filter }).await?)
}

async fn export(ask: Ask, Query(filter): Query<AuditFilter>) -> Result<File, Problem> {
    let filter = AuditFilter { limit: Some(MOST), ..filter };
    // The first page is read here, so that what cannot be read is told as such.
    let first = ask.admin.desk.audit(filter.clone()).await?;
    let (pieces, body) = mpsc::channel(4);
    let admin = ask.admin.clone();
    ask.admin.tasks().spawn(async move {
        if let Err(problem) = send(&admin, first, filter, &pieces).await {
            tracing::warn!(?problem, "an export of the record broke off");
            // A file that is not whole must not look like one that is.
            let broken = r#"{"error":"the export broke off: records are missing from here on"}"#;
            drop(pieces.send(Bytes::from_static(broken.as_bytes())).await);
        }
    });
    Ok(File { name: "toolgate-audit.jsonl", pieces: body })
}

/// Sends page after page, until there is none or nobody reads.
async fn send(
    admin: &Arc<Inner>,
    mut page: AuditPage,
    filter: AuditFilter,
    pieces: &mpsc::Sender<Bytes>,
) -> Result<(), Problem> {
    loop {
        let mut lines = Vec::new();
        for item in page.items {
            let line = admin.hub.filtered(Raw::of(&Value::Object(item)))?;
            lines.extend_from_slice(line.as_bytes());
            lines.push(b'\n');
        }
        if !lines.is_empty() && pieces.send(lines.into()).await.is_err() {
            return Ok(());
        }
        let Some(next) = page.next else { return Ok(()) };
        page = admin.desk.audit(AuditFilter { after: Some(next), ..filter.clone() }).await?;
    }
}
