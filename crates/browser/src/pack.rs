//! The pack: what all tools share.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use toolgate_core::{AnyTool, Error, Kind, Offers, Pack, Result, RunHandle, Shelf};
use toolgate_host::Tasks;
use toolgate_host::outbound::{Lookup, MachineLookup};
use toolgate_wire::Raw;

use crate::BrowserConfig;
use crate::pool::{Page, Pool};
use crate::store::Store;
use crate::tab::Halt;

/// Tools that look at and use pages in a real Chromium.
pub struct Browser {
    pub(crate) pool: Arc<Pool>,
    pub(crate) config: Arc<BrowserConfig>,
    pub(crate) store: Arc<Store>,
    pub(crate) uploads: PathBuf,
    pub(crate) started: Instant,
}

/// What the pack is told of the machine.
#[derive(Clone)]
pub struct Surroundings {
    /// The variables of our environment.
    pub variables: Vec<(String, String)>,
    /// Where screenshots, PDFs and downloads are kept.
    pub data: PathBuf,
    /// The folder that files are uploaded from, unless another one is configured.
    pub uploads: PathBuf,
    /// Where names are looked up.
    pub lookup: Arc<dyn Lookup>,
}

impl Surroundings {
    /// Where nothing is special about names.
    pub fn new(variables: Vec<(String, String)>, data: PathBuf, uploads: PathBuf) -> Self {
        Self { variables, data, uploads, lookup: Arc::new(MachineLookup) }
    }
}

impl Browser {
    /// Tools on browsers of a Chromium that is started when the first one is launched.
    pub fn new(config: BrowserConfig, around: Surroundings, tasks: &Tasks) -> Self {
        let config = Arc::new(config);
        let uploads = config.uploads.clone().unwrap_or_else(|| around.uploads.clone());
        let store = Arc::new(Store::new(around.data.join("browser"), &config));
        Self {
            pool: Pool::new(config.clone(), store.clone(), around, tasks),
            config,
            store,
            uploads,
            started: Instant::now(),
        }
    }

    /// The page that a call is about, as it was left. Whoever counts on one that is lost is told so instead.
    pub(crate) async fn page(&self, run: &RunHandle, id: Option<&str>) -> Result<Page> {
        self.any_page(run, id).await?.not_lost()
    }

    /// The same, be it a new one. One that asks something answers nothing before it has its answer.
    pub(crate) async fn any_page(&self, run: &RunHandle, id: Option<&str>) -> Result<Page> {
        let page = self.pool.page(run.principal(), id).await?;
        let dialog = page.tab.state().dialog.clone();
        match dialog {
            Some(dialog) => Err(Halt::Dialog(dialog).into()),
            None => Ok(page),
        }
    }

    /// How long a call may take: as it says, else as its kind of tool does.
    pub(crate) fn limit(asked: Option<u64>, usual: u64) -> Result<Duration> {
        match asked.unwrap_or(usual) {
            0 => {
                Err(Error::new(Kind::InvalidInput, "`timeout` is 0")
                    .hint("give milliseconds, from 1 to 300000"))
            }
            ms if ms > 300_000 => {
                Err(Error::new(Kind::InvalidInput, format!("`timeout` is {ms}, which is too long"))
                    .hint("give milliseconds, from 1 to 300000"))
            }
            ms => Ok(Duration::from_millis(ms)),
        }
    }
}

impl Pack for Browser {
    const NAME: &'static str = "browser";

    fn tools() -> Vec<AnyTool<Self>> {
        crate::tools::all()
    }

    fn offers() -> Offers {
        Offers { tools: true, resources: true, ..Offers::default() }
    }

    fn attach(&self, shelf: Shelf) {
        shelf.update(|listing| {
            crate::store::list(listing);
            let is_off = |name: &str| {
                (!self.config.css && crate::tools::STYLES.contains(&name))
                    || (!self.config.evaluate && name == "evaluate_expression")
            };
            listing.tools.retain(|tool| !is_off(tool.name.as_str()));
        });
    }

    async fn read(&self, run: &RunHandle, uri: &str) -> Result<Raw> {
        self.store.read(&run.principal().id, uri).await
    }
}
