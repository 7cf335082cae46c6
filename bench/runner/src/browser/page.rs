//! The page that both look at: a long table, a form and a button.

use std::fmt::Write as _;
use std::io::{Read as _, Result, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// How many rows its table has.
pub(super) const ROWS: usize = 200;

/// Serves it, and tells its address. It ends with the process.
pub(super) fn serve() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}/", listener.local_addr()?);
    let html = html();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let html = html.clone();
            thread::spawn(move || answer(stream, &html).ok());
        }
    });
    Ok(address)
}

fn html() -> String {
    let mut rows = String::new();
    for row in 1..=ROWS {
        // Writing into a text does not fail.
        write!(
            rows,
            "<tr><td>{row}</td><td>Customer {row}</td><td>customer{row}@example.com</td><td>{}.00</td>\
             <td><a href='/orders/{row}'>Open</a></td></tr>",
            row * 7
        )
        .ok();
    }
    format!(
        "<!doctype html><title>Orders</title><h1>Orders</h1>\
         <form><label>Search <input name=q></label><select name=state aria-label=State><option>All<option>Open</select></form>\
         <button type=button onclick='this.dataset.count = 1 + Number(this.dataset.count || 0)'>Refresh</button>\
         <table><thead><tr><th>ID<th>Name<th>Mail<th>Amount<th></tr></thead><tbody>{rows}</tbody></table>"
    )
}

fn answer(mut stream: TcpStream, html: &str) -> Result<()> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    while !bytes.ends_with(b"\r\n\r\n") {
        match stream.read(&mut piece)? {
            0 => return Ok(()),
            read => bytes.extend_from_slice(&piece[..read]),
        }
    }
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n";
    write!(stream, "{head}Content-Length: {}\r\n\r\n{html}", html.len())
}
