//! The examples below each command's help. A line that is indented by four is a command line, and a test parses it.

pub(super) const TOOLGATE: &str = "\
Examples:
  See what an AI client would see, and call a tool:
    toolgate tools list
    toolgate tools call workspace_list

  Serve a client that starts the program itself, or any number of them over HTTP:
    toolgate serve
    toolgate serve --http

  Find out what is missing:
    toolgate doctor";

pub(super) const SERVE: &str = "\
Examples:
  Serve the client on standard input and output, on the files of one folder:
    toolgate serve --workspace ./project

  Ask one thing and end:
    echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}' | toolgate serve

  Serve over HTTP, on another port:
    toolgate serve --http --port 4000

  Serve other machines too, to clients with a token:
    toolgate token create laptop
    toolgate serve --http --host 0.0.0.0

  Serve the client by the hub that already runs:
    toolgate serve --attach";

pub(super) const STATUS: &str = "\
Examples:
  See who is connected, and what runs:
    toolgate status
    toolgate status --json";

pub(super) const SERVICE: &str = "\
Examples:
  See what would be installed, then install it:
    toolgate service install --print
    toolgate service install

  See whether it runs, and take it away again:
    toolgate service status
    toolgate service remove";

pub(super) const APPROVALS: &str = "\
Examples:
  See what waits, look at one, and answer it:
    toolgate approvals list
    toolgate approvals show 3fa9c2
    toolgate approvals approve 3fa9c2
    toolgate approvals reject 3fa9c2 --reason 'not on this branch'

  Never be asked about this caller and target again, and change your mind:
    toolgate approvals approve 3fa9c2 --always
    toolgate approvals remembered
    toolgate approvals forget 91b0aa42d7c1";

pub(super) const ADMIN: &str = "\
Examples:
  Make a link to set up the first account, then open it in a browser:
    toolgate admin link

  Let someone answer calls that wait, and nothing else:
    toolgate admin link --account ada --role approver

  See who has an account, and take one away:
    toolgate admin list
    toolgate admin remove ada";

pub(super) const POLICY: &str = "\
Examples:
  See which rule decides, and why:
    toolgate policy explain local workspace_write path=notes.md
    toolgate policy explain alice resource:file:///notes.md --role ops

  Check the whole policy against what is expected of it:
    toolgate policy test policy-tests.toml";

pub(super) const TOKEN: &str = "\
Examples:
  Make a token for a build server, and take it back:
    toolgate token create ci --role builder --expires 30d
    toolgate token list
    toolgate token revoke k7q2mz";

pub(super) const SCRIPT: &str = "\
Examples:
  See which scripts there are, look at one, and approve exactly what you saw:
    toolgate script list
    toolgate script show report
    toolgate script approve report

  See what has changed since it was approved, and say no:
    toolgate script diff report
    toolgate script reject report --reason 'it asks a host that we do not know'

  Run it as the person at this machine, or one of its functions:
    toolgate script run report
    toolgate script run report --function summary days=7

  Put a new script where Toolgate looks for it:
    cp report.star \"$(toolgate script dir)\"";

pub(super) const SECRET: &str = "\
Examples:
  Keep a secret: from a prompt, or from another program:
    toolgate secret set GITHUB_TOKEN
    gh auth token | toolgate secret set GITHUB_TOKEN

  See what there is, and remove it:
    toolgate secret list
    toolgate secret remove GITHUB_TOKEN";

pub(super) const AUDIT: &str = "\
Examples:
  See what was refused today, and what one caller did to files:
    toolgate audit search --since 1d --outcome denied
    toolgate audit search --principal ci --target 'tool:workspace_*'

  Keep a copy elsewhere, and check that nobody changed anything:
    toolgate audit export --since 7d
    toolgate audit verify
    toolgate audit heads
    toolgate audit verify --heads heads.json";

pub(super) const PINS: &str = "\
Examples:
  See what is held, what changed, and accept it:
    toolgate pins list
    toolgate pins show github create_issue
    toolgate pins accept github create_issue";

pub(super) const TOOLS: &str = "\
Examples:
  toolgate tools list
  toolgate tools show workspace_write
  toolgate tools call workspace_write path=notes.md content='remember the milk'";

