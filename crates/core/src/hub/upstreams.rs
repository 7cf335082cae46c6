//! How the upstreams of a hub stand.

use std::sync::Arc;

use crate::catalog::clashes;
use crate::{Error, Hub, Kind, Result, Source, SourceId, SourceState, SourceStatus};

impl Hub {
    /// How the upstreams stand, as people may see it.
    pub fn upstreams(&self) -> Vec<SourceStatus> {
        let listings = self.listings();
        let mut clashes = clashes(&listings, |key| self.inner.filters.clean(key));
        let statuses = listings.iter().filter_map(|(source, _)| {
            let mut status = source.status()?;
            status.notes.extend(clashes.remove(source.id()));
            status.notes.extend(self.inner.gates.iter().flat_map(|gate| gate.notes(source.id())));
            Some(self.inner.filters.status(status))
        });
        statuses.collect()
    }

    /// The names of the upstreams, and how each stands.
    pub fn upstream_states(&self) -> Vec<(SourceId, SourceState)> {
        let sources = self.inner.sources.now();
        let state = |source: &Arc<dyn Source>| Some((source.id().clone(), source.state()?));
        sources.all.iter().filter_map(state).collect()
    }

    /// Has an upstream connect anew, and learn anew what its server has.
    pub fn restart(&self, name: &str) -> Result<()> {
        let sources = self.inner.sources.now();
        let source = sources.all.iter().find(|source| source.is_foreign() && source.id().as_str() == name);
        let Some(source) = source else {
            return Err(Error::new(Kind::NotFound, format!("there is no upstream `{name}`"))
                .hint("`toolgate mcp list` shows those there are"));
        };
        source.restart();
        Ok(())
    }
}
