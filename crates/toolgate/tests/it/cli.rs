//! The command line as a person meets it: what the real binary prints, where, and with which exit code.

use std::fs;

use serde_json::{Value, json};

use crate::message::call;
use crate::process::{Place, run};

/// What a command answers: its exit code and both streams, without what differs between machines.
#[track_caller]
fn shown(place: &Place, variables: &[(&str, &str)], arguments: &[&str]) -> String {
    let mut command = place.toolgate(arguments);
    command.envs(variables.iter().copied());
    let ended = run(command, b"");
    let here = fs::canonicalize(place.path()).unwrap();
    let clean = |text: &str| {
        let text = text.replace(&*here.to_string_lossy(), "PLACE");
        text.replace(&*place.path().to_string_lossy(), "PLACE").replace(env!("CARGO_PKG_VERSION"), "VERSION")
    };
    let part = |name: &str, text: &str| {
        if text.is_empty() { String::new() } else { format!("--- {name}\n{}", clean(text)) }
    };
    format!("exit {}\n{}{}", ended.code, part("stdout", &ended.stdout), part("stderr", &ended.stderr))
}

/// What a command answers in an empty place.
#[track_caller]
fn plain(arguments: &[&str]) -> String {
    shown(&Place::new(), &[], arguments)
}

/// What `tools list` answers under this configuration.
#[track_caller]
fn configured(toml: &str) -> String {
    shown(&Place::configured(toml), &[], &["tools", "list"])
}

