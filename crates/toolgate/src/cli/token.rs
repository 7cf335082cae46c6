//! `toolgate token`, as it is typed.

use std::time::Duration;

use clap::Subcommand;

use super::{examples, span};

#[derive(Debug, Subcommand)]
pub(crate) enum Token {
    /// Make a token by which a client is a principal over HTTP; it is shown this once.
    ///
    /// Only its hash is kept. The client sends it as `Authorization: Bearer TOKEN`.
    #[command(after_help = examples::TOKEN)]
    Create {
        /// Who the client is, as rules and records name it.
        principal: String,
        /// A role it has; may be given several times.
        #[arg(long = "role", value_name = "ROLE")]
        roles: Vec<String>,
        /// How long it is valid, such as `12h`, `30d` or `never`.
        #[arg(long, value_name = "TIME", default_value = "90d", value_parser = span::read)]
        expires: span::Span,
        /// What it is for, for whoever lists the tokens.
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List all tokens: who each stands for, until when, and when it was used last.
    #[command(after_help = examples::TOKEN)]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Make a token worthless at once; open connections of it end.
    #[command(after_help = examples::TOKEN)]
    Revoke {
        /// Its id, as `toolgate token list` shows it.
        id: String,
    },
}

impl span::Span {
    /// The time, unless it is without end.
    pub(crate) fn limited(self) -> Option<Duration> {
        self.0
    }
}
