//! `toolgate token`: the tokens by which clients are known over HTTP.

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::json;
use toolgate_core::iso8601;
use toolgate_host::{Clock, Secret};
use toolgate_identity::{NewToken, TokenInfo, Tokens};

use crate::cli::Token;
use crate::command::by_hand::{recorded, recorded_if_possible};
use crate::command::table::one_line;
use crate::parts::Parts;

/// Runs one of the subcommands.
pub(crate) async fn run(parts: &Parts, token: &Token) -> anyhow::Result<ExitCode> {
    let tokens = Tokens::new(parts.database.clone(), Clock::system());
    match token {
        Token::Create { principal, roles, expires, note, json } => {
            let new = NewToken {
                principal: principal.parse()?,
                roles: roles.iter().map(|role| role.parse()).collect::<Result<_, _>>()?,
                expires_in: expires.limited(),
                note: note.clone().unwrap_or_default(),
                created_by: toolgate_host::user_name(),
            };
            let made = recorded(&parts.audit, "token create", async {
                let (secret, info) = tokens.create(new).await?;
                let about = format!("{} {}", info.principal, info.id);
                Ok(((secret, info), about))
            });
            let (secret, info) = made.await?;
            created(&secret, &info, *json)?;
        }
        Token::List { json } => list(&tokens.list().await?, *json)?,
        Token::Revoke { id } => {
            let revoked = recorded_if_possible(&parts.audit, "token revoke", async {
                let token = tokens.revoke(id).await?;
                // Whoever has the whole token at hand may have named it by that; this is its id.
                let about = token.id.clone();
                Ok((token, about))
            });
            let token = revoked.await?;
            let line = format!("revoked `{}` of `{}`", token.id, token.principal);
            writeln!(std::io::stderr().lock(), "{}", one_line(&line))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn created(secret: &Secret, info: &TokenInfo, as_json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if as_json {
        let value = json!({"token": secret.expose(), "info": info});
        writeln!(out, "{}", serde_json::to_string_pretty(&value)?)?;
        return Ok(());
    }
    writeln!(out, "{}", secret.expose())?;
    drop(out);
    let until =
        info.expires_ms.map_or_else(|| "until it is revoked".into(), |ms| format!("until {}", iso8601(ms)));
    let mut talk = std::io::stderr().lock();
    writeln!(talk, "token `{}` of `{}`, valid {until}", info.id, info.principal)?;
    writeln!(talk, "It is shown this once. A client sends it as `Authorization: Bearer TOKEN`.")?;
    Ok(())
}

fn list(all: &[TokenInfo], as_json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", serde_json::to_string_pretty(&json!({"items": all}))?)?;
        return Ok(());
    }
    if all.is_empty() {
        writeln!(std::io::stderr().lock(), "there are no tokens; `toolgate token create NAME` makes one")?;
    }
    for token in all {
        let roles =
            if token.roles.is_empty() { String::new() } else { format!(" ({})", token.roles.join(", ")) };
        let until = token.expires_ms.map_or_else(|| "no end".into(), |ms| format!("until {}", iso8601(ms)));
        let used =
            token.last_used_ms.map_or_else(|| "never used".into(), |ms| format!("used {}", iso8601(ms)));
        let line = format!(
            "{}  {}  {}{roles}  {until}  {used}  {}",
            token.id, token.state, token.principal, token.note
        );
        writeln!(out, "{}", one_line(&line))?;
    }
    Ok(())
}
