//! A hub behind the real front, either bare or with everything that the policy adds: the two sides of one comparison.
//!
//! It answers the benchmark's echo call with a reply of a given size, which was prepared before.

mod cpu;
mod full;
mod reply;
mod samples;
mod scan;
mod split;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolgate_core::{Authenticated, Authenticator, Hub, PackSource, ProtectedResource, Refused, ServerInfo};
use toolgate_front::http::{HttpConfig, Server};
use toolgate_host::Tasks;
use toolgate_wire::Raw;

use full::Part;

const USAGE: &str = "usage: policy-echo bare BYTES | full BYTES DATA_DIR | scan BYTES | split BYTES";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["bare", bytes] => serve(bytes.parse()?, None),
        ["full", bytes, data_dir] => serve(bytes.parse()?, Some(data_dir.into())),
        ["scan", bytes] => scan::run(bytes.parse()?),
        ["split", bytes] => split::run(bytes.parse()?),
        _ => bail!(USAGE),
    }
}

/// Serves until it is asked to end; with a data folder it keeps a record there, and has a policy.
#[expect(clippy::print_stderr, reason = "the benchmark reads the address there")]
fn serve(bytes: usize, data_dir: Option<PathBuf>) -> Result<()> {
    let threads = toolgate_host::threads().get();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    runtime.block_on(async {
        let tasks = Tasks::new();
        let parts = if data_dir.is_some() { &Part::ALL[..] } else { &[] };
        let hub = hub(bytes, parts, &data_dir.unwrap_or_default(), &tasks)?;
        let config = HttpConfig { port: 0, ..HttpConfig::default() };
        let server = Server::bind(hub, config, Arc::new(Nobody(watch::Sender::new(0))))
            .await
            .context("no port to listen on")?;
        eprintln!("listening on http://{}/mcp", server.address());
        let mut end = signal(SignalKind::terminate())?;
        tokio::select! {
            () = server.serve(CancellationToken::new()) => {}
            _ = end.recv() => {}
        }
        Ok(())
    })
}

/// A hub with one tool that answers with so many bytes, and with these parts of the policy.
fn hub(bytes: usize, parts: &[Part], data_dir: &Path, tasks: &Tasks) -> Result<Hub> {
    let raw = Raw::literal(r#"{"name":"policy-echo","version":"0.1.0"}"#);
    let info = ServerInfo { raw, instructions: None };
    let pack = PackSource::new(reply::Replies(samples::result(bytes)?));
    let bare = Hub::builder(info, tasks.clone()).source(Arc::new(pack));
    Ok(parts.iter().try_fold(bare, |builder, part| part.add(builder, data_dir, tasks))?.build()?)
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
