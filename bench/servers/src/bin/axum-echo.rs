//! The floor: an axum server that reads a body and answers bytes which were prepared before.

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use axum::serve::ListenerExt as _;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Some(answer) = std::env::args().nth(1) else {
        anyhow::bail!("usage: axum-echo ANSWER");
    };
    let answer = Bytes::from(answer);
    let echo = move |body: Bytes| {
        drop(body);
        let answer = answer.clone();
        async move { ([(CONTENT_TYPE, "application/json")], answer) }
    };
    let listener = bench_servers::listen().await?.tap_io(|stream| {
        // Without it the kernel may hold answers back; a socket that refuses is only slower.
        stream.set_nodelay(true).ok();
    });
    axum::serve(listener, Router::new().route("/mcp", post(echo))).await?;
    Ok(())
}
