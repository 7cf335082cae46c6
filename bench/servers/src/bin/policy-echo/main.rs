//! A hub behind the real front, either bare or with everything that the policy adds: the two sides of one comparison.
//!
//! It answers the benchmark's echo call with a reply of a given size, which was prepared before.

mod full;
mod reply;
mod samples;
mod scan;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolgate_core::{Authenticated, Authenticator, Hub, PackSource, ProtectedResource, Refused, ServerInfo};
use toolgate_front::http::{HttpConfig, Server};
use toolgate_host::Tasks;
use toolgate_wire::Raw;

const USAGE: &str = "usage: policy-echo bare BYTES | full BYTES DATA_DIR | scan BYTES";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["bare", bytes] => serve(bytes.parse()?, None),
        ["full", bytes, data_dir] => serve(bytes.parse()?, Some(data_dir.into())),
        ["scan", bytes] => scan::run(bytes.parse()?),
        _ => bail!(USAGE),
    }
}

/// Serves until it is killed; with a data folder it keeps a record there, and has a policy.
#[expect(clippy::print_stderr, reason = "the benchmark reads the address there")]
fn serve(bytes: usize, data_dir: Option<PathBuf>) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let tasks = Tasks::new();
        let raw = Raw::literal(r#"{"name":"policy-echo","version":"0.1.0"}"#);
        let info = ServerInfo { raw, instructions: None };
        let pack = PackSource::new(reply::Replies(samples::result(bytes)?));
        let mut builder = Hub::builder(info, tasks.clone()).source(Arc::new(pack));
        if let Some(data_dir) = data_dir {
            builder = full::add(builder, data_dir, &tasks)?;
        }
        let config = HttpConfig { port: 0, ..HttpConfig::default() };
        let server = Server::bind(builder.build()?, config, Arc::new(Nobody(watch::Sender::new(0))))
            .await
            .context("no port to listen on")?;
        eprintln!("listening on http://{}/mcp", server.address());
        server.serve(CancellationToken::new()).await;
        Ok(())
    })
}

/// Knows nobody, so that everyone on this machine is let in as the local user.
struct Nobody(watch::Sender<u64>);

impl Authenticator for Nobody {
    fn authenticate(&self, _: &str, _: Option<&str>) -> Authenticated {
        Authenticated::Now(Err(Refused::Unknown))
    }

    fn knows_anyone(&self) -> bool {
        false
    }

    fn demands(&self) -> bool {
        false
    }

    fn resource(&self) -> Option<Arc<ProtectedResource>> {
        None
    }

    fn ended(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}
