//! Signing in to a server with the binary: what lets us in is kept encrypted, hidden, used at once, and given back.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::process::{Place, Server, unlimited, until};
use crate::web::Ask;

/// What lets in, with a number behind it.
const TOKEN: &str = "open-sesame-token";

/// A server that tells callers their own token, and signs people in itself.
pub(crate) struct Cave {
    url: String,
    /// The tokens that count.
    pub(crate) tokens: Arc<Mutex<Vec<String>>>,
}

impl Cave {
    pub(crate) fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let tokens = Arc::<Mutex<Vec<String>>>::default();
        let (base, known) = (url.clone(), tokens.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (base, known) = (base.clone(), known.clone());
                thread::spawn(move || serve(stream, &base, &known));
            }
        });
        Self { url, tokens }
    }

    pub(crate) fn table(&self) -> String {
        unlimited(&format!("packs = []\n{}", self.entry()))
    }

    /// Its table alone.
    pub(crate) fn entry(&self) -> String {
        format!("[mcp.cave]\nurl = \"{}/mcp\"\n", self.url)
    }
}

fn serve(stream: TcpStream, base: &str, tokens: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    loop {
        let (mut head, mut line) = (Vec::new(), String::new());
        while reader.read_line(&mut line).is_ok_and(|read| read > 0) && !line.trim().is_empty() {
            head.push(line.trim().to_owned());
            line.clear();
        }
        let Some(first) = head.first() else { return };
        let header = |name: &str| {
            let found = head.iter().filter_map(|line| line.split_once(": "));
            found.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned()).next()
        };
        let mut body = vec![0; header("content-length").map_or(0, |length| length.parse().unwrap())];
        reader.read_exact(&mut body).unwrap();
        let path = first.split(' ').nth(1).unwrap();
        let bearer = header("authorization").unwrap_or_default();
        let (status, more, answer) = answer(base, tokens, path, &bearer, &String::from_utf8(body).unwrap());
        let head = format!(
            "HTTP/1.1 {status} x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{more}\r\n",
            answer.len()
        );
        if writer.write_all(head.as_bytes()).and_then(|()| writer.write_all(answer.as_bytes())).is_err() {
            return;
        }
    }
}

fn answer(
    base: &str,
    tokens: &Mutex<Vec<String>>,
    path: &str,
    bearer: &str,
    body: &str,
) -> (u16, String, String) {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let get = |text: &str, key: &str| {
        let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(name, _)| *name == key).map(|(_, value)| decoded(value)).next()
    };
    let fine = |value: Value| (200, String::new(), value.to_string());
    match path {
        "/.well-known/oauth-protected-resource/mcp" => {
            fine(json!({"resource": format!("{base}/mcp"), "authorization_servers": [base]}))
        }
        "/.well-known/oauth-authorization-server" => fine(json!({
            "issuer": base, "authorization_endpoint": format!("{base}/authorize"),
            "token_endpoint": format!("{base}/token"), "registration_endpoint": format!("{base}/register"),
            "revocation_endpoint": format!("{base}/revoke"), "code_challenge_methods_supported": ["S256"],
        })),
        "/register" => fine(json!({"client_id": "us"})),
        "/authorize" => {
            let back = get(query, "redirect_uri").unwrap();
            let state = get(query, "state").unwrap();
            (302, format!("Location: {back}?code=c&state={state}\r\n"), String::new())
        }
        "/token" => {
            let mut tokens = tokens.lock().unwrap();
            let token = format!("{TOKEN}-{}", tokens.len());
            tokens.push(token.clone());
            fine(
                json!({"access_token": token, "token_type": "Bearer", "refresh_token": format!("again-{token}")}),
            )
        }
        "/revoke" => {
            let gone = get(body, "token").unwrap();
            tokens.lock().unwrap().retain(|token| *token != gone);
            fine(json!({}))
        }
        _ if !tokens.lock().unwrap().iter().any(|token| bearer == format!("Bearer {token}")) => (
            401,
            format!(
                "WWW-Authenticate: Bearer resource_metadata=\"{base}/.well-known/oauth-protected-resource/mcp\"\r\n"
            ),
            String::new(),
        ),
        _ => speak(bearer, body),
    }
}

