//! Servers behind TLS and behind proxies. The certificates, with their key, are made for these tests and trusted nowhere.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, crypto};
use toolgate_host::Tasks;
use toolgate_testkit::{Expect as _, client_legacy};
use toolgate_upstream::{State, Status, Surroundings, Upstream};

use crate::rig::{Rig, plan, surroundings, with};
use crate::web::Web;

const CERTIFICATE: &[u8] = include_bytes!("tls/server.pem");
const KEY: &[u8] = include_bytes!("tls/server.key");

/// An address that is nobody's; only a proxy brings it anywhere.
const NOWHERE: &str = "192.0.2.1:443";

pub(crate) fn authority() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/tls/ca.pem")
}

/// Puts TLS in front of a server, and says where.
pub(crate) async fn behind_tls(web: &Web) -> String {
    let provider = Arc::new(crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE).unwrap();
    let key = PrivateKeyDer::from_pem_slice(KEY).unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
    let (acceptor, plain) = (TlsAcceptor::from(Arc::new(config)), web.address());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let tasks = Tasks::new();
    tasks.clone().spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, plain) = (acceptor.clone(), plain.clone());
            tasks.spawn(async move {
                // A client that does not trust us hangs up here.
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let mut server = TcpStream::connect(plain).await.unwrap();
                drop(copy_bidirectional(&mut stream, &mut server).await);
            });
        }
    });
    address
}

/// A proxy that brings all that comes to one address, and what was asked of it.
pub(crate) struct Proxy {
    pub(crate) address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

pub(crate) async fn proxy(to: String) -> Proxy {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (tasks, heard) = (Tasks::new(), asked.clone());
    tasks.clone().spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (to, heard) = (to.clone(), heard.clone());
            tasks.spawn(async move {
                let mut stream = BufReader::new(stream);
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") {
                    if stream.read_line(&mut head).await.unwrap() == 0 {
                        return;
                    }
                }
                let authorized = head.lines().find(|line| line.to_lowercase().starts_with("proxy-auth"));
                let said = format!("{} {}", head.lines().next().unwrap(), authorized.unwrap_or_default());
                heard.lock().unwrap().push(said);
                let mut server = TcpStream::connect(to).await.unwrap();
                stream.write_all(b"HTTP/1.1 200 Fine\r\n\r\n").await.unwrap();
                drop(copy_bidirectional(&mut stream, &mut server).await);
            });
        }
    });
    Proxy { address, asked }
}

