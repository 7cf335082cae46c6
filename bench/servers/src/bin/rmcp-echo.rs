//! An echo tool on the Rust SDK, written as its documentation shows.

use axum::Router;
use axum::serve::ListenerExt as _;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{ServerCapabilities, ServerConfig};
use rmcp::transport::stdio;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler, ServiceExt as _, tool, tool_handler, tool_router};

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Message {
    /// What to answer.
    message: String,
}

#[derive(Clone)]
struct Echo;

#[tool_router]
impl Echo {
    #[tool(description = "Answer with the message it was given.")]
    async fn test_echo(&self, Parameters(Message { message }): Parameters<Message>) -> String {
        message
    }
}

#[tool_handler]
impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("stdio") => {
            Echo.serve(stdio()).await?.waiting().await?;
            Ok(())
        }
        Some("stateless") => http(false).await,
        Some("session") => http(true).await,
        _ => anyhow::bail!("usage: rmcp-echo stdio|stateless|session"),
    }
}

async fn http(sessions: bool) -> anyhow::Result<()> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(sessions)
        .with_json_response(!sessions);
    let service: StreamableHttpService<Echo, LocalSessionManager> =
        StreamableHttpService::new(|| Ok(Echo), std::sync::Arc::default(), config);
    let listener = bench_servers::listen().await?.tap_io(|stream| {
        // Without it the kernel may hold answers back; a socket that refuses is only slower.
        stream.set_nodelay(true).ok();
    });
    axum::serve(listener, Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
