//! The life of one call: what it becomes, where it goes, and whether it may go twice.

mod watch;

use std::sync::Arc;
use std::time::Duration;

use toolgate_core::{
    CompletionRef, Error, Kind, Outcome, Permitted, Result, RunHandle, Target, error_object,
};
use toolgate_wire::{Edit, Era, Raw, method};

use crate::bridge;
use crate::definitions::Offered;
use crate::fault::Fault;
use crate::line::Line;
use crate::link::{Ask, Declared, Link};
use crate::shaping::{TaskSupport, ToolFacts};
use crate::supervisor::{Mark, Shared};

/// How many times a call is tried at most.
const ATTEMPTS: usize = 3;

/// How long a call that may be repeated waits for the server to come back.
const PATIENCE: Duration = Duration::from_secs(3);

/// A call as the server gets it, but for what depends on the connection.
struct Asked {
    method: String,
    params: Raw,
    tool: Option<Arc<ToolFacts>>,
    /// Whether twice is the same as once.
    harmless: bool,
}

impl Asked {
    /// Whether the server should make it a task: where it insists, or its caller has one or takes one.
    fn is_task(&self, run: &RunHandle) -> bool {
        self.tool.as_ref().is_some_and(|tool| match tool.task {
            TaskSupport::Forbidden => false,
            TaskSupport::Optional => run.may_be_task(),
            TaskSupport::Required => true,
        })
    }
}

impl Shared {
    /// Answers a call.
    pub(crate) async fn call(self: &Arc<Self>, permitted: Permitted, run: RunHandle) -> Result<Outcome> {
        // One that is switched off has nobody to tell, but is not to be told of it when it is switched on again.
        if let Target::Unsubscribe(uri) = permitted.target() {
            return Box::pin(self.unwatch(uri, &run)).await;
        }
        self.switched_on()?;
        if let Target::Subscribe(uri) = permitted.target() {
            return Box::pin(self.watch(uri, &run)).await;
        }
        let asked = asked(&permitted, &self.offered.load())?;
        self.check(&asked, &permitted);
        let mut attempt = 1;
        loop {
            let mark = self.breaker.admit(&self.plan.name, self.plan.startup_timeout + self.plan.timeout)?;
            // That there are too many lines already, or it was switched off meanwhile, says nothing of the server.
            let line = self.pool.line(&run, self)?;
            let serving = line.serving();
            let answered = match ready(&line, attempt).await {
                Ok(link) => {
                    line.introduces(&run, &link);
                    self.attempt(&asked, &permitted, &run, &link).await
                }
                Err(fault) => Err(fault),
            };
            drop(serving);
            match answered {
                Ok(outcome) => {
                    self.breaker.well();
                    return Ok(outcome);
                }
                Err(fault) => {
                    self.judge(&fault, &mark, &line);
                    if attempt < ATTEMPTS && fault.may_repeat(asked.harmless) {
                        attempt += 1;
                        continue;
                    }
                    return Err(self.explain(fault, &permitted, &run));
                }
            }
        }
    }

    /// Notes what a failed attempt says of the server, if it says anything.
    fn judge(&self, fault: &Fault, mark: &Mark<'_>, line: &Line) {
        let waits_alone = matches!(fault, Fault::Late(silence) if silence.serves_others);
        let is_kept_out = matches!(fault, Fault::NoToken(_)) && !line.is_shared(self);
        if waits_alone || is_kept_out {
            return;
        }
        if fault.is_illness() {
            self.breaker.ill(mark, fault.words());
        } else {
            self.breaker.well();
        }
    }

    /// What is rare on this way is boxed: every call has the room that the longest way through it takes.
    async fn attempt(
        self: &Arc<Self>,
        asked: &Asked,
        permitted: &Permitted,
        run: &RunHandle,
        link: &Arc<Link>,
    ) -> Result<Outcome, Fault> {
        link.speak_for(permitted, self.plan.timeout).await;
        let answer = self.answer(asked, permitted, run, link).await;
        let Some(error) = answer.as_ref().err().and_then(bridge::to_visit) else { return answer };
        match Box::pin(link.visit(error, run, self.plan.timeout)).await {
            Ok(true) => Box::pin(self.answer(asked, permitted, run, link)).await,
            Ok(false) => answer,
            Err(error) => Err(Fault::Refused(error_object(&error))),
        }
    }

    async fn answer(
        self: &Arc<Self>,
        asked: &Asked,
        permitted: &Permitted,
        run: &RunHandle,
        link: &Arc<Link>,
    ) -> Result<Outcome, Fault> {
        let declared = Declared::of(&run.client());
        let ask = Ask {
            method: &asked.method,
            params: asked.params.clone(),
            headers: asked.tool.as_ref().map_or(&[][..], |tool| &tool.item.headers),
            timeout: self.plan.timeout,
            run: Some(run),
        };
        let finish = |params: Raw, id| bridge::params(&params, permitted, link.era(), declared, id);
        let answer = if link.runs_tasks() && asked.is_task(run) {
            Box::pin(link.call_as_task(ask, run, finish)).await
        } else {
            match link.wire.request_with(ask, finish).await {
                Ok(result) if link.era() == Era::Modern && bridge::is_task(&result) => {
                    Box::pin(link.follow(result, run, self.plan.timeout)).await
                }
                answer => answer,
            }
        };
        let result = answer.inspect_err(|fault| link.doubts(fault))?;
        bridge::outcome(result, link.era(), run.client().era())
    }

