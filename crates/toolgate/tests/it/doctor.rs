//! `toolgate doctor` on machines in all sorts of states.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::Value;

use crate::process::{Ended, Place, Server, run};

/// What the kernel answers differs from machine to machine.
const OF_THE_KERNEL: &[&str] = &["files", "sandbox", "watches"];

/// A machine with git and nothing else on its search path.
struct Machine {
    place: Place,
    /// Where HTTP should listen, unless the file says so.
    address: Option<SocketAddr>,
}

impl Machine {
    fn new(toml: &str) -> Self {
        let place = Place::new();
        fs::create_dir(place.path().join("bin")).unwrap();
        // All others use the first address of loopback, so that nobody takes this one's ports.
        let listener = TcpListener::bind("127.0.0.2:0").unwrap();
        let address = (!toml.contains("[http]")).then(|| listener.local_addr().unwrap());
        let this = Self { place, address };
        this.install("git");
        if !toml.is_empty() {
            let toml = toml.replace("PLACE", &this.place.path().display().to_string());
            fs::write(this.place.path().join("toolgate.toml"), toml).unwrap();
        }
        this
    }

    fn install(&self, program: &str) {
        let path = self.place.path().join("bin").join(program);
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn folder(&self, name: &str, mode: u32) {
        let path = self.place.path().join(name);
        fs::create_dir_all(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn doctor(&self, arguments: &[&str]) -> Ended {
        let mut command: Command = self.place.toolgate(&["doctor"]);
        command.args(arguments).env("PATH", self.place.path().join("bin"));
        if let Some(address) = self.address {
            command.env("TOOLGATE_HTTP_HOST", address.ip().to_string());
            command.env("TOOLGATE_HTTP_PORT", address.port().to_string());
        }
        run(command, b"")
    }

    /// The report, with what differs from run to run by name.
    fn report(&self, code: i32) -> String {
        let ended = self.doctor(&[]);
        assert_eq!((ended.code, ended.stderr.as_str()), (code, ""), "{}", ended.stdout);
        let text = ended.stdout.replace(&self.place.path().display().to_string(), "PLACE");
        let address = self.address.map(|address| address.to_string()).unwrap_or("none".into());
        let text = text.replace(&address, "ADDRESS");
        let lines = text.lines().take_while(|line| !line.starts_with("ok       platform"));
        lines.collect::<Vec<_>>().join("\n")
    }
}

#[test]
fn a_fresh_machine_is_in_order() {
    insta::assert_snapshot!(Machine::new("").report(0), @r"
    note     configuration  no `toolgate.toml`: the defaults are in force
                            hint: run `toolgate config init` to write one
    ok       data folder    `PLACE/.local/share/toolgate` is made when it is first needed
    note     workspace      no folder is configured: the client's first one is used, else our own
                            hint: name one with `workspace.root` or `--workspace`
    ok       memory         in the data folder
    note     vault          not configured
                            hint: set `vault.root`
    ok       web            public addresses, and no others
    note     chat           not configured
                            hint: set `chat.discord.token`, `chat.slack.token` or `chat.telegram.token`
    note     calendar       not configured
                            hint: set `calendar.feeds.NAME.url` or `calendar.feeds.NAME.file`
    note     github         not configured
                            hint: set `github.token`
    ok       scripts        the children that run them are held by Landlock and seccomp
    ok       http           `ADDRESS` is free
    ok       admin          `/admin` answers on this machine
    missing  browser        no Chromium on the search path, which browser tools drive
                            hint: install `chromium` if you want them
    missing  opencode       no `opencode` on the search path, which OpenCode tools drive
                            hint: install OpenCode if you want them: `npm install -g opencode-ai`
    ok       git            `PLACE/bin/git`
    ");
}

#[test]
fn a_configured_machine_is_in_order() {
    let machine =
        Machine::new("data_dir = 'PLACE/data'\n[workspace]\nroot = 'files'\n[memory]\nroot = 'notes'\n");
    machine.folder("data", 0o700);
    machine.folder("files", 0o755);
    machine.install("chromium");
    machine.install("opencode");
    insta::assert_snapshot!(machine.report(0), @r"
    ok       configuration  read from `PLACE/toolgate.toml`
    ok       data folder    `PLACE/data` is ours alone
    ok       workspace      `PLACE/files`
    ok       memory         `PLACE/notes` is made when it is first needed
    note     vault          not configured
                            hint: set `vault.root`
    ok       web            public addresses, and no others
    note     chat           not configured
                            hint: set `chat.discord.token`, `chat.slack.token` or `chat.telegram.token`
    note     calendar       not configured
                            hint: set `calendar.feeds.NAME.url` or `calendar.feeds.NAME.file`
    note     github         not configured
                            hint: set `github.token`
    ok       scripts        the children that run them are held by Landlock and seccomp
    ok       http           `ADDRESS` is free
    ok       admin          `/admin` answers on this machine
    ok       browser        `PLACE/bin/chromium`
    ok       opencode       `PLACE/bin/opencode`
    ok       git            `PLACE/bin/git`
    ");
}

#[test]
fn open_folders_are_weak() {
    let machine = Machine::new("data_dir = 'PLACE/data'\n[memory]\nroot = 'notes'\n");
    machine.folder("data", 0o755);
    machine.folder("notes", 0o770);
    insta::assert_snapshot!(machine.report(0), @r"
    ok       configuration  read from `PLACE/toolgate.toml`
    weak     data folder    `PLACE/data` is open to other users (mode 0755)
                            hint: run `chmod 700 PLACE/data`
    note     workspace      no folder is configured: the client's first one is used, else our own
                            hint: name one with `workspace.root` or `--workspace`
    weak     memory         `PLACE/notes` is open to other users (mode 0770)
                            hint: run `chmod 700 PLACE/notes`
    note     vault          not configured
                            hint: set `vault.root`
    ok       web            public addresses, and no others
    note     chat           not configured
                            hint: set `chat.discord.token`, `chat.slack.token` or `chat.telegram.token`
    note     calendar       not configured
                            hint: set `calendar.feeds.NAME.url` or `calendar.feeds.NAME.file`
    note     github         not configured
                            hint: set `github.token`
    ok       scripts        the children that run them are held by Landlock and seccomp
    ok       http           `ADDRESS` is free
    ok       admin          `/admin` answers on this machine
    missing  browser        no Chromium on the search path, which browser tools drive
                            hint: install `chromium` if you want them
    missing  opencode       no `opencode` on the search path, which OpenCode tools drive
                            hint: install OpenCode if you want them: `npm install -g opencode-ai`
    ok       git            `PLACE/bin/git`
    ");
}

#[test]
fn folders_that_cannot_be_used_are_broken() {
    let machine =
        Machine::new("data_dir = 'PLACE/file/data'\n[workspace]\nroot = 'typo'\n[memory]\nroot = 'file'\n");
    fs::write(machine.place.path().join("file"), "").unwrap();
    insta::assert_snapshot!(machine.report(1), @r"
    ok       configuration  read from `PLACE/toolgate.toml`
    broken   data folder    `PLACE/file/data` does not exist and cannot be made
                            hint: make it, or name another folder with `data_dir`
    broken   workspace      `PLACE/typo` does not exist
                            hint: make it, or name another folder with `workspace.root`
    broken   memory         `PLACE/file` is no folder
                            hint: move it out of the way, or name another folder with `memory.root`
    note     vault          not configured
                            hint: set `vault.root`
    ok       web            public addresses, and no others
    note     chat           not configured
                            hint: set `chat.discord.token`, `chat.slack.token` or `chat.telegram.token`
    note     calendar       not configured
                            hint: set `calendar.feeds.NAME.url` or `calendar.feeds.NAME.file`
    note     github         not configured
                            hint: set `github.token`
    ok       scripts        the children that run them are held by Landlock and seccomp
    ok       http           `ADDRESS` is free
    ok       admin          `/admin` answers on this machine
    missing  browser        no Chromium on the search path, which browser tools drive
                            hint: install `chromium` if you want them
    missing  opencode       no `opencode` on the search path, which OpenCode tools drive
                            hint: install OpenCode if you want them: `npm install -g opencode-ai`
    ok       git            `PLACE/bin/git`
    ");
}

/// The lines of the packs that reach other services.
fn of_packs(report: &str) -> String {
    let lines = report.lines().skip_while(|line| !line.contains(" web "));
    lines.take_while(|line| !line.contains(" scripts ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_pack_says_what_it_still_needs() {
    let machine = Machine::new(
        "[chat.slack]\ntoken = '{secret:SLACK_TOKEN}'\n[github]\ntoken = '{env:NO_SUCH_VARIABLE}'\n\
         [calendar.feeds.work]\nurl = '{secret:WORK_CALENDAR}'\n[web]\nallow_hosts = ['10.0.0.0/8']\n",
    );
    insta::assert_snapshot!(of_packs(&machine.report(0)), @r"
    ok       web            public addresses; 1 in `web.allow_hosts`, 0 in `web.deny_hosts`
    missing  chat           its tools are not there
                            hint: there is no secret `SLACK_TOKEN`; run `toolgate secret set SLACK_TOKEN`
    missing  calendar       its tools are not there
                            hint: there is no secret `WORK_CALENDAR`; run `toolgate secret set WORK_CALENDAR`
    missing  github         its tools are not there
                            hint: the variable `NO_SUCH_VARIABLE` is not set
    ");
    let ended = run(machine.place.toolgate(&["secret", "set", "SLACK_TOKEN"]), b"xoxb-sesame-open-1234");
    assert_eq!(ended.code, 0, "{ended:#?}");
    insta::assert_snapshot!(of_packs(&machine.report(0)), @r"
    ok       web            public addresses; 1 in `web.allow_hosts`, 0 in `web.deny_hosts`
    missing  chat           its tools are not there
                            hint: set `chat.targets` to whom messages may be sent
    missing  calendar       its tools are not there
                            hint: there is no secret `WORK_CALENDAR`; run `toolgate secret set WORK_CALENDAR`
    missing  github         its tools are not there
                            hint: the variable `NO_SUCH_VARIABLE` is not set
    ");
    let report = Machine::new("[web]\nallow_hosts = ['docs.rs']\ndeny_hosts = ['*']\n").report(0);
    assert!(report.contains("ok       web            1 in `web.allow_hosts`, and no others"), "{report}");
    let toml = "packs = ['chat', 'calendar', 'github']\n[chat]\ntargets = ['slack:*']\n\
        [chat.slack]\ntoken = '{secret:SLACK_TOKEN}'\n\
        [calendar.feeds.work]\nurl = '{secret:SLACK_TOKEN}'\n[calendar.feeds.home]\nfile = 'home.ics'\n\
        [github]\ntoken = '{secret:SLACK_TOKEN}'\nrepos = ['octo/repo']\n";
    fs::write(machine.place.path().join("toolgate.toml"), toml).unwrap();
    insta::assert_snapshot!(of_packs(&machine.report(0)), @r"
    note     web            off: `packs` leaves it out
    ok       chat           Slack; 1 in `chat.targets`
    ok       calendar       2 in `calendar.feeds`, 1 of them files
    missing  calendar       `PLACE/home.ics` does not exist
                            hint: put the calendar there, or set `calendar.feeds.home.file`
    ok       github         `https://api.github.com`; 1 in `github.repos`
    ");
}

#[test]
fn a_vault_is_there_or_says_what_is_wrong() {
    #[track_caller]
    fn check(machine: &Machine, toml: &str, code: i32, expect: &str) {
        fs::write(machine.place.path().join("toolgate.toml"), toml).unwrap();
        let report = machine.report(code);
        assert!(report.contains(expect), "{report}");
    }
    let machine = Machine::new("");
    let missing = "broken   vault          `PLACE/typo` does not exist\n                        hint: make it, or name another folder with `vault.root`";
    check(&machine, "[vault]\nroot = 'typo'\n", 1, missing);
    fs::create_dir(machine.place.path().join("vault")).unwrap();
    check(&machine, "[vault]\nroot = 'vault'\n", 0, "ok       vault          `PLACE/vault`, not kept in git");
    let git = "[vault]\nroot = 'vault'\n[vault.git]\nenabled = true\n";
    check(&machine, git, 0, "ok       vault          `PLACE/vault`, committed to git and pushed");
    check(
        &machine,
        &format!("{git}url = 'https://git.example/notes.git'\ntoken = '{{secret:NONE}}'\n"),
        0,
        "missing  vault          its tools are not there",
    );
}

#[test]
fn a_configuration_that_tools_can_change_is_weak() {
    let machine = Machine::new("[workspace]\nroot = '.'\n");
    let report = machine.report(0);
    assert!(
        report.contains("`PLACE/toolgate.toml` lies in the workspace, where tools can change it"),
        "{report}"
    );
}

#[test]
fn a_broken_configuration_is_named_by_line_and_column() {
    let machine = Machine::new("pakcs = []\n[http]\nport = 'many'\n");
    insta::assert_snapshot!(machine.report(2), @r"
    broken   configuration  PLACE/toolgate.toml:1:1: unknown key `pakcs`
                            hint: did you mean `packs`?
    broken   configuration  PLACE/toolgate.toml:3:8: `http.port` must be an integer from 0 to 65535, not the string `many`
    note     data folder    not looked at, because the configuration is broken
    note     workspace      not looked at, because the configuration is broken
    note     memory         not looked at, because the configuration is broken
    note     vault          not looked at, because the configuration is broken
    note     web            not looked at, because the configuration is broken
    note     chat           not looked at, because the configuration is broken
    note     calendar       not looked at, because the configuration is broken
    note     github         not looked at, because the configuration is broken
    note     scripts        not looked at, because the configuration is broken
    note     http           not looked at, because the configuration is broken
    note     admin          not looked at, because the configuration is broken
    note     browser        not looked at, because the configuration is broken
    note     opencode       not looked at, because the configuration is broken
    ok       git            `PLACE/bin/git`
    ");
}

#[test]
fn a_port_that_others_use_is_weak_for_stdio_and_broken_for_http() {
    let mut machine = Machine::new("");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    machine.address = Some(listener.local_addr().unwrap());
    let of_port =
        |report: String| report.lines().filter(|line| line.contains("http")).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(of_port(machine.report(0)), @r"
    weak     http           `ADDRESS` is in use by another program
                            hint: choose another with `http.port` or `--port`
    ");
    fs::write(machine.place.path().join("toolgate.toml"), "transport = 'http'\n").unwrap();
    insta::assert_snapshot!(of_port(machine.report(1)), @r"
    broken   http           `ADDRESS` is in use by another program
                            hint: choose another with `http.port` or `--port`
    ");
}

#[test]
fn a_port_that_we_use_is_in_order() {
    let server = Server::start();
    let mut machine = Machine::new("");
    machine.address = Some(server.address);
    assert!(machine.report(0).contains("Toolgate answers at `http://ADDRESS/mcp`"));
}

#[test]
fn an_address_for_everyone_needs_a_token() {
    let machine = Machine::new("transport = 'http'\n[http]\nbind = '0.0.0.0'\nport = 0\n");
    let report = machine.report(1);
    assert!(report.contains("which needs a token"), "{report}");
    let machine = Machine::new(
        "transport = 'http'\n[http]\nbind = '0.0.0.0'\nport = 0\ntoken = 'long enough to be a secret'\n",
    );
    machine.report(0);
    let machine = Machine::new("transport = 'http'\n[http]\nbind = 'everywhere'\n");
    let report = machine.report(1);
    assert!(report.contains("no IP address"), "{report}");
}

#[test]
fn json_holds_the_same() {
    let ended = Machine::new("").doctor(&["--json"]);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((ended.code, &report["version"]), (0, &env!("CARGO_PKG_VERSION").into()));
    let items = report["items"].as_array().unwrap();
    for item in items {
        let state = item["state"].as_str().unwrap();
        assert!(["ok", "note", "weak", "missing"].contains(&state), "{item}");
        assert!(state == "ok" || item["hint"].is_string() || item["check"] == "watches", "{item}");
        assert!(!item["message"].as_str().unwrap().is_empty(), "{item}");
    }
    for check in OF_THE_KERNEL {
        assert!(items.iter().any(|item| item["check"] == *check), "{check}");
    }
}

#[test]
fn it_changes_nothing() {
    let machine = Machine::new("");
    machine.report(0);
    let names = fs::read_dir(machine.place.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["bin"]);
}