fn decoded(text: &str) -> String {
    let mut pieces = text.split('%');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |before, piece| {
        let (code, rest) = piece.split_at(2);
        format!("{before}{}{rest}", char::from(u8::from_str_radix(code, 16).unwrap()))
    })
}

/// As much of the protocol as one tool needs.
fn speak(bearer: &str, body: &str) -> (u16, String, String) {
    let Ok(message) = serde_json::from_str::<Value>(body) else { return (405, String::new(), String::new()) };
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "cave", "version": "1"},
        }),
        "tools/list" => json!({"tools": [{"name": "whoami", "inputSchema": {"type": "object"}}]}),
        "tools/call" => json!({"content": [{"type": "text", "text": format!("you came with {bearer}")}]}),
        _ if message["id"].is_null() => return (202, String::new(), String::new()),
        _ => return (400, String::new(), String::new()),
    };
    (200, String::new(), json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string())
}

/// The command that signs in, and the address it prints.
fn sign_in(place: &std::path::Path, more: &[&str]) -> (Child, String) {
    let mut command = Place::command_in(place, crate::process::TOOLGATE);
    command.args(["mcp", "auth", "cave", "--no-browser"]).args(more);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim().to_owned())
}

/// Opens an address as a browser does; says where it is sent.
pub(crate) fn visit(url: &str) -> Option<String> {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let reply = Ask::new(host.parse().unwrap(), "GET", &format!("/{path}")).send();
    reply.header("location").map(ToOwned::to_owned)
}

fn ended(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    said
}

fn is(server: &Server, state: &str) -> bool {
    let health: Value = serde_json::from_str(&server.get("/health").send().text()).unwrap();
    health["upstreams"]["cave"] == state
}

fn whoami(server: &Server) -> String {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "cave_whoami", "arguments": {}}});
    server.post(call.to_string()).send().text()
}

/// Whether any file below a folder holds these bytes.
fn holds(folder: &std::path::Path, bytes: &[u8]) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return holds(&path, bytes);
        }
        // Sockets cannot be read.
        std::fs::read(&path).is_ok_and(|text| text.windows(bytes.len()).any(|piece| piece == bytes))
    })
}

#[test]
fn a_person_signs_in_by_command_and_the_running_hub_is_in() {
    let cave = Cave::open();
    let place = Place::configured(&cave.table());
    let folder = place.path().to_owned();
    let server = Server::start_in(place, &[]);
    until("it wants to be signed in to", || is(&server, "needs_auth"));

    let (child, url) = sign_in(&folder, &[]);
    let back = visit(&url).unwrap();
    assert_eq!(visit(&back), None);
    let said = ended(child);
    assert!(said.contains("signed in to `cave`"), "{said}");
    until("it is in", || is(&server, "connected"));

    let answer = whoami(&server);
    assert!(answer.contains("you came with Bearer [REDACTED:OAUTH_TOKEN]"), "{answer}");
    assert!(!holds(&folder, TOKEN.as_bytes()), "a token lies in a file");

    let mut command = Place::command_in(&folder, crate::process::TOOLGATE);
    command.args(["check", "cave", "--json"]);
    let checked = crate::process::run(command, b"");
    let report: Value =
        serde_json::from_str(&checked.stdout).unwrap_or_else(|_| panic!("{}", checked.stderr));
    assert!(!checked.stdout.contains(TOKEN) && !checked.stderr.contains(TOKEN), "a token is shown");
    assert_eq!(report["served"][0]["tools"], 1, "it was let in: {report}");

    let server = Server::start_in(server.kill(), &[]);
    until("it is in again, and nobody had to sign in", || is(&server, "connected"));
    let answer = whoami(&server);
    assert!(answer.contains("you came with Bearer [REDACTED:OAUTH_TOKEN]"), "{answer}");

    let mut command = Place::command_in(&folder, crate::process::TOOLGATE);
    command.args(["mcp", "logout", "cave", "--json"]);
    let out = crate::process::run(command, b"");
    assert_eq!(out.code, 0, "{}", out.stderr);
    let out: Value = serde_json::from_str(&out.stdout).unwrap();
    assert_eq!((&out["wasSignedIn"], &out["revoked"]), (&json!(true), &json!(true)));
    until("it is out", || is(&server, "needs_auth"));
    assert!(cave.tokens.lock().unwrap().is_empty());

    // On a machine without a browser: what the other one ends at is pasted.
    let (mut child, url) = sign_in(&folder, &[]);
    let back = visit(&url).unwrap();
    child.stdin.take().unwrap().write_all(format!("nonsense=1\n{back}\n").as_bytes()).unwrap();
    let said = ended(child);
    assert!(said.contains("not the answer to the sign-in") && said.contains("signed in to `cave`"), "{said}");
    until("it is in", || is(&server, "connected"));
}

