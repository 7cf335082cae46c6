//! A URI as a source may read it: decoded, without `.` and `..`, and without what parsers of URLs pass over.

/// How often a source may decode.
const MOST_DECODED: usize = 3;

/// How else than as it is written a source may read a URI.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Readings {
    /// Readings of the whole text.
    pub(crate) whole: Vec<String>,
    /// Readings of less: without query and fragment, without the user before a host, or without a host.
    pub(crate) less: Vec<String>,
}

/// The readings of a URI that differ from its text.
pub(crate) fn readings(uri: &str) -> Readings {
    let mut all = Readings::default();
    if is_plain(uri) {
        return all;
    }
    let (mut text, mut hostless) = (passed_on(uri), Vec::new());
    for _ in 0..=MOST_DECODED {
        // Whoever looks for a path decodes before or after; what ends one for us may be a part of it for others.
        let (path, rest) = text.split_at(text.find(['?', '#']).unwrap_or(text.len()));
        for path in plain(path) {
            all.whole.push(format!("{path}{}", decode(rest)));
            all.less.push(path);
        }
        hostless.extend([path, &text].into_iter().flat_map(without_host));
        all.whole.extend(plain(&text));
        let decoded = decode_once(&text);
        if decoded == text {
            break;
        }
        text = decoded;
    }
    let anonymous: Vec<_> = all.whole.iter().chain(&all.less).filter_map(|uri| without_user(uri)).collect();
    all.less.extend(anonymous);
    hostless.retain(|uri| !all.whole.contains(uri));
    all.less.extend(hostless);
    for list in [&mut all.whole, &mut all.less] {
        list.sort_unstable();
        list.dedup();
        list.retain(|reading| reading != uri);
    }
    all
}

/// A pattern of URIs with its scheme and its authority as everyone writes them, and the rest decoded; a `*` that is
/// written as `%2a` stays what it is.
pub(crate) fn plain_pattern(text: &str) -> String {
    let (head, rest) = split_head(text);
    let decoded = decode(rest);
    let stars = |text: &str| text.matches('*').count();
    format!("{head}{}", if stars(&decoded) == stars(rest) { &decoded } else { rest })
}

/// Whether there is only one way to read it: most URIs are like that.
fn is_plain(uri: &str) -> bool {
    let (head, path) = split_head(uri);
    uri.strip_prefix(&head) == Some(path)
        // Who passes over the host of a file, or takes it for a part of a path, reads another one.
        && (head == "file://" || !head.starts_with("file://"))
        && !head.contains("/.")
        && uri.trim() == uri
        && !uri.contains(|c: char| c.is_control() || matches!(c, '%' | '\\' | '?' | '#' | '@'))
        && !path.starts_with('.')
        && !["/.", "//"].iter().any(|piece| path.contains(piece))
}

/// What parsers of URLs see of a text: they drop controls anywhere, and space around it.
fn passed_on(text: &str) -> String {
    let seen: String = text.chars().filter(|c| !c.is_control()).collect();
    seen.trim().to_owned()
}

/// A text decoded, and without dots; in two ways, where `..` may end a part without a name.
fn plain(text: &str) -> [String; 2] {
    let text = passed_on(&decode(text)).replace('\\', "/");
    let (head, path) = split_head(&text);
    [false, true].map(|nameless| format!("{head}{}", without_dots(path, nameless)))
}

/// The scheme and the authority in their plain spelling, and what is behind them.
fn split_head(text: &str) -> (String, &str) {
    let Some((scheme, rest)) = text.split_once(':') else { return (String::new(), text) };
    let scheme = scheme.to_ascii_lowercase();
    if scheme == "file" && !rest.starts_with("//") {
        return (if rest.starts_with('/') { "file://" } else { "file:///" }.into(), rest);
    }
    let from_host = match (default_port(&scheme), rest.strip_prefix("//")) {
        // Any number of slashes leads to the host of these.
        (Some(_), _) => rest.trim_start_matches('/'),
        (None, Some(from_host)) => from_host,
        (None, None) => return (format!("{scheme}:"), rest),
    };
    let (host, path) = from_host.split_at(from_host.find(['/', '?', '#']).unwrap_or(from_host.len()));
    (format!("{scheme}://{}", plain_host(&scheme, host)), path)
}

/// The port that goes without saying, for schemes of the web.
fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" | "ws" => Some(80),
        "https" | "wss" => Some(443),
        _ => None,
    }
}

fn plain_host(scheme: &str, host: &str) -> String {
    let host = host.to_ascii_lowercase();
    if scheme == "file" && host == "localhost" {
        return String::new();
    }
    let Some(port) = default_port(scheme) else { return host };
    let name = match host.rsplit_once(':') {
        Some((name, said)) if said.is_empty() || said.parse() == Ok(port) => name,
        Some(_) | None => &host,
    };
    name.strip_suffix('.').unwrap_or(name).to_owned()
}

/// A URI of the web without the user before its host.
fn without_user(uri: &str) -> Option<String> {
    let (scheme, rest) = uri.split_once("://")?;
    default_port(scheme)?;
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (_, host) = authority.rsplit_once('@')?;
    Some(format!("{scheme}://{host}{path}"))
}

/// A URI as those read it to whom nothing is a host: of a file it is passed over, and where there are none it is the first
/// part of the path, which a `..` ends.
fn without_host(uri: &str) -> Vec<String> {
    let text = passed_on(&decode(uri)).replace('\\', "/");
    let Some((scheme, rest)) = text.split_once("://") else { return Vec::new() };
    let scheme = scheme.to_ascii_lowercase();
    if default_port(&scheme).is_some() {
        return Vec::new();
    }
    let mut all = Vec::new();
    for nameless in [false, true] {
        if scheme == "file" {
            let path = rest.find('/').map_or("/", |end| &rest[end..]);
            all.push(format!("file://{}", without_dots(path, nameless)));
            continue;
        }
        let path = without_dots(&format!("/{rest}"), nameless);
        let read = format!("{scheme}:/{path}");
        let (head, path) = split_head(&read);
        all.extend([format!("{head}{path}"), read.clone()]);
    }
    all
}

/// Every `%41` becomes its byte, again and again while something changes: a source may decode twice.
fn decode(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..MOST_DECODED {
        let decoded = decode_once(&text);
        if decoded == text {
            break;
        }
        text = decoded;
    }
    text
}

fn decode_once(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = (bytes[at] == b'%').then(|| bytes.get(at + 1..at + 3)).flatten();
        let byte = digits
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        out.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The path without `.`, `..` and doubled slashes; the first part stays, be it a name or empty. Files know no parts
/// without a name; to parsers of URLs they are parts, which a `..` ends.
fn without_dots(path: &str, nameless: bool) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let mut all = path.split('/').enumerate().peekable();
    while let Some((place, part)) = all.next() {
        let last = all.peek().is_none();
        match part {
            "" if place > 0 && !last && !nameless => {}
            "." | ".." => {
                if part == ".." && parts.len() > 1 {
                    parts.pop();
                }
                if last {
                    parts.push("");
                }
            }
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    if nameless { without_dots(&path, false) } else { path }
}

#[cfg(test)]
mod tests;
