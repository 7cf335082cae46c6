//! The header of a script: what it says of itself, and what it wants to reach.

use toolgate_core::fits_pattern;
use toolgate_host::outbound::HostRule;
use url::Url;

/// How many names one header may list.
const MOST: usize = 64;

/// The longest description that is shown.
const SHOWN: usize = 300;

/// What the first comment lines of a script say: `# @description: …` and the like.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    /// What it does.
    pub description: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// Which version it is.
    pub version: Option<String>,
    /// The secrets it wants to read.
    pub secrets: Vec<String>,
    /// The tools it wants to call; `*` stands for any letters.
    pub tools: Vec<String>,
    /// The hosts it wants to ask.
    pub hosts: Vec<HostRule>,
    /// What is wrong with it.
    pub problems: Vec<String>,
}

impl Header {
    /// Reads the comment lines that a source begins with.
    pub fn read(source: &str) -> Self {
        let mut header = Self::default();
        for line in source.lines().map_while(|line| line.strip_prefix('#')) {
            let Some(entry) = line.trim().strip_prefix('@') else { continue };
            let end = entry.find([':', ' ', '\t']).unwrap_or(entry.len());
            let (key, value) = entry.split_at(end);
            header.take(key, value.trim_start_matches([':', ' ', '\t']).trim_end());
        }
        header
    }

    /// Whether it names a tool.
    pub fn grants_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|pattern| fits_pattern(pattern, name))
    }

    /// Whether it names the host of an address.
    pub fn grants_host(&self, url: &Url) -> bool {
        self.hosts.iter().any(|rule| rule.covers(url))
    }

    /// Whether it names a secret.
    pub fn grants_secret(&self, name: &str) -> bool {
        self.secrets.iter().any(|granted| granted == name)
    }

    fn take(&mut self, key: &str, value: &str) {
        let text = || Some(value.chars().take(SHOWN).collect::<String>()).filter(|text| !text.is_empty());
        match key {
            "description" => self.description = text(),
            "author" => self.author = text(),
            "version" => self.version = text(),
            "secret" | "secrets" => self.names(value, "secret", is_secret, |header| &mut header.secrets),
            "tool" | "tools" => self.names(value, "tool", is_tool, |header| &mut header.tools),
            "host" | "hosts" => self.host_names(value),
            // Others are for whoever reads the script.
            _ => {}
        }
    }

    fn names(
        &mut self,
        value: &str,
        what: &str,
        is_name: fn(&str) -> bool,
        list: fn(&mut Self) -> &mut Vec<String>,
    ) {
        for name in listed(value) {
            if !is_name(name) {
                self.problem(what, name);
            } else if list(self).len() < MOST {
                list(self).push(name.to_owned());
            } else {
                self.problems.push(format!("it lists more than {MOST} {what}s"));
                return;
            }
        }
    }

    fn host_names(&mut self, value: &str) {
        for name in listed(value) {
            match name.parse() {
                Ok(rule) if self.hosts.len() < MOST => self.hosts.push(rule),
                Ok(_) => return self.problems.push(format!("it lists more than {MOST} hosts")),
                Err(_) => self.problem("host", name),
            }
        }
    }

    fn problem(&mut self, what: &str, name: &str) {
        let name: String = name.chars().take(80).collect();
        self.problems.push(format!("`{name}` in its header cannot be the name of a {what}"));
    }
}

fn listed(value: &str) -> impl Iterator<Item = &str> {
    value.split([',', ' ', '\t']).filter(|name| !name.is_empty())
}

fn is_secret(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    name.len() <= 64 && name.starts_with(|first: char| first.is_ascii_uppercase()) && name.bytes().all(fits)
}

fn is_tool(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'*');
    name.len() <= 128 && name.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_comments_say_what_a_script_is_and_wants() {
        let source = "#!/usr/bin/env starlark\n# @description: Sums up.\n# a remark\n#@author Ada\n# @version:2\n\
            # @secrets: API_KEY, OTHER_1\n# @tools: workspace_*, web_fetch\n# @hosts: api.example.com, *.example.org\n\
            # @colour: blue\nx = 1\n# @secrets: LATE\n";
        let header = Header::read(source);
        assert_eq!(header.description.as_deref(), Some("Sums up."));
        assert_eq!((header.author.as_deref(), header.version.as_deref()), (Some("Ada"), Some("2")));
        assert_eq!(header.secrets, ["API_KEY", "OTHER_1"]);
        assert_eq!(header.tools, ["workspace_*", "web_fetch"]);
        assert!(header.problems.is_empty() && !header.grants_secret("LATE"));
        assert_eq!(Header::read("\n# @secrets: A"), Header::default());
        assert_eq!(Header::read(""), Header::default());
    }

    #[test]
    fn only_what_is_named_is_granted() {
        let header = Header::read("# @tools: workspace_*, a*b*c, one\n# @hosts: api.example.com, 10.0.0.1\n");
        for (name, expect) in [
            ("workspace_read", true),
            ("workspace", false),
            ("xworkspace_read", false),
            ("abc", true),
            ("aXbXc", true),
            ("aXc", false),
            ("abcd", false),
            ("one", true),
            ("ones", false),
            ("", false),
        ] {
            assert_eq!(header.grants_tool(name), expect, "{name}");
        }
        for (url, expect) in [
            ("https://api.example.com/x", true),
            ("https://API.example.com:8443/x", true),
            ("https://evil.example.com/", false),
            ("https://api.example.com.evil.org/", false),
            ("https://api.example.com@evil.org/", false),
            ("http://10.0.0.1/", true),
            ("http://167772161/", true),
            ("http://10.0.0.2/", false),
        ] {
            assert_eq!(header.grants_host(&Url::parse(url).unwrap()), expect, "{url}");
        }
    }

    #[test]
    fn what_cannot_be_a_name_is_told() {
        let header = Header::read("# @secrets: lower, OK\n# @tools: a;b\n# @hosts: https://x.example/\n");
        assert_eq!(header.problems.len(), 3, "{:?}", header.problems);
        assert_eq!(header.secrets, ["OK"]);
        let many: Vec<String> = (0..100).map(|number| format!("S{number}")).collect();
        let header = Header::read(&format!("# @secrets: {}", many.join(",")));
        assert_eq!((header.secrets.len(), header.problems.len()), (64, 1));
    }
}