#[test]
fn a_server_that_is_removed_gets_back_what_it_gave_to_each() {
    let cave = Cave::open();
    let toml = format!("packs = []\n{}oauth = {{ per_principal = true }}\n", cave.entry());
    let place = Place::configured(&unlimited(&toml));
    for more in [&[][..], &["--principal", "ann"], &["--principal", "ben"]] {
        let (child, url) = sign_in(place.path(), more);
        visit(&visit(&url).unwrap());
        ended(child);
    }
    assert_eq!(cave.tokens.lock().unwrap().len(), 3);
    let removed = crate::process::run(place.toolgate(&["mcp", "remove", "cave"]), b"");
    assert_eq!(removed.code, 0, "{}", removed.stderr);
    for whose in ["", " for `ann`", " for `ben`"] {
        let line = format!("signed out of `cave`{whose}; its tokens do not count any more");
        assert!(removed.stderr.contains(&line), "{}", removed.stderr);
    }
    assert!(cave.tokens.lock().unwrap().is_empty());
}

#[test]
fn a_machine_is_told_of_to_programs_as_people_are() {
    let cave = Cave::open();
    let machine = "oauth = { grant = \"client_credentials\", client_id = \"robot\", client_secret = \"x\" }";
    let place = Place::configured(&unlimited(&format!("packs = []\n{}{machine}\n", cave.entry())));
    let folder = place.path().to_owned();
    let told = || {
        let mut command = Place::command_in(&folder, crate::process::TOOLGATE);
        command.args(["mcp", "auth", "cave", "--json"]);
        let ended = crate::process::run(command, b"");
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        serde_json::from_str::<Value>(&ended.stdout).unwrap_or_else(|_| panic!("{:?}", ended.stdout))
    };
    assert_eq!(told(), json!({"name": "cave", "principal": null, "grant": null, "status": null}));
    let server = Server::start_in(place, &[]);
    until("it is in", || is(&server, "connected"));
    let now = told();
    assert_eq!(
        (&now["grant"]["renewable"], &now["status"]["state"]),
        (&json!(true), &json!("connected")),
        "{now}"
    );
}

#[test]
fn what_cannot_be_signed_in_to_is_told_with_what_to_do() {
    #[track_caller]
    fn check(toml: &str, arguments: &[&str], code: i32, expect: &str) {
        let place = Place::configured(toml);
        let ended = crate::process::run(place.toolgate(arguments), b"");
        assert_eq!(ended.code, code, "{}", ended.stderr);
        assert!(ended.stderr.contains(expect), "{}", ended.stderr);
    }
    check("[mcp.a]\ncommand = \"x\"\n", &["mcp", "auth", "a"], 2, "`a` is not signed in to");
    check(
        "[mcp.a]\nurl = \"https://h\"\noauth = false\n",
        &["mcp", "logout", "a"],
        2,
        "`a` is not signed in to",
    );
    check("[mcp.a]\nurl = \"https://h\"\n", &["mcp", "auth", "b"], 2, "there is no server `b`");
    check(
        "[mcp.a]\nurl = \"http://127.0.0.1:1\"\n",
        &["mcp", "auth", "a", "--principal", "x"],
        2,
        "per_principal",
    );
    check("[mcp.a]\nurl = \"http://127.0.0.1:1\"\n", &["mcp", "auth", "a"], 1, "`http://127.0.0.1:1");
    check(
        "[mcp.a]\nurl = \"http://127.0.0.1:1\"\n",
        &["mcp", "logout", "a"],
        0,
        "nobody was signed in to `a`",
    );
}
