//! A program: it is asked the modern way, then the legacy way, and started anew where the first question ended it.

use std::pin::pin;

use futures_util::FutureExt as _;
use toolgate_wire::Era;

use super::{Found, Opener, discover, found, initialize};
use crate::fault::Fault;
use crate::link::{Facts, Wire};
use crate::plan::ProgramPlan;
use crate::transport::stdio;

pub(super) async fn open(opener: &Opener<'_>, program: &ProgramPlan) -> Result<(Wire, Facts), Fault> {
    let wire = start(opener, program).await?;
    match opener.era() {
        Some(Era::Legacy) => legacy(opener, wire).await,
        Some(Era::Modern) => match found(discover(&wire, opener.plan.startup_timeout).await) {
            Found::Modern(facts) => Ok((wire, facts)),
            Found::Legacy => Err(Fault::Unusable("it does not speak the modern era".into())),
            Found::Lost(fault) => Err(fault),
        },
        None => probe(opener, program, wire).await,
    }
}

async fn start(opener: &Opener<'_>, program: &ProgramPlan) -> Result<Wire, Fault> {
    stdio::connect(program, opener.variables, opener.declared, opener.reports, opener.owner.child()).await
}

async fn legacy(opener: &Opener<'_>, wire: Wire) -> Result<(Wire, Facts), Fault> {
    let facts = initialize(&wire, opener.declared, opener.plan.startup_timeout).await?;
    Ok((wire, facts))
}

/// How far the questions got.
enum Step {
    Found(Found),
    Shaken(Result<Facts, Fault>),
}

/// Asks which era it is. A server that is silent may be legacy, or slow: then it is asked both ways, and the first
/// answer counts.
async fn probe(opener: &Opener<'_>, program: &ProgramPlan, wire: Wire) -> Result<(Wire, Facts), Fault> {
    let limit = opener.plan.startup_timeout;
    let step = {
        let mut asking = pin!(discover(&wire, limit));
        match tokio::time::timeout(opener.plan.probe_timeout, &mut asking).await {
            Ok(answer) => Step::Found(found(answer)),
            Err(_) => {
                let mut shaking = pin!(initialize(&wire, opener.declared, limit));
                tokio::select! {
                    // A slow one has both questions before it answers: what it said to the first counts.
                    facts = &mut shaking => match asking.now_or_never().map(found) {
                        Some(modern @ Found::Modern(_)) => Step::Found(modern),
                        Some(Found::Legacy | Found::Lost(_)) | None => Step::Shaken(facts),
                    },
                    answer = &mut asking => match found(answer) {
                        Found::Legacy => Step::Shaken(shaking.await),
                        other @ (Found::Modern(_) | Found::Lost(_)) => Step::Found(other),
                    },
                }
            }
        }
    };
    let facts = match step {
        Step::Found(Found::Modern(facts)) => Ok(facts),
        Step::Found(Found::Legacy) => initialize(&wire, opener.declared, limit).await,
        Step::Found(Found::Lost(fault)) => Err(fault),
        Step::Shaken(facts) => facts,
    };
    match facts {
        Ok(facts) => Ok((wire, facts)),
        Err(_) => {
            wire.close().await;
            again(opener, program).await
        }
    }
}

/// It may have failed only because of a question that it did not know: it is started anew, and not asked. One that has
/// known that question before may as well have failed by chance, and is asked once more.
async fn again(opener: &Opener<'_>, program: &ProgramPlan) -> Result<(Wire, Facts), Fault> {
    let wire = start(opener, program).await?;
    if opener.spoke != Some(Era::Modern) {
        return legacy(opener, wire).await;
    }
    match found(discover(&wire, opener.plan.probe_timeout).await) {
        Found::Modern(facts) => Ok((wire, facts)),
        Found::Legacy => legacy(opener, wire).await,
        Found::Lost(_) => {
            wire.close().await;
            legacy(opener, start(opener, program).await?).await
        }
    }
}