    /// Notes arguments that do not fit, where that is wanted.
    fn check(&self, asked: &Asked, permitted: &Permitted) {
        let Some(check) = asked.tool.as_ref().and_then(|tool| tool.warn.as_ref()) else { return };
        if check.check(permitted.arguments()).is_err() {
            self.reports
                .journal
                .note("was sent arguments that do not fit its schema", permitted.target().name());
        }
    }

    fn explain(&self, fault: Fault, permitted: &Permitted, run: &RunHandle) -> Error {
        match fault {
            fault @ (Fault::Unauthorized(_) | Fault::Scope(_)) => {
                let authorizer = self.plan.authorizer.as_ref();
                let advice = authorizer.map(|authorizer| authorizer.advice(&run.principal().id, &fault));
                let error = fault.into_error(&self.plan.name);
                match advice {
                    Some(advice) => error.hint(advice),
                    None => error,
                }
            }
            Fault::Refused(error) => bridge::refused(error, permitted.target(), run.client().era()),
            fault @ (Fault::NotSent(_)
            | Fault::NoToken(_)
            | Fault::SessionGone
            | Fault::Gone(_)
            | Fault::Status(_)
            | Fault::Late(_)
            | Fault::Unusable(_)) => fault.into_error(&self.plan.name),
        }
    }
}

/// The connection of a line, for this attempt of a call.
async fn ready(line: &Line, attempt: usize) -> Result<Arc<Link>, Fault> {
    line.serves();
    let link = line.ready(if attempt > 1 { PATIENCE } else { Duration::ZERO }).await?;
    line.serves();
    Ok(link)
}

/// What a call becomes under the server's own names.
fn asked(permitted: &Permitted, offered: &Offered) -> Result<Asked> {
    let params = permitted.params();
    let plain =
        |method: &str, params: Raw| Asked { method: method.into(), params, tool: None, harmless: true };
    match permitted.target() {
        Target::Tool(name) => {
            let facts = offered.tool(name.as_str());
            let facts = facts.ok_or_else(|| unknown("tool", name.as_str()))?;
            Ok(Asked {
                method: method::TOOLS_CALL.into(),
                params: tool_params(params, facts, permitted.arguments()),
                harmless: facts.is_harmless(),
                tool: Some(facts.clone()),
            })
        }
        Target::Prompt(name) => {
            let own = &offered.prompt(name).ok_or_else(|| unknown("prompt", name))?.own;
            Ok(plain(method::PROMPTS_GET, Edit::new(params).set("name", Raw::string(own)).finish()))
        }
        Target::Completion(CompletionRef::Prompt(name)) => {
            let own = &offered.prompt(name).ok_or_else(|| unknown("prompt", name))?.own;
            let params = Edit::new(params).set_in("ref", "name", Raw::string(own)).finish();
            Ok(plain(method::COMPLETION_COMPLETE, params))
        }
        Target::Completion(CompletionRef::Resource(_)) => {
            Ok(plain(method::COMPLETION_COMPLETE, params.clone()))
        }
        Target::Resource(_) => Ok(plain(method::RESOURCES_READ, params.clone())),
        Target::Method(method) => Ok(Asked { harmless: false, ..plain(method, own_names(params, offered)) }),
        Target::Subscribe(_) | Target::Unsubscribe(_) | Target::Task(..) => {
            Err(Error::new(Kind::UnknownMethod, "unknown method"))
        }
    }
}

/// Params of a method that nobody here knows, with a tool or prompt in them under the server's own name.
fn own_names(params: &Raw, offered: &Offered) -> Raw {
    let name = params.get("name");
    let Some(name) = name.as_ref().and_then(|name| name.as_string()) else { return params.clone() };
    let own = match (offered.tool(&name), offered.prompt(&name)) {
        (Some(tool), _) => &tool.own,
        (None, Some(prompt)) => &prompt.own,
        (None, None) => return params.clone(),
    };
    Edit::new(params).set("name", Raw::string(own)).finish()
}

/// Only the name is changed, and what is configured.
fn tool_params(params: &Raw, facts: &ToolFacts, arguments: &Raw) -> Raw {
    let (renamed, shaped) =
        (facts.item.name.as_str() != facts.own, !facts.fixed.is_empty() || !facts.hidden.is_empty());
    if !renamed && !shaped {
        return params.clone();
    }
    let mut edit = Edit::new(params);
    if renamed {
        edit = edit.set("name", Raw::string(&facts.own));
    }
    if shaped {
        edit = edit.set("arguments", facts.arguments(arguments.clone()));
    }
    edit.finish()
}

fn unknown(what: &str, name: &str) -> Error {
    Error::new(Kind::UnknownTarget, format!("unknown {what} `{name}`"))
        .hint("the server has just changed; list again")
}
