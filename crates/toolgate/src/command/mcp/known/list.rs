//! The list of known servers: names of packages, addresses and variables, as their makers give them.

use super::{Known, Need, Reach, Takes};

/// A known server without anything but its reach.
const fn plain(name: &'static str, about: &'static str, reach: Reach) -> Known {
    Known { name, about, reach, takes: Takes::Nothing, needs: &[] }
}

/// A secret in a variable of the same name.
const fn variable(secret: &'static str, what: &'static str) -> Need {
    Need { secret, goes: secret, form: "*", what }
}

/// All of them, by name.
pub(in crate::command::mcp) const KNOWN: &[Known] = &[
    plain("aws-docs", "documentation of AWS", Reach::PyPi(&["awslabs.aws-documentation-mcp-server@latest"])),
    plain("azure", "Azure, as its command line", Reach::Npm(&["@azure/mcp@latest", "server", "start"])),
    Known {
        needs: &[variable("BRAVE_API_KEY", "a key of the Brave Search API")],
        ..plain("brave-search", "search the web", Reach::Npm(&["@brave/brave-search-mcp-server"]))
    },
    plain("chrome-devtools", "drive and inspect Chrome", Reach::Npm(&["chrome-devtools-mcp@latest"])),
    plain("context7", "documentation of libraries", Reach::Address("https://mcp.context7.com/mcp")),
    plain("deepwiki", "ask about GitHub repositories", Reach::Address("https://mcp.deepwiki.com/mcp")),
    plain("duckduckgo", "search the web without a key", Reach::PyPi(&["duckduckgo-mcp-server"])),
    plain(
        "everything",
        "the reference server, for tests of clients",
        Reach::Npm(&["@modelcontextprotocol/server-everything"]),
    ),
    plain("exa", "search the web and code", Reach::Address("https://mcp.exa.ai/mcp")),
    plain("fetch", "read web pages as text", Reach::PyPi(&["mcp-server-fetch"])),
    Known {
        takes: Takes::Some("PATH"),
        ..plain(
            "filesystem",
            "read and write files below these folders",
            Reach::Npm(&["@modelcontextprotocol/server-filesystem"]),
        )
    },
    Known {
        needs: &[variable("FIRECRAWL_API_KEY", "a key of Firecrawl")],
        ..plain("firecrawl", "read and crawl web sites", Reach::Npm(&["firecrawl-mcp"]))
    },
    Known {
        takes: Takes::Maybe("--repository", "REPO"),
        ..plain("git", "read and change a repository", Reach::PyPi(&["mcp-server-git"]))
    },
    Known {
        needs: &[Need {
            secret: "GITHUB_TOKEN",
            goes: "Authorization",
            form: "Bearer *",
            what: "a personal access token of GitHub",
        }],
        ..plain("github", "GitHub, by GitHub", Reach::Address("https://api.githubcopilot.com/mcp/"))
    },
    plain("kubernetes", "clusters of the current context", Reach::Npm(&["kubernetes-mcp-server@latest"])),
    plain("linear", "issues and projects of Linear", Reach::SignIn("https://mcp.linear.app/mcp")),
    plain("memory", "a graph of what is known", Reach::Npm(&["@modelcontextprotocol/server-memory"])),
    Known {
        needs: &[variable("MDB_MCP_CONNECTION_STRING", "the address of the database, with its password")],
        ..plain("mongodb", "query MongoDB, read only", Reach::Npm(&["mongodb-mcp-server", "--readOnly"]))
    },
    plain("notion", "pages and databases of Notion", Reach::SignIn("https://mcp.notion.com/mcp")),
    plain("playwright", "drive a browser", Reach::Npm(&["@playwright/mcp@latest"])),
    Known {
        needs: &[variable("DATABASE_URI", "the address of the database, with its password")],
        ..plain("postgres", "query PostgreSQL", Reach::PyPi(&["postgres-mcp", "--access-mode=restricted"]))
    },
    plain("sentry", "errors and traces of Sentry", Reach::SignIn("https://mcp.sentry.dev/mcp")),
    plain(
        "sequential-thinking",
        "think in steps that can be revised",
        Reach::Npm(&["@modelcontextprotocol/server-sequential-thinking"]),
    ),
    Known {
        needs: &[variable("SLACK_MCP_XOXP_TOKEN", "a user token of Slack")],
        ..plain(
            "slack",
            "channels and messages of Slack",
            Reach::Npm(&["slack-mcp-server@latest", "--transport", "stdio"]),
        )
    },
    Known {
        takes: Takes::One("--db-path", "PATH"),
        ..plain("sqlite", "query and change a database file", Reach::PyPi(&["mcp-server-sqlite"]))
    },
    plain("stripe", "payments and customers of Stripe", Reach::SignIn("https://mcp.stripe.com")),
    plain("supabase", "databases and projects of Supabase", Reach::SignIn("https://mcp.supabase.com/mcp")),
    Known {
        needs: &[variable("TAVILY_API_KEY", "a key of Tavily")],
        ..plain("tavily", "search and read the web", Reach::Npm(&["tavily-mcp"]))
    },
    plain("time", "the time, in any zone", Reach::PyPi(&["mcp-server-time"])),
];
