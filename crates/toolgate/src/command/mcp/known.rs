//! `toolgate mcp known`: servers that can be added by a short name.

mod list;

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::{Map, Value, json};
use toolgate_core::{Error, Kind};
use toolgate_host::terminal;

pub(super) use list::KNOWN;

use super::told::print;
use crate::command::table::fit;

/// A server that many people use.
pub(super) struct Known {
    /// Its short name.
    pub(super) name: &'static str,
    /// What it is for: a fragment.
    pub(super) about: &'static str,
    reach: Reach,
    takes: Takes,
    needs: &'static [Need],
}

/// How it is reached.
enum Reach {
    /// A package of npm, run by `npx`.
    Npm(&'static [&'static str]),
    /// A package of PyPI, run by `uvx`.
    PyPi(&'static [&'static str]),
    /// A server elsewhere, open to all or to who brings a secret.
    Address(&'static str),
    /// A server elsewhere to which a person signs in.
    SignIn(&'static str),
}

/// What it has to be told to work on.
enum Takes {
    Nothing,
    /// At least one of these, at the end of its arguments.
    Some(&'static str),
    /// One of these or none, after this option.
    Maybe(&'static str, &'static str),
    /// One of these, after this option.
    One(&'static str, &'static str),
}

/// A secret that it cannot work without.
struct Need {
    secret: &'static str,
    /// The variable or header that it goes into.
    goes: &'static str,
    /// What stands around it there, with `*` in its place.
    form: &'static str,
    what: &'static str,
}

impl Known {
    /// The known server of this name.
    pub(super) fn find(name: &str) -> Result<&'static Self, Error> {
        KNOWN.iter().find(|known| known.name == name).ok_or_else(|| {
            let error =
                Error::new(Kind::InvalidInput, format!("`{name}` is no server that is known by name"));
            let how = "say how it is reached: `--url URL`, or `-- COMMAND ARGUMENTS`";
            match toolgate_config::nearest(name, KNOWN.iter().map(|known| known.name)) {
                Some(near) => error.hint(format!("did you mean `{near}`? otherwise {how}")),
                None => error.hint(format!("{how}; `toolgate mcp known` lists those that need nothing else")),
            }
        })
    }

    /// How it is typed: its name, and what it takes.
    fn usage(&self) -> String {
        match self.takes {
            Takes::Nothing => self.name.to_owned(),
            Takes::Some(what) => format!("{} {what}…", self.name),
            Takes::Maybe(_, what) => format!("{} [{what}]", self.name),
            Takes::One(_, what) => format!("{} {what}", self.name),
        }
    }

    /// Its table, for what it is to work on.
    pub(super) fn table(&self, values: &[String]) -> Result<Map<String, Value>, Error> {
        let mut table = Map::new();
        match self.reach {
            Reach::Npm(package) => self.program(&mut table, "npx", &[&["-y"], package].concat(), values)?,
            Reach::PyPi(package) => self.program(&mut table, "uvx", package, values)?,
            Reach::Address(url) | Reach::SignIn(url) => {
                self.arguments(values)?;
                table.insert("url".into(), url.into());
            }
        }
        let filled = |need: &Need| {
            let reference = need.form.replace('*', &format!("{{secret:{}}}", need.secret));
            (need.goes.to_owned(), Value::from(reference))
        };
        let needs: Map<String, Value> = self.needs.iter().map(filled).collect();
        if !needs.is_empty() {
            let key = if table.contains_key("url") { "headers" } else { "env" };
            table.insert(key.into(), needs.into());
        }
        Ok(table)
    }

    fn program(
        &self,
        table: &mut Map<String, Value>,
        command: &str,
        package: &[&str],
        values: &[String],
    ) -> Result<(), Error> {
        let given = self.arguments(values)?;
        let args: Vec<&str> = package.iter().copied().chain(given.iter().map(String::as_str)).collect();
        table.insert("command".into(), command.into());
        table.insert("args".into(), json!(args));
        Ok(())
    }

    /// What it is to work on, as arguments.
    fn arguments(&self, values: &[String]) -> Result<Vec<String>, Error> {
        let wrong = |message: String| {
            let hint = format!("write `toolgate mcp add {}`", self.usage());
            Err(Error::new(Kind::InvalidInput, message).hint(hint))
        };
        let name = self.name;
        match (&self.takes, values) {
            (Takes::Nothing | Takes::Maybe(..), []) => Ok(Vec::new()),
            (Takes::Nothing, [first, ..]) => wrong(format!("`{name}` takes nothing, and `{first}` is left")),
            (Takes::Some(what), []) => wrong(format!("`{name}` needs a {what}")),
            (Takes::One(_, what), []) => wrong(format!("`{name}` needs a {what}")),
            (Takes::Some(_), values) => values.iter().map(|value| absolute(value)).collect(),
            (Takes::Maybe(option, _) | Takes::One(option, _), [value]) => {
                Ok(vec![(*option).to_owned(), absolute(value)?])
            }
            (Takes::Maybe(..) | Takes::One(..), [_, second, ..]) => {
                wrong(format!("`{name}` takes one of them, and `{second}` is left"))
            }
        }
    }

    /// Whether a person has to sign in.
    pub(super) fn signs_in(&self) -> bool {
        matches!(self.reach, Reach::SignIn(_))
    }

    /// The secrets that it needs, each with what it is.
    pub(super) fn secrets(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.needs.iter().map(|need| (need.secret, need.what))
    }
}

/// The hub may run in another folder than the command.
fn absolute(path: &str) -> Result<String, Error> {
    let wrong = |_| Error::new(Kind::InvalidInput, format!("`{path}` is no path"));
    Ok(std::path::absolute(path).map_err(wrong)?.to_string_lossy().into_owned())
}

pub(super) fn run(as_json: bool) -> anyhow::Result<ExitCode> {
    if as_json {
        let item = |known: &Known| {
            let needs: Vec<Value> =
                known.secrets().map(|(secret, what)| json!({"secret": secret, "what": what})).collect();
            let sign_in = known.signs_in();
            json!({"name": known.name, "usage": known.usage(), "about": known.about, "needs": needs, "signIn": sign_in})
        };
        print(&json!({"items": KNOWN.iter().map(item).collect::<Vec<_>>()}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = std::io::stdout().lock();
    let columns = terminal::columns(&out).unwrap_or(usize::MAX);
    let width = KNOWN.iter().map(|known| known.usage().chars().count()).max().unwrap_or_default();
    for known in KNOWN {
        let mut about = known.about.to_owned();
        for (secret, _) in known.secrets() {
            about += &format!("; needs {secret}");
        }
        if known.signs_in() {
            about += "; you sign in";
        }
        writeln!(out, "{}", fit(&format!("{:width$}  {about}", known.usage()), columns))?;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use toolgate_upstream::UpstreamConfig;

    use super::*;

    #[test]
    fn every_known_server_is_a_sound_table() {
        for known in KNOWN {
            let values: &[String] = match known.takes {
                Takes::Nothing | Takes::Maybe(..) => &[],
                Takes::Some(_) | Takes::One(..) => &["/tmp".to_owned()],
            };
            let table = known.table(values).unwrap();
            let read: UpstreamConfig = serde_json::from_value(table.into()).unwrap();
            let plan = toolgate_upstream::Plan::new(known.name, &read, |text| {
                Ok(toolgate_host::Secret::new(text.to_owned()))
            });
            assert!(plan.is_ok(), "{}", known.name);
            assert!(known.usage().len() + 2 + known.about.len() <= 72, "{} is too long", known.name);
            for need in known.needs {
                assert!(need.secret.parse::<toolgate_secrets::SecretName>().is_ok(), "{}", need.secret);
                assert!(need.form.contains('*'), "{}", known.name);
            }
        }
        assert!(KNOWN.is_sorted_by_key(|known| known.name));
    }

    #[test]
    fn what_a_known_server_works_on_becomes_arguments() {
        #[track_caller]
        fn check(name: &str, values: &[&str], expect: Result<Value, &str>) {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            let table = Known::find(name).and_then(|known| known.table(&values));
            let told = table.map(|table| table["args"].clone()).map_err(|error| error.to_string());
            assert_eq!(told, expect.map_err(Into::into), "{name}");
        }
        let package = "@modelcontextprotocol/server-filesystem";
        check("filesystem", &["/a", "/b"], Ok(json!(["-y", package, "/a", "/b"])));
        check("filesystem", &[], Err("`filesystem` needs a PATH"));
        check("git", &[], Ok(json!(["mcp-server-git"])));
        check("git", &["/r"], Ok(json!(["mcp-server-git", "--repository", "/r"])));
        check("git", &["/r", "/s"], Err("`git` takes one of them, and `/s` is left"));
        check("fetch", &["x"], Err("`fetch` takes nothing, and `x` is left"));
        check("filesytem", &[], Err("`filesytem` is no server that is known by name"));
        let error = Known::find("filesytem").err().unwrap();
        assert!(error.next_step().unwrap().starts_with("did you mean `filesystem`?"));
    }
}
