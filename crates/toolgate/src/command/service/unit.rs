//! The unit of the service: its text, and its file, which is never written over another's.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

/// How our units begin.
const MARK: &str = "# Written by `toolgate service install`, which may write it again.";

/// What a unit is made of.
pub(super) struct Unit {
    /// The program to run.
    pub(super) program: PathBuf,
    /// The configuration file that it reads now.
    pub(super) config: Option<PathBuf>,
    /// What it needs of the environment of whoever installs it.
    pub(super) variables: Vec<(String, String)>,
}

impl Unit {
    /// The text of the unit.
    ///
    /// What would keep the tools from their work is left out on purpose: a private `/tmp`, a read-only home, no new
    /// privileges (a browser may need its sandbox helper, other servers whatever they need).
    pub(super) fn text(&self) -> String {
        let mut command = quoted(&self.program.to_string_lossy());
        if let Some(config) = &self.config {
            command.push_str(" --config ");
            command.push_str(&quoted(&config.to_string_lossy()));
        }
        let variables: String = self
            .variables
            .iter()
            .map(|(name, value)| format!("Environment={}\n", quoted_setting(&format!("{name}={value}"))))
            .collect();
        format!(
            "{MARK}\n\
             [Unit]\n\
             Description=Toolgate, one gate between AI agents and everything they may use\n\
             \n\
             [Service]\n\
             Type=exec\n\
             ExecStart={command} serve --http\n\
             {variables}\
             Restart=on-failure\n\
             RestartSec=2\n\
             RestartPreventExitStatus=2\n\
             TimeoutStopSec=20\n\
             KillMode=mixed\n\
             OOMPolicy=continue\n\
             LimitCORE=0\n\
             \n\
             [Install]\n\
             WantedBy=default.target\n"
        )
    }
}

/// A word of a command line, as systemd reads it.
fn quoted(word: &str) -> String {
    quoted_setting(&word.replace('$', "$$"))
}

/// A word of any other setting, as systemd reads it.
fn quoted_setting(word: &str) -> String {
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

/// Whether our unit is there; another's is an error.
pub(super) fn is_there(path: &Path) -> anyhow::Result<bool> {
    match fs::read_to_string(path) {
        Ok(text) if text.starts_with(MARK) => Ok(true),
        Ok(_) => bail!(
            "`{}` was not written by toolgate, or was changed since\nhint: move it away, then try again",
            path.display()
        ),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).with_context(|| format!("cannot read `{}`", path.display())),
    }
}

/// Writes the unit as a whole or not at all, and never over another's.
pub(super) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    is_there(path)?;
    let new = path.with_extension("service.new");
    let written = || -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = fs::File::create(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, path)
    };
    written().with_context(|| format!("cannot write `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_systemd_reads_them() {
        for (word, expect) in [
            ("/usr/bin/toolgate", r#""/usr/bin/toolgate""#),
            ("/a b/100%", r#""/a b/100%%""#),
            (r#"/a"b\c"#, r#""/a\"b\\c""#),
            ("/$HOME/x", r#""/$$HOME/x""#),
        ] {
            assert_eq!(quoted(word), expect, "{word}");
        }
        assert_eq!(quoted_setting("A=$b"), r#""A=$b""#);
    }

    #[test]
    fn the_unit_starts_this_program_with_what_it_reads_now() {
        let unit = Unit {
            program: "/opt/tool gate/toolgate".into(),
            config: Some("/home/me/toolgate.toml".into()),
            variables: vec![("PATH".into(), "/usr/bin:/home/me/bin".into())],
        };
        let text = unit.text();
        for line in [
            r#"ExecStart="/opt/tool gate/toolgate" --config "/home/me/toolgate.toml" serve --http"#,
            r#"Environment="PATH=/usr/bin:/home/me/bin""#,
            "Restart=on-failure",
            "WantedBy=default.target",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
        }
    }

    #[test]
    fn a_unit_of_another_is_left_as_it_is() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("systemd/user/toolgate.service");
        write(&path, &format!("{MARK}\n1")).unwrap();
        write(&path, &format!("{MARK}\n2")).unwrap();
        assert!(fs::read_to_string(&path).unwrap().ends_with("\n2"));
        fs::write(&path, "[Unit]\n").unwrap();
        assert!(write(&path, &format!("{MARK}\n3")).is_err() && is_there(&path).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "[Unit]\n");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
