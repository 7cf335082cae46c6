//! Scripts, as the page shows them and decides on them.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use toolgate_admin::{LookedAtScript, ScriptInfo, ScriptsGlance};
use toolgate_core::{Error, Kind, Result, SharedStore};
use toolgate_script::{BadHash, Hash, Scripts, State};

use super::{AdminSources, shown};
use crate::settings::{PackName, Reloader};
use crate::{diff, packs};

/// For how long a glance is shared by all pages that are open.
const FRESH: Duration = Duration::from_millis(500);

/// The scripts as they are set now.
pub(super) struct ScriptDesk {
    store: SharedStore,
    reloader: Arc<Reloader>,
    glance: Mutex<Option<(Instant, ScriptsGlance)>>,
}

impl ScriptDesk {
    pub(super) fn new(from: &AdminSources) -> Self {
        let (store, reloader) = (from.parts.database.clone(), from.reloader.clone());
        Self { store, reloader, glance: Mutex::default() }
    }

    fn scripts(&self) -> Scripts {
        packs::scripts(&self.reloader.newest().settings, self.store.clone())
    }

    pub(super) async fn list(&self) -> Result<Vec<ScriptInfo>> {
        Ok(self.scripts().list().await?.into_iter().map(shown::script).collect())
    }

    pub(super) async fn show(&self, name: &str) -> Result<LookedAtScript> {
        let looked = self.scripts().look(name).await?;
        let (decided_by, decided_ms) = looked.decided.unzip();
        let source = looked.script.source;
        let diff = looked.approved.as_deref().map(|approved| diff::of_script(approved, &source));
        Ok(LookedAtScript {
            info: shown::script(looked.info),
            source,
            whole: true,
            approved: looked.approved,
            diff,
            decided_by,
            decided_ms,
        })
    }

    pub(super) async fn approve(&self, name: &str, hash: &str, by: &str) -> Result<ScriptInfo> {
        let scripts = self.scripts();
        let approved = scripts.approve(name, &read(hash)?, by).await?;
        self.now(&scripts, &approved.name).await
    }

    pub(super) async fn reject(
        &self,
        name: &str,
        hash: &str,
        reason: Option<&str>,
        by: &str,
    ) -> Result<ScriptInfo> {
        let scripts = self.scripts();
        let rejected = scripts.reject(name, &read(hash)?, by, reason).await?;
        self.now(&scripts, &rejected.name).await
    }

    pub(super) async fn put(&self, name: &str, source: String, seen: Option<&str>) -> Result<ScriptInfo> {
        let seen = seen.map(read).transpose()?;
        Ok(shown::script(self.scripts().put(name, source, seen.as_ref()).await?))
    }

    /// All of them at a glance: pages that listen ask every second, each.
    pub(super) async fn glance(&self) -> Result<Option<ScriptsGlance>> {
        if !self.reloader.newest().settings.packs.contains(&PackName::Script) {
            return Ok(None);
        }
        let known = *self.glance.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, glance)) = known
            && at.elapsed() < FRESH
        {
            return Ok(Some(glance));
        }
        let begun = Instant::now();
        let (mut waiting, mut mark) = (0, DefaultHasher::new());
        for script in self.scripts().list().await? {
            waiting += usize::from(matches!(script.state, State::Pending | State::Modified));
            (script.name, script.hash.to_string(), script.state.as_str(), script.remark).hash(&mut mark);
        }
        let glance = ScriptsGlance { waiting, mark: mark.finish() };
        *self.glance.lock().unwrap_or_else(PoisonError::into_inner) = Some((begun, glance));
        Ok(Some(glance))
    }

    async fn now(&self, scripts: &Scripts, name: &str) -> Result<ScriptInfo> {
        Ok(shown::script(scripts.look(name).await?.info))
    }
}

fn read(hash: &str) -> Result<Hash> {
    hash.parse().map_err(|bad: BadHash| Error::new(Kind::InvalidInput, format!("`hash` {bad}")))
}
