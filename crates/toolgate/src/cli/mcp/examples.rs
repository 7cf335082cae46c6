//! The examples below the help of `toolgate mcp`.

pub(in crate::cli) const MCP: &str = "\
Examples:
  Add a server by its short name, and see that it works:
    toolgate mcp add filesystem ./project
    toolgate mcp test filesystem

  Use what your AI clients use already:
    toolgate mcp import
    toolgate mcp import --write --secrets

  See how all of them stand:
    toolgate mcp list";

pub(super) const LIST: &str = "\
Examples:
    toolgate mcp list
    toolgate mcp list --json";

pub(super) const ADD: &str = "\
Examples:
  By a short name, with what it works on:
    toolgate mcp add filesystem ./project
    toolgate mcp add work --known git ./project

  A program, with arguments, variables and a secret:
    toolgate mcp add notes -- npx -y notes-server --readonly
    toolgate mcp add notes --command node --args server.js --env 'KEY={secret:NOTES_KEY}'

  A server that runs elsewhere:
    toolgate mcp add docs --url https://docs.example/mcp --header 'X-Key={secret:DOCS}'
    toolgate mcp add issues --url https://issues.example/mcp --oauth";

pub(super) const KNOWN: &str = "\
Examples:
    toolgate mcp known
    toolgate mcp known --json";

pub(super) const REMOVE: &str = "\
Examples:
    toolgate mcp remove filesystem";

pub(super) const TEST: &str = "\
Examples:
    toolgate mcp test filesystem
    toolgate mcp test filesystem --json";

pub(super) const STATUS: &str = "\
Examples:
    toolgate mcp status
    toolgate mcp status filesystem --json";

pub(super) const RELOAD: &str = "\
Examples:
    toolgate mcp reload";

pub(super) const SWITCH: &str = "\
Examples:
  Switch a server off for a while:
    toolgate mcp disable filesystem
    toolgate mcp enable filesystem";

pub(super) const RESTART: &str = "\
Examples:
    toolgate mcp restart filesystem";

pub(super) const AUTH: &str = "\
Examples:
    toolgate mcp auth github

  On a machine without a browser:
    toolgate mcp auth github --no-browser

  For one principal, where `mcp.github.oauth.per_principal` is set:
    toolgate mcp auth github --principal alice";

pub(super) const LOGOUT: &str = "\
Examples:
    toolgate mcp logout github";

pub(super) const LOGS: &str = "\
Examples:
    toolgate mcp logs filesystem
    toolgate mcp logs filesystem --follow";

pub(super) const IMPORT: &str = "\
Examples:
  See what there is, then import it with its secrets encrypted:
    toolgate mcp import
    toolgate mcp import --write --secrets

  One server of one client, which then has it from Toolgate alone:
    toolgate mcp import cursor --only github --write --remove-from-client

  Take that back:
    toolgate mcp import --undo";
