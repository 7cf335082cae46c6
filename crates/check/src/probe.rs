//! What is tried on a live server, step by step.

pub(crate) mod calls;
pub(crate) mod http;
pub(crate) mod lists;
pub(crate) mod manners;
pub(crate) mod opening;
pub(crate) mod strain;

use toolgate_wire::Era;

use crate::connection::{Ended, Lost};
use crate::notes::Notes;
use crate::rule::Rule;
use crate::rules::{self, Lists};
use crate::session::{Opener, Session};

/// A step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Lists,
    Manners,
    Calls,
    Http,
    Version,
    Strain,
}

/// All steps, in order. Those that may harm the server come last.
pub(crate) const STEPS: [Step; 6] = [
    Step { name: "reading what it offers", kind: Kind::Lists },
    Step { name: "talking to it", kind: Kind::Manners },
    Step { name: "calling read-only tools", kind: Kind::Calls },
    Step { name: "looking at headers and statuses", kind: Kind::Http },
    Step { name: "asking for a version that does not exist", kind: Kind::Version },
    Step { name: "sending what it cannot understand", kind: Kind::Strain },
];

impl Step {
    pub(crate) async fn run(self, stage: &mut Stage<'_>, lists: &mut Lists) {
        match self.kind {
            Kind::Lists => lists::run(stage, lists).await,
            Kind::Manners => manners::run(stage).await,
            Kind::Calls => calls::run(stage, lists).await,
            Kind::Http => http::run(stage).await,
            Kind::Version => opening::unknown_version(stage).await,
            Kind::Strain => strain::run(stage).await,
        }
    }
}

/// Where probes are made: a conversation that is opened anew where one of them broke it.
pub(crate) struct Stage<'a> {
    pub(crate) opener: &'a Opener<'a>,
    pub(crate) notes: &'a mut Notes,
    pub(crate) era: Era,
    pub(crate) place: String,
    session: Option<Session>,
    /// How many conversations were opened because one broke.
    again: usize,
}

/// A server that breaks each time is not started for ever.
const MOST_AGAIN: usize = 12;

impl<'a> Stage<'a> {
    pub(crate) fn new(opener: &'a Opener<'a>, session: Session, notes: &'a mut Notes) -> Self {
        let (era, place) = (session.era, session.place());
        Self { opener, notes, era, place, session: Some(session), again: 0 }
    }

    /// The conversation; none where the server cannot be had any more.
    pub(crate) async fn session(&mut self) -> Option<&mut Session> {
        if self.session.as_ref().is_some_and(|session| session.connection.is_gone()) {
            self.drop_session().await;
        }
        if self.session.is_none() && self.again < MOST_AGAIN {
            self.again += 1;
            self.session = self.opener.open(self.era).await.ok();
        }
        self.session.as_mut()
    }

    /// A rule is tried and does not hold.
    pub(crate) fn found(&mut self, rule: &'static Rule, what: impl Into<String>) {
        self.notes.found(rule, self.place.clone(), what);
    }

    /// A rule does not hold, because the answer never came. The conversation cannot be used any more.
    pub(crate) async fn lost(&mut self, rule: &'static Rule, lost: &Lost) {
        self.found(rule, lost.to_string());
        self.drop_session().await;
    }

    /// Leaves a conversation that is broken or stuck.
    pub(crate) async fn drop_session(&mut self) {
        if let Some(session) = self.session.take() {
            self.end(session).await;
        }
    }

    /// A conversation of its own, for a probe that may harm.
    pub(crate) async fn own(&mut self, rule: &'static Rule) -> Option<Session> {
        match self.opener.open(self.era).await {
            Ok(session) => Some(session),
            Err(not_opened) => {
                self.notes.skip(rule, format!("no conversation came about: {not_opened}"));
                None
            }
        }
    }

    /// Ends a conversation, and judges what was said in it.
    pub(crate) async fn end(&mut self, session: Session) -> Ended {
        let (transcript, ended) = session.connection.close().await;
        rules::judge(&transcript, self.opener.subject, self.notes);
        ended
    }

    /// Ends the conversation in which nothing was broken.
    pub(crate) async fn close(mut self) {
        let Some(session) = self.session.take() else { return };
        let (is_stdio, gone) = (session.connection.is_stdio(), session.connection.is_gone());
        let ended = self.end(session).await;
        if is_stdio && !gone {
            self.notes.tried(&strain::ENDS);
            if ended == Ended::ByForce {
                let limit = self.opener.limits.end.as_secs_f32();
                self.found(&strain::ENDS, format!("{limit} s after the end of its input it still runs"));
            }
        }
    }
}
