//! `toolgate admin`, as it is typed.

use clap::Subcommand;
use toolgate_admin::Role;

use super::examples;

#[derive(Debug, Subcommand)]
pub(crate) enum Admin {
    /// Make a link by which someone sets up an account on the admin page, or chooses a new password.
    ///
    /// It is good for one use within a day, and shown this once.
    #[command(after_help = examples::ADMIN)]
    Link {
        /// The account it is for; without one, whoever uses the link chooses a name.
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
        /// What a new account may do: `viewer`, `approver` or `admin`.
        #[arg(long, value_name = "ROLE", default_value = "admin", value_parser = role)]
        role: Role,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the accounts: what each may do, and who logged in when.
    #[command(after_help = examples::ADMIN)]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Remove an account; its logins end at once.
    #[command(after_help = examples::ADMIN)]
    Remove {
        /// Its name.
        account: String,
    },
}

fn role(text: &str) -> Result<Role, String> {
    text.parse()
}