pub(super) const TOOLS_LIST: &str = "\
Examples:
  List the tools by source, then with what each does to the world:
    toolgate tools list
    toolgate tools list --all

  Get their definitions, as clients get them:
    toolgate tools list --json | jq '.items[].definition.name'";

pub(super) const TOOLS_SHOW: &str = "\
Examples:
  See what a tool takes, in words or as JSON Schema:
    toolgate tools show workspace_read
    toolgate tools show workspace_read --json | jq .inputSchema";

pub(super) const TOOLS_CALL: &str = "\
Examples:
  Give arguments as pairs, or as one JSON object:
    toolgate tools call workspace_read path=notes.md
    toolgate tools call workspace_read '{\"path\": \"notes.md\"}'

  Text may look like JSON; lists and objects are written as JSON:
    toolgate tools call workspace_write path=year.txt content=2026
    toolgate tools call vault_search query=greenhouse tags='[\"garden\"]'

  Get the whole result, as a client gets it:
    toolgate tools call workspace_list --json";

pub(super) const SETUP: &str = "\
Examples:
  See which clients are there, then what would change for one of them:
    toolgate setup
    toolgate setup cursor

  Make the change, and take it back:
    toolgate setup cursor --write
    toolgate setup cursor --undo

  Let it work on one folder, with few tools:
    toolgate setup claude-code --workspace ./project --lean --write

  Connect to a Toolgate that runs already:
    toolgate setup vscode --http http://127.0.0.1:3000/mcp --write";

pub(super) const CONFIG: &str = "\
Examples:
  toolgate config show
  toolgate config set http.port 4000
  toolgate config check";

pub(super) const CONFIG_SHOW: &str = "\
Examples:
  See everything, one table, or one key:
    toolgate config show
    toolgate config show http
    toolgate config show http.port

  See in a script what somebody has set:
    toolgate config show --json | jq '.items[] | select(.origin.kind != \"default\")'";

pub(super) const CONFIG_INIT: &str = "\
Examples:
  Begin a configuration here, or the one that holds everywhere:
    toolgate config init
    toolgate config init ~/.config/toolgate/toolgate.toml";

pub(super) const CONFIG_CHECK: &str = "\
Examples:
  Check all that is configured, or a file before it is put in place:
    toolgate config check
    toolgate config check team.toml";

pub(super) const CONFIG_SET: &str = "\
Examples:
  Set a number, a word, a list:
    toolgate config set http.port 4000
    toolgate config set log.level debug
    toolgate config set packs workspace,memory

  Change another file:
    toolgate config set --config team.toml http.cors_origins https://app.example.com";

pub(super) const CONFIG_UNSET: &str = "\
Examples:
  Let the default hold again:
    toolgate config unset http.port";

pub(super) const CONFIG_SCHEMA: &str = "\
Examples:
  Give an editor something to complete from:
    toolgate config schema > toolgate.schema.json";

pub(super) const DOCTOR: &str = "\
Examples:
  Look at everything:
    toolgate doctor

  Look with another configuration file:
    toolgate doctor --config team.toml

  See in a script what is broken:
    toolgate doctor --json | jq '.items[] | select(.state == \"broken\")'";

pub(super) const CHECK: &str = "\
Examples:
  Check a program, a server elsewhere, or one of the configuration:
    toolgate check -- npx -y @modelcontextprotocol/server-everything
    toolgate check https://mcp.example.com/mcp --header 'Authorization: Bearer TOKEN'
    toolgate check filesystem

  Fail a build on warnings too, and keep a report for the build server:
    toolgate check --strict --junit report.xml -- node server.js

  See what is looked at, and in a script what was found:
    toolgate check --list-rules
    toolgate check filesystem --json | jq '.items[] | .rule'";

pub(super) const COMPLETIONS: &str = "\
Examples:
  For bash, from the next shell on:
    toolgate completions bash > ~/.local/share/bash-completion/completions/toolgate

  For zsh, in a folder of its `fpath`:
    toolgate completions zsh > ~/.zfunc/_toolgate

  For fish:
    toolgate completions fish > ~/.config/fish/completions/toolgate.fish";

pub(super) const MAN: &str = "\
Examples:
  Read the page:
    toolgate man | man -l -

  Install the pages of all commands for yourself:
    toolgate man --dir ~/.local/share/man/man1";

#[cfg(test)]
mod tests;
