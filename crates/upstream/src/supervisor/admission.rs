//! Connections of those who sign in and out.

use tokio::sync::broadcast;

use super::Shared;
use crate::oauth::Signed;

/// Waits until someone signs in or out; none if it is not known who.
pub(super) async fn sign(signed: &mut Option<broadcast::Receiver<Signed>>) -> Option<Signed> {
    let Some(signed) = signed else { return std::future::pending().await };
    match signed.recv().await {
        Ok(event) => Some(event),
        Err(broadcast::error::RecvError::Lagged(_)) => None,
        Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
    }
}

/// Connects for whoever signed in, and ends what goes on for whoever signed out.
pub(super) fn admit(shared: &Shared, event: Option<&Signed>) {
    let Some(authorizer) = &shared.plan.authorizer else { return };
    for line in shared.pool.all() {
        let holder = line.key.holder(authorizer);
        match event {
            Some(Signed::Out(out)) if *out == holder => line.restart(),
            Some(Signed::In(entered)) if *entered == holder => line.let_in(),
            Some(Signed::In(_) | Signed::Out(_)) => {}
            None => line.let_in(),
        }
    }
    if !matches!(event, Some(Signed::Out(_))) {
        shared.breaker.well();
    }
}
