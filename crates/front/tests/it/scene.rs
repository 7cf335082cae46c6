//! A hub with an echo behind it, and ways to talk to it.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolgate_core::{Authenticated, Authenticator, Hub, ProtectedResource, Refused};
use toolgate_front::stdio::{StdioLimits, serve};
use toolgate_testkit::{FakeSource, hub};

/// How long a test waits for what should come at once. It only turns a hang into a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// The longest line that is taken here.
pub(crate) const LONGEST: usize = 4096;

pub(crate) fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A hub whose tool `echo` answers with its arguments as text.
pub(crate) fn echoing() -> Hub {
    hub([Arc::new(FakeSource::new("fake").echo("echo"))])
}

/// What comes out of a connection for what goes in, `piece` bytes at a time.
pub(crate) async fn served(input: &[u8], piece: usize) -> Vec<u8> {
    let (mut typed, read) = duplex(piece);
    let (written, mut shown) = duplex(1 << 16);
    let limits = StdioLimits { line: LONGEST, requests: 1024, grace: PATIENCE / 2 };
    let serving = serve(echoing(), None, read, written, limits, CancellationToken::new());
    let typing = async {
        typed.write_all(input).await.unwrap();
        drop(typed);
    };
    let mut output = Vec::new();
    let reading = shown.read_to_end(&mut output);
    let all = async { tokio::join!(serving, typing, reading).2.unwrap() };
    timeout(PATIENCE, all).await.expect("the connection ends with its input");
    output
}

/// Knows nobody by a token, and demands none.
pub(crate) struct Nobody;

impl Authenticator for Nobody {
    fn authenticate(&self, _bearer: &str, _profile: Option<&str>) -> Authenticated {
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
        watch::channel(0).1
    }
}
