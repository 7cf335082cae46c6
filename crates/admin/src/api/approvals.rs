//! Calls that wait for a person, and answers that are remembered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{
    Approval, ApprovalState, Approvals, Decision, Lasting, Remembered, visible, visible_line,
};

use super::{APPROVER, LONGEST_REASON, VIEWER};
use crate::problem::Problem;
use crate::route::{Ask, DELETE, Done, GET, Items, Nothing, POST, Query, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new((GET, "/approvals"), VIEWER, "Calls that wait for a person, oldest first.", list),
        Route::new((GET, "/approvals/{id}"), VIEWER, "One of them.", show),
        Route::new((POST, "/approvals/{id}/approve"), APPROVER, "Let this very call go on.", approve),
        Route::new((POST, "/approvals/{id}/reject"), APPROVER, "Refuse this very call.", reject),
        Route::new(
            (GET, "/remembered"),
            VIEWER,
            "Answers that hold for more than one call, oldest first.",
            remembered,
        ),
        Route::new((DELETE, "/remembered/{id}"), APPROVER, "Forget an answer; its rule asks again.", forget),
    ]
}

/// A call that waits for a person, or did. Times are in milliseconds since 1970.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Approval")]
struct Waiting {
    /// Its id: the same call under the same rules has the same one.
    id: String,
    /// `pending`, `approved`, `rejected` or `used`.
    state: String,
    /// Who calls.
    principal: String,
    /// From which program, as it calls itself.
    client: Option<String>,
    /// Whether it may be approved for the client's connection.
    has_session: bool,
    /// What it is for, as `kind:name`.
    target: String,
    /// What people call that.
    title: Option<String>,
    /// Where it goes.
    source: Option<String>,
    /// The rule that wants a person asked.
    rule: String,
    /// Why.
    reason: String,
    /// What the call is, to the last argument.
    digest: String,
    /// The arguments as a person reads them: indented, shortened, without secrets.
    arguments: String,
    /// When it was asked.
    asked_ms: u64,
    /// Until when an answer counts.
    expires_ms: u64,
    /// Who answered.
    answered_by: Option<String>,
    /// When.
    answered_ms: Option<u64>,
    /// Why it was refused.
    answer: Option<String>,
}

impl From<Approval> for Waiting {
    fn from(approval: Approval) -> Self {
        let state = approval.state.as_str().to_owned();
        let (answered_by, answered_ms, answer) = match approval.state {
            ApprovalState::Pending => (None, None, None),
            ApprovalState::Approved { by, at_ms } | ApprovalState::Used { by, at_ms } => {
                (Some(by), Some(at_ms), None)
            }
            ApprovalState::Rejected { by, at_ms, reason } => (Some(by), Some(at_ms), reason),
        };
        Self {
            id: approval.id,
            state,
            principal: approval.principal,
            client: approval.client.as_deref().map(visible_line),
            has_session: approval.session.is_some(),
            target: visible_line(&approval.target),
            title: approval.title.as_deref().map(visible_line),
            source: approval.source,
            rule: approval.rule,
            reason: visible(&approval.reason),
            digest: approval.digest,
            arguments: visible(&approval.arguments),
            asked_ms: approval.asked_ms,
            expires_ms: approval.expires_ms,
            answered_by,
            answered_ms,
            answer,
        }
    }
}

/// Which of them to list.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Which {
    /// Those that were answered, too.
    all: bool,
}

/// For how long a yes holds.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum For {
    /// For this one call.
    #[default]
    Once,
    /// For this target over the client's connection.
    Session,
    /// For this target and principal, until it is forgotten.
    Always,
}

/// A yes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Approve {
    /// For how long it holds.
    lasting: For,
}

/// A no.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Reject {
    /// Why, for the caller.
    #[schemars(length(max = 1000))]
    reason: Option<String>,
}

/// An answer that holds for more than one call.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Remembered")]
struct Kept {
    /// Its id.
    id: String,
    /// For whom it holds.
    principal: String,
    /// For what, as `kind:name`.
    target: String,
    /// The rule that no longer asks.
    rule: String,
    /// `session` or `always`.
    lasting: &'static str,
    /// Who said so.
    by: String,
    /// When, in milliseconds since 1970.
    at_ms: u64,
}

impl From<Remembered> for Kept {
    fn from(kept: Remembered) -> Self {
        let lasting = if kept.session.is_some() { "session" } else { "always" };
        let Remembered { id, principal, target, rule, by, at_ms, session: _ } = kept;
        Self { id, principal, target: visible_line(&target), rule, lasting, by, at_ms }
    }
}

async fn list(ask: Ask, Query(which): Query<Which>) -> Result<Items<Waiting>, Problem> {
    let mut all = inbox(&ask)?.list().await?;
    all.retain(|approval| which.all || approval.state == ApprovalState::Pending);
    Ok(Items { items: all.into_iter().map(Waiting::from).collect() })
}

async fn show(ask: Ask, _: Nothing) -> Result<Waiting, Problem> {
    Ok(find(&ask).await?.into())
}

async fn approve(ask: Ask, yes: Approve) -> Result<Waiting, Problem> {
    let lasting = match yes.lasting {
        For::Once => Lasting::Once,
        For::Session => Lasting::Session,
        For::Always => Lasting::Always,
    };
    decide(&ask, Decision::Approve(lasting)).await
}

async fn reject(ask: Ask, no: Reject) -> Result<Waiting, Problem> {
    if no.reason.as_ref().is_some_and(|reason| reason.chars().count() > LONGEST_REASON) {
        return Err(Problem::field("reason", format!("is longer than {LONGEST_REASON} characters")));
    }
    decide(&ask, Decision::Reject(no.reason.filter(|reason| !reason.trim().is_empty()))).await
}

async fn remembered(ask: Ask, _: Nothing) -> Result<Items<Kept>, Problem> {
    let all = inbox(&ask)?.remembered().await?;
    Ok(Items { items: all.into_iter().map(Kept::from).collect() })
}

async fn forget(ask: Ask, _: Nothing) -> Result<Done, Problem> {
    inbox(&ask)?.forget(ask.name()).await?;
    Ok(Done)
}

async fn decide(ask: &Ask, decision: Decision) -> Result<Waiting, Problem> {
    let asked = find(ask).await?;
    if asked.state != ApprovalState::Pending {
        let detail = format!("this call is {} already", asked.state.as_str());
        return Err(Problem::conflict(detail).hint("load the list again"));
    }
    Ok(inbox(ask)?.decide(&asked.id, &decision, &ask.by()).await?.into())
}

/// The one that is named, by its whole id: whoever answers means one call.
async fn find(ask: &Ask) -> Result<Approval, Problem> {
    let all = inbox(ask)?.list().await?;
    let found = all.into_iter().find(|approval| approval.id == ask.name());
    found.ok_or_else(|| {
        Problem::missing("no call waits under this id").hint("they expire; load the list again")
    })
}

fn inbox(ask: &Ask) -> Result<&Approvals, Problem> {
    ask.admin.hub.approvals().ok_or_else(|| Problem::missing("there is no inbox"))
}
