//! Asking a person before a call goes on: at the client, then in the inbox.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolgate_wire::Raw;

use crate::approvals::{Waited, short_id};
use crate::consents::Consent;
use crate::hub::Inner;
use crate::pipeline::record::Trace;
use crate::pipeline::shown::shown;
use crate::settings::AskBy;
use crate::view::Route;
use crate::visible::{visible, visible_line};
use crate::{
    Approval, ApprovalState, Approvals, Call, Capabilities, Error, Kind, Lasting, Progress, Question, Result,
    RunHandle, Source, ToolItem,
};

/// How often a caller that waits for the inbox hears that it still does.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a question goes by whose rule has a name that must not go out.
const UNNAMED: &str = "approval";

/// A gate that wants a person asked: the rule, and why.
pub(super) struct Asking {
    pub(super) rule: Arc<str>,
    pub(super) reason: String,
}

/// What is asked about.
pub(super) struct Subject<'a> {
    pub(super) hub: &'a Arc<Inner>,
    pub(super) call: &'a Call,
    /// Where it goes, as of when that was last looked up.
    pub(super) route: Route,
    pub(super) arguments: &'a Raw,
    pub(super) trace: &'a Trace,
    /// What a yes is given under: what held when gates were last asked.
    pub(super) terms: String,
}

/// What the person at the client made of a question.
enum Said {
    Yes(Lasting),
    No,
    /// There is nobody to ask there, or nobody answered.
    Nothing(Error),
    /// They were asked and did not want to answer; nobody else is asked.
    NoMore(Error),
}

/// How a question ended that nobody said yes to, and what the caller is told.
pub(crate) enum Unapproved {
    /// A person said no.
    Rejected(Error),
    /// Nobody could be asked, or nobody said anything.
    Unanswered(Error),
    /// It could not be asked or answered.
    Failed(Error),
}

