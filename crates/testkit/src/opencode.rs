//! A real OpenCode for tests, whose model is a server of ours: nothing leaves this machine, and nothing stays on it.

#![expect(clippy::disallowed_methods, reason = "tests need a real program, and have to find it")]

mod model;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::thread;

use serde_json::json;

/// Runs what it is told to until its input ends, as it does when we are gone, however we went; then it removes the
/// folder, until nobody writes there any more.
const KEEPER: &str = r#"
folder=$1; shift
if [ $# -gt 0 ]; then "$@" 2>"$folder/log" & fi
exec 1>/dev/null
read -r line
trap '' TERM; kill -TERM 0; sleep 1
for try in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$folder" && break; sleep 1; done
"#;

static SHARED: LazyLock<RealOpencode> = LazyLock::new(RealOpencode::start);

/// A folder that an OpenCode can call its home: all that it keeps is there.
pub struct OpencodeHome {
    folder: PathBuf,
    model: String,
    // Its input ends with us.
    _keeper: Child,
}

/// A real OpenCode that listens on this machine.
pub struct RealOpencode {
    /// Its home.
    pub home: OpencodeHome,
    /// Where it listens: an address and a port.
    pub address: String,
}

impl OpencodeHome {
    /// One in which no OpenCode runs.
    pub fn new() -> Self {
        let (folder, model) = make();
        let _keeper = keep(&folder, &mut Command::new("/bin/sh")).stdout(Stdio::null()).spawn().unwrap();
        Self { folder, model, _keeper }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// The environment of an OpenCode that lives here: it knows one model, ours, and asks before it runs a command.
    pub fn variables(&self) -> Vec<(String, String)> {
        variables(&self.folder, &self.model)
    }
}

impl Default for OpencodeHome {
    fn default() -> Self {
        Self::new()
    }
}

impl RealOpencode {
    /// The password that it wants, and says to nobody.
    pub const PASSWORD: &str = "open-sesame-and-barley";

    /// The same, as a request carries it.
    pub const AUTHORIZATION: &str = "Basic b3BlbmNvZGU6b3Blbi1zZXNhbWUtYW5kLWJhcmxleQ==";

    /// The one that all tests of this binary share.
    pub fn shared() -> &'static Self {
        &SHARED
    }

    fn start() -> Self {
        let (folder, model) = make();
        let mut command = Command::new("/bin/sh");
        keep(&folder, &mut command).arg(opencode_program());
        // By itself it would take the usual port first, where everyone looks for one.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
        command.args(["serve", "--hostname", "127.0.0.1", "--port", &port, "--print-logs"]);
        command.envs(variables(&folder, &model)).env("OPENCODE_SERVER_PASSWORD", Self::PASSWORD);
        let mut keeper = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(keeper.stdout.take().unwrap()).lines();
        let address = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let (_, address) = line.split_once("listening on http://")?;
            Some(address.trim().to_owned())
        });
        let said = || fs::read_to_string(folder.join("log")).unwrap_or_default();
        let address = address.unwrap_or_else(|| panic!("OpenCode does not listen:\n{}", said()));
        thread::spawn(move || lines.for_each(drop));
        Self { home: OpencodeHome { folder, model, _keeper: keeper }, address }
    }
}

fn make() -> (PathBuf, String) {
    let name = format!("toolgate-opencode-{}-{:x}", std::process::id(), unique());
    let folder = std::env::temp_dir().join(name);
    fs::create_dir(&folder).unwrap();
    let folder = fs::canonicalize(folder).unwrap();
    // It would fetch a package of its own from there.
    fs::write(folder.join(".npmrc"), "registry=http://127.0.0.1:9/\nfetch-retries=0\n").unwrap();
    (folder, model::start())
}

fn unique() -> u32 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn keep<'a>(folder: &Path, command: &'a mut Command) -> &'a mut Command {
    command.args(["-c", KEEPER, "keeper"]).arg(folder).env_clear().current_dir(folder);
    command.env("PATH", "/usr/bin:/bin").stdin(Stdio::piped()).stderr(Stdio::null()).process_group(0)
}

fn variables(home: &Path, model: &str) -> Vec<(String, String)> {
    let limit = json!({"context": 100_000, "output": 4096});
    let settings = json!({
        "model": "fake/fake-1",
        "small_model": "fake/fake-1",
        "autoupdate": false,
        "share": "disabled",
        "enabled_providers": ["fake"],
        "permission": {"bash": "ask"},
        "provider": {"fake": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Fake",
            "options": {"baseURL": model, "apiKey": "sk-fake"},
            "models": {
                "fake-1": {"name": "Fake One", "limit": limit},
                "deep/er/name": {"name": "Fake Two", "limit": limit},
            },
        }},
    });
    let pairs = [
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("HOME", home.to_str().unwrap()),
        ("OPENCODE_CONFIG_CONTENT", &settings.to_string()),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
    ];
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
}

/// The program, as `tests/peers/install.sh` installs it. Without it the tests fail: none is skipped.
pub fn opencode_program() -> PathBuf {
    let peers = match std::env::var_os("TOOLGATE_PEERS_DIR").filter(|dir| !dir.is_empty()) {
        Some(dir) => PathBuf::from(dir),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/peers"),
    };
    let program = peers.join("node_modules/opencode-linux-x64/bin/opencode");
    fs::canonicalize(&program).unwrap_or_else(|_| {
        panic!("there is no OpenCode at {}; run `bash tests/peers/install.sh`", program.display())
    })
}