impl Proxy {
    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// A table for the server, at another address.
fn table(web: &Web, url: &str, more: Value) -> Value {
    with(with(web.table(), json!({"url": url})), more)
}

/// How a trial ends, in a process with these variables.
async fn tried(table: Value, variables: &[(&str, &str)]) -> Status {
    let more = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    let mut surroundings: Surroundings = surroundings();
    surroundings.variables.extend(more);
    Upstream::test(plan(table), surroundings).await.status
}

#[tokio::test]
async fn an_authority_of_ones_own_is_trusted_where_it_is_configured() {
    let web = Web::start("legacy").await;
    let url = format!("https://{}/mcp", behind_tls(&web).await);
    let rig = Rig::of(
        table(&web, &url, json!({"ca_file": authority()})),
        Arc::new(tempfile::tempdir().unwrap()),
        None,
    );
    rig.call(client_legacy(), "fake_echo", json!({"b": "x"}), None).await.complete();
    assert_eq!((rig.status().state, rig.status().transport.as_str()), (State::Connected, "http"));
    rig.upstream.stop().await;

    let unknown = tried(table(&web, &url, json!({})), &[]).await;
    assert_eq!(unknown.state, State::Failed);
    let error = unknown.error.unwrap();
    assert!(error.contains("certificate") && error.contains("UnknownIssuer"), "{error}");

    let missing = tried(table(&web, &url, json!({"ca_file": "/nowhere/ca.pem"})), &[]).await;
    assert_eq!(missing.state, State::Failed);
    let error = missing.error.unwrap();
    assert!(error.starts_with("`/nowhere/ca.pem` cannot be read: "), "{error}");
}

#[tokio::test]
async fn a_server_is_reached_through_the_proxy_that_is_configured() {
    let web = Web::start("legacy").await;
    let proxy = proxy(behind_tls(&web).await).await;
    let more = json!({"ca_file": authority(), "proxy": format!("http://me:hunter22@{}", proxy.address)});
    let status = tried(table(&web, &format!("https://{NOWHERE}/mcp"), more), &[]).await;
    assert_eq!((status.state, status.tools > 0), (State::Connected, true), "{status:?}");
    let asked = proxy.asked();
    assert!(!asked.is_empty());
    for asked in asked {
        let authorized = asked.strip_prefix(&format!("CONNECT {NOWHERE} HTTP/1.1 ")).unwrap();
        assert_eq!(authorized.to_lowercase(), "proxy-authorization: basic bWU6aHVudGVyMjI=".to_lowercase());
    }

    // Without TLS the proxy is asked for the whole address; here the server itself stands for one.
    let more = json!({"proxy": format!("http://{}", web.address())});
    let status = tried(table(&web, "http://192.0.2.1/mcp", more), &[]).await;
    assert_eq!(status.state, State::Connected, "{status:?}");
}

#[tokio::test]
async fn a_proxy_that_refuses_or_is_not_there_is_named_as_what_failed() {
    let web = Web::start("legacy").await;
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (behind, expect) in [(free.to_string(), "refused"), (web.address(), "unsuccessful")] {
        let more = json!({"proxy": format!("http://me:hunter22@{behind}")});
        let status = tried(table(&web, &format!("https://{NOWHERE}/mcp"), more), &[]).await;
        let error = status.error.unwrap();
        assert_eq!(status.state, State::Failed);
        assert!(error.to_lowercase().contains(expect) && !error.contains("hunter22"), "{error}");
    }
}

#[tokio::test]
async fn the_proxy_of_the_environment_counts_but_not_for_this_machine() {
    let web = Web::start("legacy").await;
    let tls = behind_tls(&web).await;
    let proxy = proxy(tls.clone()).await;
    let trusted = json!({"ca_file": authority()});
    for name in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"] {
        let before = proxy.asked().len();
        let there = table(&web, &format!("https://{NOWHERE}/mcp"), trusted.clone());
        let status = tried(there, &[(name, &proxy.address)]).await;
        assert_eq!(status.state, State::Connected, "{name} {status:?}");
        assert!(proxy.asked().len() > before, "{name}");
    }
    let before = proxy.asked().len();
    let here = table(&web, &format!("https://{tls}/mcp"), trusted.clone());
    assert_eq!(tried(here.clone(), &[("HTTPS_PROXY", &proxy.address)]).await.state, State::Connected);
    let never = with(here, json!({"proxy": false}));
    assert_eq!(tried(never, &[("HTTPS_PROXY", &proxy.address)]).await.state, State::Connected);
    assert_eq!(proxy.asked().len(), before);
}

#[tokio::test]
async fn what_the_environment_exempts_goes_past_its_proxy() {
    let web = Web::start("legacy").await;
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    // Another way to write this machine, which is not exempt by itself.
    let port = web.address().rsplit(':').next().unwrap().to_owned();
    let table = table(&web, &format!("http://0.0.0.0:{port}/mcp"), json!({}));
    let proxied = tried(table.clone(), &[("http_proxy", &nobody)]).await;
    assert_eq!(proxied.state, State::Failed, "{proxied:?}");
    let exempt = tried(table, &[("http_proxy", &nobody), ("NO_PROXY", "example.com, 0.0.0.0")]).await;
    assert_eq!(exempt.state, State::Connected, "{exempt:?}");
}