impl From<Error> for Unapproved {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<Unapproved> for Error {
    fn from(unapproved: Unapproved) -> Self {
        match unapproved {
            Unapproved::Rejected(error) | Unapproved::Unanswered(error) | Unapproved::Failed(error) => error,
        }
    }
}

/// What came of a question: a yes, or that nobody said it.
type Answered<T = Consent> = Result<T, Unapproved>;

/// Asks for everything that gates want asked, one by one; only a plain yes to each lets the call go on. Returns the last
/// of them, which counts for as long and under the same as all do; nothing where nothing is asked.
pub(super) async fn ask(
    subject: &Subject<'_>,
    handle: &RunHandle,
    asks: Vec<Asking>,
) -> Answered<Option<Consent>> {
    let mut consent: Option<Consent> = None;
    for asking in asks {
        let mut next = ask_one(subject, handle, asking).await?;
        if let Some(before) = consent {
            next.until_ms = next.until_ms.min(before.until_ms);
        }
        consent = Some(next);
    }
    Ok(consent)
}

async fn ask_one(subject: &Subject<'_>, handle: &RunHandle, asking: Asking) -> Answered {
    let mut asked = subject.approval(asking);
    let inbox = subject.hub.approvals.as_ref();
    if let Some(inbox) = inbox {
        if let Some(consent) = inbox.standing(&asked).await? {
            return Ok(consent);
        }
        // An answer that came after an earlier try had to give up.
        match inbox.redeem(&asked).await? {
            Waited::Approved(consent) => return Ok(consent),
            Waited::Rejected { by, reason } => return Err(subject.rejected(by, reason)),
            Waited::Pending => {}
        }
    }
    // Only now, as it takes a while and few calls get here: most were answered before.
    asked.arguments = subject.shown_arguments();
    let mut last = None;
    let ways = subject.hub.settings.load().ask_by.clone();
    for way in ways.iter() {
        match (way, inbox) {
            (AskBy::Client, _) => match at_client(subject, handle, &asked).await? {
                Said::Yes(lasting) => return Ok(yes(inbox, &asked, lasting).await?),
                Said::No => {
                    subject.trace.answered_by(at_the_client(&asked));
                    return Err(Unapproved::Rejected(Error::new(Kind::Denied, "the person said no")));
                }
                Said::Nothing(error) => last = Some(error),
                Said::NoMore(error) => return Err(Unapproved::Unanswered(error)),
            },
            (AskBy::Inbox, Some(inbox)) => return in_inbox(subject, inbox, handle, &asked).await,
            (AskBy::Inbox, None) => {}
        }
    }
    let needed = || Error::new(Kind::NeedsApproval, "this call needs a person's approval");
    Err(Unapproved::Unanswered(last.unwrap_or_else(needed)))
}

async fn yes(inbox: Option<&Approvals>, asked: &Approval, lasting: Lasting) -> Result<Consent> {
    let by = at_the_client(asked);
    if let Some(inbox) = inbox {
        inbox.keep(asked, lasting, &by).await?;
    }
    Ok(asked.consent(by))
}

/// Who answered there: whoever sits before the caller's client.
fn at_the_client(asked: &Approval) -> String {
    format!("{} at the client", asked.principal)
}

async fn at_client(subject: &Subject<'_>, handle: &RunHandle, asked: &Approval) -> Result<Said> {
    // A rule may be named by what must not go out; its answer needs only be told from no other.
    let key = if subject.hub.filters.lets_pass(&asked.rule) { &*asked.rule } else { UNNAMED };
    let question = question(asked, key);
    let answers = match handle.ask_now(vec![question]).await {
        Ok(answers) => answers,
        Err(error) => return nothing(error).map(Said::Nothing),
    };
    let answer = answers.get(key);
    let action = answer.and_then(|answer| answer.get("action"));
    match action.as_ref().and_then(Raw::as_string).as_deref() {
        Some("accept") => Ok(Said::Yes(lasting(answer, asked))),
        Some("decline") => Ok(Said::No),
        _ => Ok(Said::NoMore(Error::new(Kind::Denied, "the person did not answer"))),
    }
}

/// For how long a yes of a client holds; anything unclear is a yes for this call alone.
fn lasting(answer: Option<&Raw>, asked: &Approval) -> Lasting {
    let chosen = answer.and_then(|answer| answer.path(&["content", "allow"]));
    match chosen.as_ref().and_then(Raw::as_string).as_deref() {
        Some("session") if asked.session.is_some() => Lasting::Session,
        Some("always") => Lasting::Always,
        _ => Lasting::Once,
    }
}

/// What it means for the call that its question got no answer at the client.
fn nothing(error: Error) -> Result<Error> {
    if error.kind() == Kind::MissingCapability {
        return Ok(Error::new(Kind::NeedsApproval, "this call needs a person's approval")
            .hint("use a client that can ask its user")
            .because(error));
    }
    if error.kind() == Kind::Timeout {
        return Ok(Error::new(Kind::Denied, error.message().to_owned()).because(error));
    }
    Err(error)
}

async fn in_inbox(
    subject: &Subject<'_>,
    inbox: &Approvals,
    handle: &RunHandle,
    asked: &Approval,
) -> Answered {
    let hub = subject.hub;
    let waiting = async {
        inbox.put(asked).await?;
        hub.metrics.asked();
        inbox.wait(asked, hub.settings.load().approval_wait).await
    };
    let waited = tokio::select! {
        waited = waiting => waited.map_err(unasked)?,
        never = reassure(handle, asked) => match never {},
    };
    match waited {
        Waited::Approved(consent) => Ok(consent),
        Waited::Rejected { by, reason } => Err(subject.rejected(by, reason)),
        Waited::Pending => Err(Unapproved::Unanswered(pending(asked))),
    }
}

/// Why a question is not in the inbox: there was no room for it, or it failed.
fn unasked(error: Error) -> Unapproved {
    match error.kind() == Kind::NeedsApproval {
        true => Unapproved::Unanswered(error),
        false => Unapproved::Failed(error),
    }
}

/// What the caller can do about a question that stays in the inbox.
fn pending(asked: &Approval) -> Error {
    let id = &asked.id;
    Error::new(Kind::NeedsApproval, format!("this call needs a person's approval, which waits as `{id}`"))
        .hint(format!(
            "have someone run `toolgate approvals approve {id}`, then make exactly the same call again"
        ))
}

/// Tells the caller from time to time what it waits for. The time does not count as the call's.
async fn reassure(handle: &RunHandle, asked: &Approval) -> std::convert::Infallible {
    let _held = handle.hold();
    let message =
        format!("`toolgate approvals approve {}` lets this call go on, which waits for a person", asked.id);
    let mut count = 0.0;
    loop {
        handle.progress(Progress::new(count, None, Some(&message))).await;
        count += 1.0;
        tokio::time::sleep(PATIENCE).await;
    }
}

impl Subject<'_> {
    pub(super) fn tool(&self) -> Option<&ToolItem> {
        self.route.tool.as_deref()
    }

