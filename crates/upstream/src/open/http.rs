//! An address: it is asked the modern way, then the legacy way, then the oldest way.

use std::time::Duration;

use toolgate_wire::Era;

use super::{Found, Opener, discover, found, initialize, is_modern_error};
use crate::fault::Fault;
use crate::link::{Declared, Facts, Wire};
use crate::plan::AddressPlan;
use crate::transport::signed::Way;
use crate::transport::{Transport, http, old_sse};

/// How long to wait for the stream of a server that may ask on it; some answer only when they have something to say.
const LISTENING: Duration = Duration::from_secs(1);

pub(super) async fn open(opener: &Opener<'_>, address: &AddressPlan) -> Result<(Wire, Facts), Fault> {
    let client = opener.client.get(address, opener.variables, opener.owner).await?;
    // What cannot be used as a proxy was told by the client.
    let is_direct = address.proxies(opener.variables).is_ok_and(|proxies| proxies.is_empty());
    let way = Way { plan: address, client, bearer: opener.bearer.clone(), is_direct };
    let wire = http::connect(way.clone(), opener.declared, opener.reports, opener.owner.child());
    match opener.era() {
        Some(Era::Legacy) => legacy(opener, way, wire).await,
        Some(Era::Modern) => match found(discover(&wire, opener.plan.startup_timeout).await) {
            Found::Modern(facts) => Ok((wire, facts)),
            Found::Legacy => Err(Fault::Unusable("it does not speak the modern era".into())),
            Found::Lost(fault) => Err(fault),
        },
        None => probe(opener, way, wire).await,
    }
}

async fn probe(opener: &Opener<'_>, way: Way<'_>, wire: Wire) -> Result<(Wire, Facts), Fault> {
    let answer = discover(&wire, opener.plan.probe_timeout).await;
    if let Err(Fault::Refused(error)) = &answer
        && is_modern_error(error)
    {
        return Err(Fault::Refused(error.clone()));
    }
    match found(answer) {
        Found::Modern(facts) => Ok((wire, facts)),
        // A server that cannot be reached, or wants to know who we are, is not therefore a legacy one.
        Found::Lost(
            fault @ (Fault::NotSent(_) | Fault::NoToken(_) | Fault::Unauthorized(_) | Fault::Scope(_)),
        ) => Err(fault),
        Found::Legacy | Found::Lost(_) => legacy(opener, way, wire).await,
    }
}

async fn legacy(opener: &Opener<'_>, way: Way<'_>, wire: Wire) -> Result<(Wire, Facts), Fault> {
    let limit = opener.plan.startup_timeout;
    match initialize(&wire, opener.declared, limit).await {
        Ok(facts) => {
            if let Transport::Http(http) = &wire.transport {
                let open = http.listen();
                // Questions may come on that stream alone, and are lost where it is not open yet.
                if opener.declared != Declared::default() {
                    drop(tokio::time::timeout(LISTENING, open).await);
                }
            }
            Ok((wire, facts))
        }
        Err(fault) if matches!(&wire.transport, Transport::Http(http) if http.is_refused()) => {
            // A stream that says nothing must not take the time in which it is told what was wrong at first.
            match tokio::time::timeout(limit / 2, oldest(opener, way)).await {
                Ok(Ok(opened)) => Ok(opened),
                Ok(Err(locked @ (Fault::Unauthorized(_) | Fault::Scope(_)))) => Err(locked),
                Ok(Err(_)) | Err(_) => Err(fault),
            }
        }
        Err(fault) => Err(fault),
    }
}

async fn oldest(opener: &Opener<'_>, way: Way<'_>) -> Result<(Wire, Facts), Fault> {
    let wire = old_sse::connect(way, opener.declared, opener.reports, opener.owner.child()).await?;
    let facts = initialize(&wire, opener.declared, opener.plan.startup_timeout).await?;
    Ok((wire, facts))
}
