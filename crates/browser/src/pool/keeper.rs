//! Closes what nobody uses any more.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use toolgate_host::Tasks;

use super::{Pool, lock};

/// How long a Chromium without browsers is kept for the next one.
const LINGER: Duration = Duration::from_secs(60);

/// How long a dialog may keep a page from answering.
const DIALOG: Duration = Duration::from_secs(300);

/// How often what is kept too long is looked for.
const SWEEP: Duration = Duration::from_secs(60 * 60);

/// Looks after the browsers for as long as they are there.
pub(super) fn start(pool: &Arc<Pool>, tasks: &Tasks, stop: CancellationToken) {
    let often = Duration::from_secs(pool.config.idle_seconds).div_f64(4.0);
    let often = often.clamp(Duration::from_millis(100), Duration::from_secs(15));
    let pool = Arc::downgrade(pool);
    tasks.spawn(stop.run_until_cancelled_owned(keep(pool, often)));
}

async fn keep(pool: Weak<Pool>, often: Duration) {
    let mut empty_since: Option<Instant> = None;
    let mut swept: Option<Instant> = None;
    loop {
        tokio::time::sleep(often).await;
        let Some(pool) = pool.upgrade() else { return };
        if swept.is_none_or(|swept| swept.elapsed() >= SWEEP) {
            swept = Some(Instant::now());
            if let Err(error) = pool.store.sweep().await {
                tracing::warn!(%error, "what is kept too long cannot be removed");
            }
        }
        let idle = Duration::from_secs(pool.config.idle_seconds);
        let unused: Vec<_> =
            lock(&pool.instances).iter().filter(|instance| instance.idle() >= idle).cloned().collect();
        for instance in unused {
            tracing::info!(browser = instance.id, "a browser that nobody uses is closed");
            pool.close(&instance).await;
        }
        answer_dialogs(&pool, DIALOG.min(idle.div_f64(4.0))).await;
        // Who waits for a place holds what it waits at.
        let most = pool.config.max_per_principal as usize;
        lock(&pool.each).retain(|_, own| Arc::strong_count(own) > 1 || own.available_permits() < most);
        if pool.count() > 0 {
            empty_since = None;
            continue;
        }
        if empty_since.get_or_insert_with(Instant::now).elapsed() >= LINGER.min(idle) {
            let mut engine = pool.engine.lock().await;
            if pool.is_unused()
                && let Some(engine) = engine.take()
            {
                engine.end();
            }
        }
    }
}

/// Dismisses dialogs that nobody answers for so long.
async fn answer_dialogs(pool: &Pool, limit: Duration) {
    let instances: Vec<_> = lock(&pool.instances).clone();
    for instance in instances.iter().filter(|instance| instance.idle() >= limit) {
        let context = instance.context.lock().await.clone();
        for tab in context.tabs() {
            let is_open = tab.state().dialog.is_some();
            if is_open && tab.answer_dialog(false, None).await.is_err() {
                tracing::debug!("a dialog cannot be dismissed");
            }
        }
    }
}
