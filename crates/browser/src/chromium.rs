//! The Chromium on this machine: found, never downloaded, and started with a pipe to it.

use std::path::{Path, PathBuf};

use toolgate_core::{Error, Kind, Result};
use toolgate_host::process::{Pipes, Running};
use toolgate_host::{Program, Scratch, find_program, is_root};

use crate::BrowserConfig;

/// What a person can do who has none.
pub(crate) const INSTALL: &str =
    "install one, such as Debian's `chromium-headless-shell`, or set `browser.program` to where it is";

/// Where Debian has what its scripts on the search path start, and stay beside.
const DEBIAN: &str = "/usr/lib/chromium";

/// Their names, the leanest first.
const NAMES: [&str; 7] = [
    "chromium-headless-shell",
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
];

const MAC: &str = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";

/// Gives Chromium the pipe where it looks for it, and keeps what it prints out of it.
const SCRIPT: &str = r#"exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>&2"#;

/// What is off, so that nothing is asked for but what pages ask for, and nothing is kept.
const FLAGS: [&str; 32] = [
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--no-service-autorun",
    "--mute-audio",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-sync",
    "--metrics-recording-only",
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-features=Translate,MediaRouter,OptimizationHints,AutofillServerCommunication,InterestFeedContentSuggestions",
    // What does not go through a proxy goes nowhere: names, WebRTC, QUIC, and the browser's own calls.
    "--disable-quic",
    "--dns-prefetch-disable",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--proxy-server=http://127.0.0.1:9",
];

/// The Chromium that would be started: the configured one, else one that is installed. Variables are looked up by
/// `value`.
pub fn installed(config: &BrowserConfig, value: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    if let Some(program) = &config.program {
        return Some(program.clone());
    }
    if let Some(program) = value("CHROME_PATH").filter(|path| !path.is_empty()) {
        return Some(program.into());
    }
    let path = value("PATH").unwrap_or_default();
    let named = |name: &&str| {
        let found = find_program(&path, name)?;
        let behind = Path::new(DEBIAN).join(name);
        Some(if found.parent() == Some(Path::new("/usr/bin")) && behind.is_file() { behind } else { found })
    };
    let mac = Some(PathBuf::from(MAC)).filter(|path| path.is_file());
    NAMES.iter().find_map(named).or(mac)
}

/// A Chromium that runs. It ends before its folder goes.
pub(crate) struct Process {
    pub(crate) running: Running,
    pub(crate) _scratch: Scratch,
}

/// What a Chromium is started with.
pub(crate) struct Start<'a> {
    pub(crate) program: PathBuf,
    pub(crate) config: &'a BrowserConfig,
    pub(crate) variables: &'a [(String, String)],
}

/// Whether pages are kept in Chromium's own sandbox.
pub(crate) fn is_sandboxed(config: &BrowserConfig) -> bool {
    config.sandbox.unwrap_or_else(|| !is_root())
}

impl Start<'_> {
    /// Starts it: its own profile, its own process group, and nothing of our environment but what it needs.
    pub(crate) async fn run(&self) -> Result<(Process, Pipes)> {
        let failed = |words: String| Error::new(Kind::ConnectionFailed, words).hint(INSTALL);
        let shown = self.program.display();
        if !self.program.is_file() {
            return Err(failed(format!("there is no Chromium at `{shown}`")));
        }
        let scratch = Scratch::new("toolgate-browser").map_err(|error| {
            Error::new(Kind::Internal, "no folder can be made for a browser").because(error)
        })?;
        let folder = scratch.path().to_path_buf();
        let mut flags: Vec<String> = FLAGS.map(str::to_owned).to_vec();
        flags.push(format!("--user-data-dir={}", folder.join("profile").display()));
        if !is_sandboxed(self.config) {
            flags.push("--no-sandbox".into());
        }
        let program =
            Program::new("/bin/sh").arguments(["-c", SCRIPT]).arguments([&self.program]).arguments(flags);
        let seen =
            |name: &str| ["PATH", "LANG", "LC_ALL", "FONTCONFIG_PATH", "FONTCONFIG_FILE"].contains(&name);
        let passed = self.variables.iter().filter(|(name, _)| seen(name));
        let program = passed.fold(program, |program, (name, value)| program.variable(name, value));
        // What it keeps for a person, it keeps where it goes with it.
        let own = ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"];
        let program =
            own.into_iter().fold(program, |program, name| program.variable(name, folder.as_os_str()));
        let started = program.start(Some(&folder)).await;
        let (running, pipes) =
            started.map_err(|error| failed(format!("`{shown}` cannot be started")).because(error))?;
        Ok((Process { running, _scratch: scratch }, pipes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configured_program_counts_first_and_a_missing_one_is_told() {
        let config = BrowserConfig { program: Some("/nowhere/chromium".into()), ..BrowserConfig::default() };
        let none = |_: &str| None;
        assert_eq!(installed(&config, none), Some("/nowhere/chromium".into()));
        let named = |name: &str| (name == "CHROME_PATH").then(|| "/opt/chrome".to_owned());
        assert_eq!(installed(&BrowserConfig::default(), named), Some("/opt/chrome".into()));
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_says_how_to_get_one() {
        let config = BrowserConfig::default();
        let start = Start { program: "/nowhere/chromium".into(), config: &config, variables: &[] };
        let error = start.run().await.err().unwrap();
        assert_eq!(error.message(), "there is no Chromium at `/nowhere/chromium`");
        assert_eq!(error.next_step(), Some(INSTALL));
    }
}
