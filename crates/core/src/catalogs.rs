//! The catalogs of all principals that look, as many as are kept.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::broadcast;
use tokio_util::sync::{CancellationToken, DropGuard};
use toolgate_host::Tasks;

use crate::Scope;
use crate::catalog::{Catalog, Change};
use crate::quick::QuickMap;
use crate::sources::Sources;

/// How many catalogs are kept; beyond that, those that nobody holds go, least used first.
const MOST: usize = 1024;

/// The catalogs of all principals that look.
#[derive(Default)]
pub(crate) struct Catalogs(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    all: QuickMap<Scope, One>,
    /// Counts the looks, to know which was the last.
    looks: u64,
}

struct One {
    catalog: Arc<Catalog>,
    last: u64,
    /// Ends the task that keeps it fresh.
    _fresh: DropGuard,
}

impl Catalogs {
    /// The catalog of a scope, made when it is first looked at.
    pub(crate) fn get(
        &self,
        scope: Scope,
        (sources, changes, owner): (&Arc<Sources>, &broadcast::Sender<Change>, &Tasks),
    ) -> Arc<Catalog> {
        let mut kept = self.lock();
        kept.looks += 1;
        let last = kept.looks;
        if let Some(one) = kept.all.get_mut(&scope) {
            one.last = last;
            return one.catalog.clone();
        }
        kept.make_room();
        let replaced = sources.replaced();
        let catalog = Catalog::new(scope.clone(), sources.clone(), changes.clone());
        let stop = CancellationToken::new();
        let (stopped, stopping) = (stop.clone(), owner.stopping());
        let fresh = Catalog::keep_fresh(Arc::downgrade(&catalog), replaced);
        owner.spawn(async move {
            stopping.run_until_cancelled(stopped.run_until_cancelled(fresh)).await;
        });
        kept.all.insert(scope, One { catalog: catalog.clone(), last, _fresh: stop.drop_guard() });
        catalog
    }

    /// Does something with each.
    pub(crate) fn each(&self, act: impl Fn(&Catalog)) {
        let all: Vec<_> = self.lock().all.values().map(|one| one.catalog.clone()).collect();
        all.iter().for_each(|catalog| act(catalog));
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.lock().all.len()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn make_room(&mut self) {
        if self.all.len() < MOST {
            return;
        }
        // Half at once, so that the next ones do not have to search again.
        let mut looks: Vec<u64> = self.all.values().map(|one| one.last).collect();
        let (_, middle, _) = looks.select_nth_unstable(MOST / 2);
        let middle = *middle;
        self.all.retain(|_, one| one.last > middle || Arc::strong_count(&one.catalog) > 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Principal;

    #[tokio::test]
    async fn however_many_look_only_so_many_catalogs_are_kept_and_those_in_use_always() {
        let (sources, owner) = (Sources::new(Vec::new()), Tasks::new());
        let (changes, _) = broadcast::channel(1);
        let catalogs = Catalogs::default();
        let get = |name: String| {
            let scope = Scope { principal: Principal::named(name).id.clone() };
            catalogs.get(scope, (&sources, &changes, &owner))
        };
        let held = get("held".into());
        for number in 0..10_000 {
            drop(get(number.to_string()));
            assert!(catalogs.len() <= MOST);
        }
        assert!(Arc::ptr_eq(&held, &get("held".into())));
    }
}