    /// Whether it goes where it went before; another server of the same name is another matter.
    pub(super) fn goes_to(&self, before: Option<&Arc<dyn Source>>) -> bool {
        match (&self.route.source, before) {
            (Some(now), Some(before)) => Arc::ptr_eq(now, before),
            (now, before) => now.is_none() && before.is_none(),
        }
    }

    /// The yes that an earlier round brought along under this number, if it still counts; it counts for one round.
    pub(super) fn earlier(&self, number: Option<u64>) -> Option<Consent> {
        let consent = self.hub.consents.take(number?, self.hub.clock.unix_ms())?;
        (consent.policy == self.hub.terms(self.tool())).then_some(consent)
    }

    /// A no, which the record should name someone for as it does for a yes.
    fn rejected(&self, by: String, reason: Option<String>) -> Unapproved {
        let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        let error = Error::new(Kind::Denied, format!("`{by}` rejected this call{reason}"));
        self.trace.answered_by(by);
        Unapproved::Rejected(error)
    }

    /// The question as the inbox would keep it, but for the arguments that a person is shown.
    fn approval(&self, asking: Asking) -> Approval {
        let (hub, call) = (self.hub, self.call);
        let digest = crate::seal::digest(&call.target, &call.params);
        let policy = self.terms.clone();
        let clean = |text: &str| hub.filters.text(text).unwrap_or_else(|| text.to_owned());
        let target = format!("{}:{}", call.target.kind(), clean(call.target.name()));
        let principal = call.principal.id.to_string();
        let now = hub.clock.unix_ms();
        Approval {
            id: short_id(&[&principal, &target, &digest, &asking.rule, &policy]),
            client: call.client.name.as_ref().map(ToString::to_string),
            session: call.connection.map(|number| format!("{}-{number}", hub.instance)),
            title: self.tool().and_then(|tool| tool.title.as_deref()).map(clean),
            source: self.route.source.as_ref().map(|source| source.id().to_string()),
            rule: asking.rule.to_string(),
            reason: clean(&asking.reason),
            arguments: String::new(),
            asked_ms: now,
            expires_ms: now.saturating_add(millis(hub.settings.load().approval_ttl)),
            state: ApprovalState::Pending,
            principal,
            target,
            digest,
            policy,
        }
    }

    /// The arguments as a person is shown them. Shortened behind the filters: what they look for must not be cut in two.
    fn shown_arguments(&self) -> String {
        shown(&self.hub.filters.json(self.arguments.clone()))
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The form that a client shows. Its words come from the rule and the call, never from the server that is called.
fn question(asked: &Approval, key: &str) -> Question {
    let message = format!(
        "`{}` wants to use `{}`.\n\n{}\n\nWhy you are asked: {}",
        visible_line(&asked.principal),
        visible_line(&asked.target),
        asked.arguments,
        visible(&asked.reason)
    );
    let mut choices = vec!["once"];
    if asked.session.is_some() {
        choices.push("session");
    }
    choices.push("always");
    let allow = json!({
        "type": "string",
        "title": "Allow",
        "description": "For this call, for this connection, or always for this caller and target.",
        "enum": choices,
        "default": "once",
    });
    let schema = json!({"type": "object", "properties": {"allow": allow}});
    Question::elicit(key, Raw::of(&json!({"message": message, "requestedSchema": schema})))
}

/// Fails when the client cannot answer what another server asks; what we do not know, it may.
pub(super) fn answerable(requests: &Raw, can: &Capabilities) -> Result<()> {
    let known = requests.entries().filter_map(|(key, request)| asked_by(key.into_owned(), &request).ok());
    known.into_iter().try_for_each(|question| question.answerable_by(can))
}

/// The questions of another server's `inputRequests` object.
pub(super) fn questions(requests: &Raw) -> Result<Vec<Question>> {
    requests.entries().map(|(key, request)| asked_by(key.into_owned(), &request)).collect()
}

fn asked_by(key: String, request: &Raw) -> Result<Question> {
    let method = request.get("method");
    let params = request.get("params").unwrap_or_else(|| Raw::literal("{}"));
    match method.as_ref().and_then(Raw::as_string).as_deref() {
        Some("elicitation/create") => Ok(Question::elicit(key, params)),
        Some("sampling/createMessage") => Ok(Question::sample(key, params)),
        Some("roots/list") => Ok(Question::roots(key)),
        _ => Err(Error::new(Kind::Upstream, format!("the server asked something unknown under `{key}`"))),
    }
}
