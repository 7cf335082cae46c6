//! A program as it is meant: what it is started with, and what it may touch.

use std::path::PathBuf;

use toolgate_host::Secret;
use toolgate_host::process::{Network, Sandbox};

use super::BadConfig;
use crate::config::{NetworkConfig, SandboxConfig, UpstreamConfig};

pub(crate) struct ProgramPlan {
    pub(crate) command: String,
    pub(crate) args: Vec<Secret>,
    pub(crate) env: Vec<(String, Secret)>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) sandbox: Option<Sandbox>,
}

impl ProgramPlan {
    pub(super) fn new(
        name: &str,
        command: &str,
        config: &UpstreamConfig,
        fill: impl Fn(&str, &str) -> Result<Secret, BadConfig>,
    ) -> Result<Self, BadConfig> {
        let args = config.args.iter().map(|arg| fill("args", arg)).collect::<Result<_, _>>()?;
        let env = config.env.iter();
        let env = env.map(|(key, value)| Ok((key.clone(), fill("env", value)?))).collect::<Result<_, _>>()?;
        Ok(Self {
            command: command.to_owned(),
            args,
            env,
            cwd: config.cwd.as_ref().map(PathBuf::from),
            sandbox: sandbox(name, &config.sandbox, fill)?,
        })
    }
}

fn sandbox(
    name: &str,
    config: &SandboxConfig,
    fill: impl Fn(&str, &str) -> Result<Secret, BadConfig>,
) -> Result<Option<Sandbox>, BadConfig> {
    let SandboxConfig::Landlock(config) = config else { return Ok(None) };
    let paths = |key: &str, paths: &[String]| -> Result<Vec<PathBuf>, BadConfig> {
        let path = |text: &String| {
            let path = PathBuf::from(fill(key, text)?.expose());
            if path.is_absolute() {
                return Ok(path);
            }
            Err(BadConfig::new(
                format!("mcp.{name}.{key}"),
                format!("has `{}`, which is no whole path", text.escape_debug()),
                "write paths from `/` on, or from `{env:HOME}` on",
            ))
        };
        paths.iter().map(path).collect()
    };
    let network = match &config.network {
        NetworkConfig::Off => Network::None,
        NetworkConfig::On => Network::All,
        NetworkConfig::Ports(ports) => Network::Ports(ports.clone()),
    };
    let (read, write) = (paths("sandbox.read", &config.read)?, paths("sandbox.write", &config.write)?);
    Ok(Some(Sandbox { read, write, network }))
}
