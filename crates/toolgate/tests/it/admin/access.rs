//! Who gets in to the page of the running binary, and how.

use serde_json::json;

use super::{Desk, PASSWORD, ask, post, printed, session};
use crate::process::{Place, Server, by_command, replace, unlimited, until};

#[test]
fn the_link_of_the_first_start_makes_the_first_account_and_is_then_of_no_use() {
    let desk = Desk::start("");
    let status = desk.get("/status");
    assert_eq!(status["address"], desk.server.address.to_string());
    assert!(status["sources"].as_array().unwrap().contains(&json!("workspace")), "{status}");
    let link = printed(&desk.server);
    let again = post(&desk.server, "/setup", &json!({"link": link, "account": "eve", "password": PASSWORD}));
    assert_eq!(again.send().status, 403);
    let place = desk.server.kill();
    let server = Server::start_in(place, &[]);
    assert!(!server.log().contains("#setup="), "there is an account");
    let login = post(&server, "/session", &json!({"account": "ada", "password": PASSWORD})).send();
    session(&login);
    let old = ask(&server, "GET", "/session").header("Cookie", &desk.cookie).send();
    // The port is another one, and with it the name of the cookie.
    assert_eq!(old.status, 401);
}

#[test]
fn without_a_login_nothing_answers_but_what_leads_to_one() {
    let server = Server::start();
    for (path, status) in [
        ("/admin", 200),
        ("/admin/api/openapi.json", 200),
        ("/admin/api/setup", 200),
        ("/admin/api/session", 401),
        ("/admin/api/status", 401),
        ("/admin/api/events", 401),
        ("/admin/api/audit/export", 401),
        ("/admin/api/nothing", 404),
    ] {
        assert_eq!(server.get(path).send().status, status, "{path}");
    }
}

#[test]
fn pages_of_others_are_refused_even_where_they_may_use_the_protocol() {
    let server = Server::configured("[http]\ncors_origins = ['*']\n");
    let foreign = |path| server.get(path).header("Origin", "https://evil.example").send();
    assert_eq!(foreign("/health").status, 200);
    let refused = foreign("/admin/api/setup");
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (403, None));
    assert_eq!(server.get("/admin").header("Host", "evil.example").send().status, 421);
    let preflight = ask(&server, "OPTIONS", "/session").header("Origin", "https://evil.example").send();
    assert_eq!(preflight.status, 403);
}

#[test]
fn a_wrong_password_is_throttled() {
    let desk = Desk::start("");
    let wrong = || post(&desk.server, "/session", &json!({"account": "ada", "password": "wrong"})).send();
    let statuses: Vec<u16> = (0..6).map(|_| wrong().status).collect();
    assert_eq!(statuses, [401, 401, 401, 401, 401, 429]);
    assert!(wrong().header("retry-after").is_some());
    desk.get("/session");
}

#[test]
fn the_command_line_lets_people_in_and_throws_them_out() {
    let desk = Desk::start("");
    let made = desk.command(&["admin", "link", "--account", "bob", "--role", "viewer", "--json"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let made: serde_json::Value = serde_json::from_str(&made.stdout).unwrap();
    let url = made["url"].as_str().unwrap();
    let start = format!("http://{}/admin#setup=", desk.server.address);
    let link = url.strip_prefix(&start).and_then(|rest| rest.strip_suffix("&account=bob"));
    let link = link.unwrap_or_else(|| panic!("{url}"));
    let reply = post(&desk.server, "/setup", &json!({"link": link, "password": PASSWORD})).send();
    let (cookie, _) = session(&reply);
    let who = || ask(&desk.server, "GET", "/session").header("Cookie", &cookie).send();
    assert_eq!(who().json()["role"], "viewer");
    let list = desk.command(&["admin", "list", "--json"]);
    let list: serde_json::Value = serde_json::from_str(&list.stdout).unwrap();
    let names: Vec<&str> =
        list["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["ada", "bob"]);
    assert_eq!(desk.command(&["admin", "remove", "bob"]).code, 0);
    until("the running server knows it", || who().status == 401);
    let last = desk.command(&["admin", "remove", "ada"]);
    assert_eq!(last.code, 1, "{}", last.stderr);
    assert!(last.stderr.contains("the last account that may change everything"), "{}", last.stderr);
    assert_eq!(desk.command(&["admin", "remove", "nobody"]).code, 1);
    assert_eq!(desk.command(&["admin", "link", "--role", "king"]).code, 2);
    assert_eq!(desk.command(&["admin", "link", "--account", "A B"]).code, 2);
    let found = desk.command(&["audit", "search", "--target", "method:command/*", "--json"]);
    let found = by_command(&serde_json::from_str(&found.stdout).unwrap());
    assert_eq!(found, ["admin link bob viewer", "admin remove bob"]);
}

#[test]
fn the_page_is_switched_off_and_on_while_the_server_runs() {
    let place = Place::configured(&unlimited("[admin]\nenabled = false\n"));
    let file = place.path().join("toolgate.toml");
    let server = Server::start_in(place, &[]);
    assert_eq!(server.get("/admin").send().status, 404);
    assert!(!server.log().contains("#setup="));
    replace(&file, &unlimited(""));
    until("the page is there", || server.get("/admin").send().status == 200);
}

#[test]
fn beyond_this_machine_the_page_wants_tls() {
    let toml = "[http]\nbind = '0.0.0.0'\ntoken = 'sixteen-characters'\nallowed_hosts = ['box.lan']\n\
                public_url = 'https://tools.example'\n";
    let place = Place::configured(&unlimited(toml));
    let file = place.path().join("toolgate.toml");
    let server = Server::start_in(place, &[]);
    let near = std::net::SocketAddr::from(([127, 0, 0, 1], server.address.port()));
    let by = |host: &str| crate::web::Ask::new(near, "GET", "/admin").header("Host", host).send().status;
    assert_eq!(by("localhost"), 200);
    assert_eq!(by("tools.example"), 200);
    assert_eq!(by("box.lan"), 403);
    replace(&file, &unlimited(&format!("{toml}[admin]\nplain_http = true\n")));
    until("the new setting is in force", || by("box.lan") == 200);
    let body = json!({"link": printed(&server), "account": "ada", "password": PASSWORD}).to_string();
    let set_up = crate::web::Ask::new(near, "POST", "/admin/api/setup").header("Host", "tools.example");
    let reply =
        set_up.header("X-CSRF-Token", "0").header("Content-Type", "application/json").body(body).send();
    let cookie = reply.header("set-cookie").unwrap_or_else(|| panic!("{}", reply.text()));
    assert!(cookie.starts_with("__Host-toolgate=") && cookie.contains("; Secure;"), "{cookie}");
}
