//! Where names are looked up.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;

/// What a name stands for, or why that is not known.
pub type LookingUp = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// Looks names up. The ports of what it finds do not count.
pub trait Lookup: fmt::Debug + Send + Sync {
    /// The addresses of a name.
    fn look_up(&self, name: String) -> LookingUp;
}

/// As the machine does it.
#[derive(Debug, Clone, Copy, Default)]
pub struct MachineLookup;

impl Lookup for MachineLookup {
    fn look_up(&self, name: String) -> LookingUp {
        Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.collect()) })
    }
}