#[test]
fn help_names_the_commands() {
    insta::assert_snapshot!(plain(&["--help"]), @r"
    exit 0
    --- stdout
    One gate between AI agents and everything they may use.

    Toolgate is an MCP server: an AI client talks to it, and behind it stand tools. Every call passes
    one policy, whatever tool it is for and whichever client it came from.

    Usage: toolgate [OPTIONS] <COMMAND>

    Commands:
      serve        Serve MCP clients: over standard input and output, or over HTTP
      status       Say who is connected to the running hub, and what runs
      service      Run `serve --http` as a service of the user's systemd
      tools        See and call the tools, as an MCP client would
      mcp          Use other MCP servers: add, import, test and watch them
      check        Check any MCP server: its definitions, how it converses, its messages, and what is
                   unsafe about it
      setup        Add Toolgate to an AI client, or take it out again
      approvals    Answer calls that wait for a person
      policy       Say what the policy makes of a call, and check it against expectations
      token        Make and revoke the tokens by which clients are known over HTTP
      secret       Keep secrets that the configuration uses and nobody else sees
      script       Look at scripts, approve and run them
      audit        Search, export and verify the record of all calls
      admin        Let people in to the admin page: links to set up an account, and who has one
      pins         See which tools of other servers are held because their definition changed, and
                   accept them
      config       See, check and change the configuration
      doctor       Say what is configured, found, missing or weaker than it could be, each with the next
                   step
      completions  Print the completions for a shell
      man          Print the manual page, or write the pages of all commands to a folder
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Options of every command:
          --config <FILE>
              Read this configuration file instead of `toolgate.toml` in the working folder or the
              user's

          --log-level <LEVEL>
              What to log to standard error
              
              [possible values: debug, info, warn, error, none]

          --workspace <DIR>
              The folder that workspace tools work on

    Examples:
      See what an AI client would see, and call a tool:
        toolgate tools list
        toolgate tools call workspace_list

      Serve a client that starts the program itself, or any number of them over HTTP:
        toolgate serve
        toolgate serve --http

      Find out what is missing:
        toolgate doctor
    ");
}

#[test]
fn help_of_serve_shows_how_to_try_it() {
    insta::assert_snapshot!(plain(&["serve", "--help"]), @r#"
    exit 0
    --- stdout
    Serve MCP clients: over standard input and output, or over HTTP.

    A client that starts `toolgate serve` itself talks to it over standard input and output. With
    `--http` any number of clients connect to it, by default at http://127.0.0.1:3000/mcp.

    Usage: toolgate serve [OPTIONS]

    Options:
          --http
              Serve over HTTP instead of standard input and output

          --host <ADDRESS>
              The address to listen on; beyond loopback clients need a token, as of `toolgate token
              create`

          --port <PORT>
              The port to listen on; 0 takes any free one

          --attach
              Serve the client on standard input and output by the hub that already runs on the data
              folder.
              
              Then all clients share one hub with its sources. If none runs, this process becomes it; if
              it ends, this process or another one takes its place, and the client goes on.

          --profile <NAME>
              Show the client on standard input and output only what this profile has.
              
              Over HTTP a client chooses a profile by its address: `/p/NAME/mcp`.

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Options of every command:
          --config <FILE>
              Read this configuration file instead of `toolgate.toml` in the working folder or the
              user's

          --log-level <LEVEL>
              What to log to standard error
              
              [possible values: debug, info, warn, error, none]

          --workspace <DIR>
              The folder that workspace tools work on

    Examples:
      Serve the client on standard input and output, on the files of one folder:
        toolgate serve --workspace ./project

      Ask one thing and end:
        echo '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' | toolgate serve

      Serve over HTTP, on another port:
        toolgate serve --http --port 4000

      Serve other machines too, to clients with a token:
        toolgate token create laptop
        toolgate serve --http --host 0.0.0.0

      Serve the client by the hub that already runs:
        toolgate serve --attach
    "#);
    insta::assert_snapshot!(plain(&["--version"]), @"
    exit 0
    --- stdout
    toolgate VERSION
    ");
}

#[test]
fn wrong_usage_is_exit_code_2() {
    insta::assert_snapshot!(plain(&["serve", "--port", "80"]), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided:
      --http

    Usage: toolgate serve --http --port <PORT>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(plain(&["serve", "--http", "--port", "eighty"]), @"
    exit 2
    --- stderr
    error: invalid value 'eighty' for '--port <PORT>': invalid digit found in string

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(plain(&["tools", "list", "--log-level", "loud"]), @"
    exit 2
    --- stderr
    error: invalid value 'loud' for '--log-level <LEVEL>'
      [possible values: debug, info, warn, error, none]

    For more information, try '--help'.
    ");
}

#[test]
fn tools_are_listed_by_their_sources() {
    insta::assert_snapshot!(plain(&["tools", "list"]));
}

#[test]
fn a_tool_is_shown_with_its_arguments() {
    insta::assert_snapshot!(plain(&["tools", "show", "workspace_read"]), @r#"
    exit 0
    --- stdout
    workspace_read: Read file
    Read a file of the workspace, in whole or in part.
    (reads, repeatable, local)

    Arguments:
      path  (string, required)
          Path of the file, from the workspace root; `notes.md` and `/workspace/notes.md` are the same.
      encoding  ("text" or "base64", optional, default "text")
          How to return it: as UTF-8 text, or as base64 for images, archives and other binary files.
      offset  (integer, optional, default 0)
          Where to begin, in bytes from the start of the file.
      length  (integer, optional)
          How many bytes to read; all that follow if left out. In text, a character belongs to the range in which its first byte lies, so that ranges one after the other give the whole text.
    "#);
    insta::assert_snapshot!(plain(&["tools", "show", "no_such_tool"]), @"
    exit 2
    --- stderr
    error: unknown tool `no_such_tool`
    hint: call `tools/list` to see what exists
    ");
}

#[test]
fn lists_as_json_have_one_shape() {
    let ended = run(Place::new().toolgate(&["tools", "list", "--json"]), b"");
    let listed: Value = serde_json::from_str(&ended.stdout).unwrap();
    let items = listed["items"].as_array().unwrap();
    assert_eq!((ended.code, items.len(), ended.stderr.as_str()), (0, 73, ""));
    for item in items {
        assert!(
            item["source"].is_string() && item["definition"]["inputSchema"]["type"] == "object",
            "{item}"
        );
        let name = item["definition"]["name"].as_str().unwrap();
        let shown = run(Place::new().toolgate(&["tools", "show", name, "--json"]), b"");
        assert_eq!(serde_json::from_str::<Value>(&shown.stdout).unwrap(), item["definition"]);
    }
}

#[test]
fn a_tool_is_called_with_pairs_or_json() {
    let place = Place::new();
    fs::write(place.path().join("notes.md"), "# Notes\n").unwrap();
    let called = |arguments: &[&str]| {
        let words = [&["tools", "call", "--workspace", "."], arguments].concat();
        shown(&place, &[], &words)
    };
    insta::assert_snapshot!(called(&["workspace_read", "path=notes.md"]), @"
    exit 0
    --- stdout
    # Notes
    ");
    insta::assert_snapshot!(called(&["workspace_read", r#"{"path": "/workspace/notes.md"}"#]), @"
    exit 0
    --- stdout
    # Notes
    ");
    insta::assert_snapshot!(called(&["--json", "workspace_read", "path=notes.md"]), @r##"
    exit 0
    --- stdout
    {
      "content": [
        {
          "type": "text",
          "text": "# Notes\n"
        }
      ],
      "isError": false
    }
    "##);
    insta::assert_snapshot!(called(&["workspace_write", "path=new.md", "content=hello"]), @r#"
    exit 0
    --- stdout
    {
      "path": "new.md",
      "bytes": 5,
      "created": true
    }
    "#);
    assert_eq!(fs::read_to_string(place.path().join("new.md")).unwrap(), "hello");
}

#[test]
fn a_call_that_fails_is_exit_code_1_and_one_that_is_wrong_2() {
    insta::assert_snapshot!(plain(&["tools", "call", "workspace_read", "path=missing.md"]), @"
    exit 1
    --- stderr
    error: `missing.md` does not exist
    hint: call `workspace_list` to see what exists
    ");
    insta::assert_snapshot!(plain(&["tools", "call", "workspace_read", "path=../../etc/passwd"]), @"
    exit 2
    --- stderr
    error: `../../etc/passwd` is not a valid path: `..` is not allowed, not even where it would stay inside
    hint: give a path from the root, without `..`
    ");
    insta::assert_snapshot!(plain(&["tools", "call", "workspace_read", r#"{"path": 5}"#]), @r#"
    exit 2
    --- stderr
    error: `path`: the value is not of type "string"
    "#);
    // A file may well be called so.
    insta::assert_snapshot!(plain(&["tools", "call", "workspace_read", "path=5"]), @"
    exit 1
    --- stderr
    error: `5` does not exist
    hint: call `workspace_list` to see what exists
    ");
    insta::assert_snapshot!(plain(&["tools", "call", "workspace_read", "paht=5"]), @"
    exit 2
    --- stderr
    error: `paht` is unknown (did you mean `path`?); `path` is missing
    ");
    insta::assert_snapshot!(plain(&["tools", "call", "workspace_read", "nonsense"]), @"
    exit 2
    --- stderr
    error: `nonsense` is no `key=value` pair
    hint: write `path=notes.md`, or one JSON object in quotes
    ");
    insta::assert_snapshot!(plain(&["tools", "call", "workspace_read", "{broken"]), @"
    exit 2
    --- stderr
    error: the arguments are not JSON: key must be a string at line 1 column 2
    ");
    insta::assert_snapshot!(plain(&["tools", "call", "no_such_tool"]), @"
    exit 2
    --- stderr
    error: unknown tool `no_such_tool`
    hint: call `tools/list` to see what exists
    ");
    insta::assert_snapshot!(plain(&["tools", "call", "not a name"]), @"
    exit 2
    --- stderr
    error: unknown tool `not a name`
    hint: a tool's name has 1 to 128 characters of A-Z a-z 0-9 _ . / -
    ");
}

#[test]
fn a_mistake_in_the_configuration_is_exit_code_2_and_says_what_was_meant() {
    insta::assert_snapshot!(configured("[http]\nprot = 3000\n"), @"
    exit 2
    --- stderr
    error: PLACE/toolgate.toml:2:1: unknown key `http.prot`
    hint: did you mean `http.port`?
    ");
    insta::assert_snapshot!(configured("[htpp]\nport = 3000\n"), @"
    exit 2
    --- stderr
    error: PLACE/toolgate.toml:1:2: unknown key `htpp`
    hint: did you mean `http`?
    ");
    insta::assert_snapshot!(configured("[http]\nport = \"many\"\n"), @"
    exit 2
    --- stderr
    error: PLACE/toolgate.toml:2:8: `http.port` must be an integer from 0 to 65535, not the string `many`
    ");
    insta::assert_snapshot!(configured("packs = [\"workspaces\"]\n"), @"
    exit 2
    --- stderr
    error: PLACE/toolgate.toml:1:10: `packs[0]` must be one of `workspace`, `memory`, `vault`, `web`, `opencode`, `chat`, `calendar`, `github`, `script`, `browser`, not `workspaces`
    hint: did you mean `workspace`?
    ");
    insta::assert_snapshot!(configured("[http\nport = 1\n"), @"
    exit 2
    --- stderr
    error: PLACE/toolgate.toml:1:6: unclosed table, expected `]`
      |
    1 | [http
      |      ^
    ");
    insta::assert_snapshot!(plain(&["tools", "list", "--config", "missing.toml"]), @"
    exit 2
    --- stderr
    error: flag `--config`: there is no file `missing.toml`
    hint: see whether the path is right; without one, `toolgate.toml` of the working folder is read
    ");
}

#[test]
fn a_mistake_in_the_environment_names_the_variable() {
    let list = |variable| shown(&Place::new(), &[variable], &["tools", "list"]);
    insta::assert_snapshot!(list(("MCP_HTTP_PORT", "many")), @"
    exit 2
    --- stderr
    error: variable `MCP_HTTP_PORT`: `http.port` must be an integer from 0 to 65535, not the string `many`
    ");
    insta::assert_snapshot!(list(("TOOLGATE_LOG_LEVEL", "loud")), @"
    exit 2
    --- stderr
    error: variable `TOOLGATE_LOG_LEVEL`: `log.level` must be one of `debug`, `info`, `warn`, `error`, `none`, not `loud`
    ");
    insta::assert_snapshot!(list(("TOOLGATE_PACKS", "workspace,nothing")), @"
    exit 2
    --- stderr
    error: variable `TOOLGATE_PACKS`: `packs[1]` must be one of `workspace`, `memory`, `vault`, `web`, `opencode`, `chat`, `calendar`, `github`, `script`, `browser`, not `nothing`
    ");
}

#[test]
fn flags_win_over_variables_and_those_over_the_file() {
    #[track_caller]
    fn check(variables: &[(&str, &str)], arguments: &[&str], logs: bool) {
        let place = Place::configured("[log]\nlevel = \"error\"\n");
        let said =
            shown(&place, variables, &[&["--fixtures", "tools", "call", "test_echo"], arguments].concat());
        assert_eq!(said.contains("DEBUG"), logs, "{said}");
    }
    check(&[], &[], false);
    check(&[("TOOLGATE_LOG_LEVEL", "debug")], &[], true);
    check(&[("OPENCODE_LOG_LEVEL", "debug")], &[], true);
    check(&[("OPENCODE_LOG_LEVEL", "debug"), ("TOOLGATE_LOG_LEVEL", "none")], &[], false);
    check(&[("TOOLGATE_LOG_LEVEL", "debug")], &["--log-level", "none"], false);
    check(&[], &["--log-level", "debug"], true);
}

#[test]
fn logs_are_text_or_json_with_or_without_the_time() {
    #[track_caller]
    fn check(toml: &str, is_right: impl Fn(&str) -> bool) {
        let place = Place::configured(&format!("[log]\nlevel = \"debug\"\n{toml}"));
        let ended = run(place.toolgate(&["--fixtures", "tools", "call", "test_panic"]), b"");
        assert_eq!(ended.code, 70, "{ended:?}");
        let logged: Vec<&str> = ended.stderr.lines().filter(|line| line.contains("panicked")).collect();
        assert!(!logged.is_empty() && logged.iter().all(|line| is_right(line)), "{toml}: {}", ended.stderr);
    }
    let is_dated = |text: &str| text.starts_with("20") && text.contains('T');
    let json = |line: &str| serde_json::from_str::<Value>(line).unwrap_or_default();
    check("timestamps = false\n", |line| line.trim_start().starts_with("ERROR"));
    check("timestamps = true\n", |line| is_dated(line) && line.contains("ERROR"));
    check("format = \"json\"\ntimestamps = false\n", |line| {
        json(line)["level"] == "ERROR" && json(line)["timestamp"].is_null()
    });
    check("format = \"json\"\ntimestamps = true\n", |line| {
        json(line)["level"] == "ERROR" && json(line)["timestamp"].as_str().is_some_and(is_dated)
    });
}

#[test]
fn arguments_never_reach_the_log_at_info() {
    let place = Place::configured("[log]\nlevel = \"info\"\n");
    let line = call(1, "workspace_read", json!({"path": "my-secret-name"}));
    let ended = run(place.toolgate(&["serve"]), line.as_bytes());
    assert!(ended.stdout.contains("my-secret-name") && !ended.stderr.contains("my-secret-name"), "{ended:?}");
}
