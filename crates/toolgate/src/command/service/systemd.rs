//! The user's systemd, by its `systemctl`.

use std::path::PathBuf;

use toolgate_config::{Environment, env};
use toolgate_host::{Program, find_program};

use crate::command::table::one_line;

/// The user's systemd.
pub(super) struct Systemd {
    systemctl: PathBuf,
    variables: Vec<(&'static str, String)>,
}

impl Systemd {
    /// Finds `systemctl`; says why not in words for people.
    pub(super) fn find(environment: &Environment) -> Result<Self, String> {
        let search = environment.get(env::PATH).unwrap_or("/usr/bin:/bin");
        let systemctl = find_program(search, "systemctl").ok_or("there is no `systemctl`")?;
        let names = [env::HOME, env::PATH, env::XDG_RUNTIME_DIR, env::DBUS_SESSION_BUS_ADDRESS];
        let variables =
            names.into_iter().filter_map(|name| Some((name, environment.get(name)?.to_owned()))).collect();
        Ok(Self { systemctl, variables })
    }

    /// Has it do something.
    pub(super) async fn run(&self, arguments: &[&str]) -> Result<(), String> {
        let finished = self.program(arguments).run().await.map_err(|error| error.to_string())?;
        if finished.code == Some(0) {
            return Ok(());
        }
        let why = one_line(&finished.stderr);
        Err(if why.is_empty() { format!("`systemctl {}` failed", arguments.join(" ")) } else { why })
    }

    /// Asks it something that it answers with one word.
    pub(super) async fn word(&self, verb: &str, unit: &str) -> String {
        let said = self.program(&[verb, unit]).run().await.map(|finished| one_line(&finished.stdout));
        said.ok().filter(|word| !word.is_empty()).unwrap_or_else(|| "unknown".into())
    }

    fn program(&self, arguments: &[&str]) -> Program {
        let program = Program::new(&self.systemctl).arguments(["--user", "--no-pager"]).arguments(arguments);
        self.variables.iter().fold(program, |program, (name, value)| program.variable(*name, value))
    }
}
