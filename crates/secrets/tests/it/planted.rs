//! Random secrets, each planted in a random one of its forms at a random place: none of its forms is left.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use toolgate_core::Filter as _;
use toolgate_secrets::Redactor;
use toolgate_wire::Raw;

use crate::checker::leak;
use crate::fuzz::Numbers;
use crate::samples::{in_parts, redactor};

/// What secrets are made of: what tokens are made of, and what causes trouble.
const ALPHABETS: [&str; 3] = [
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_",
    "af0149\"\\/%+ \n\té😀{}:,[]-u",
    "\\\"%/n0",
];

/// What stands around, apart by a space.
const NOISE: &str =
    r#"\ \\ " \" \u \u00 \ud83d % %2 %25 %0A a 0 [[ { } ] : , \n é 😀 true 1e5 data QUFB 6162 日本 it's"#;

/// Documents with a place for the inside of a string.
const DOCUMENTS: [&str; 8] = [
    r#"{"content":[{"type":"text","text":"@"}],"isError":false}"#,
    r#"{"structuredContent":{"a":[1,{"@":2.50}]}}"#,
    r#"{"code":-32603,"message":"@","data":{"why":[ ]}}"#,
    r#"[ "\u0022",{"data" : "@"},null]"#,
    r#"{"contents":[{"uri":"x:1","blob":"@"}]}"#,
    r#"{"\/\\":"@","n":[[[]]]}"#,
    r#"[[["\n\n\n","@"],1e5],true]"#,
    r#""@""#,
];

/// One secret and how it is hidden.
struct Plot<'a> {
    numbers: &'a mut Numbers,
    redactor: Redactor,
    secret: String,
}

fn secret(numbers: &mut Numbers) -> String {
    let alphabet: Vec<char> = numbers.pick(&ALPHABETS).chars().collect();
    loop {
        let length = 8 + numbers.next(24);
        let value: String = (0..length).map(|_| *numbers.pick(&alphabet)).collect();
        if value.trim().len() >= 8 {
            return value.trim().to_owned();
        }
    }
}

impl Plot<'_> {
    /// Some of the words that cause trouble.
    fn noise(&mut self) -> String {
        let words: Vec<&str> = NOISE.split(' ').collect();
        let count = self.numbers.next(4);
        let between = if self.numbers.coin() { " " } else { "" };
        (0..count).map(|_| *self.numbers.pick(&words)).collect::<Vec<_>>().join(between)
    }

    /// A text in JSON, each character in any of its spellings.
    fn escaped(&mut self, text: &str) -> String {
        let often = self.numbers.next(100);
        let mut out = String::new();
        for c in text.chars() {
            if self.numbers.next(100) < often {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let digits =
                        if self.numbers.coin() { format!("{unit:04x}") } else { format!("{unit:04X}") };
                    out.push_str(&format!("\\u{digits}"));
                }
            } else if c == '/' && self.numbers.coin() {
                out.push_str("\\/");
            } else {
                let quoted = Raw::string(c.encode_utf8(&mut [0; 4]));
                out.push_str(&quoted.as_str()[1..quoted.as_str().len() - 1]);
            }
        }
        out
    }

    /// A text in an address, where any character may be written as it is but the percent sign.
    fn percent(&mut self, text: &str) -> String {
        let often = self.numbers.next(100);
        let mut out = String::new();
        for c in text.chars() {
            if c != '%' && self.numbers.next(100) >= often {
                out.push(c);
                continue;
            }
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                let digits =
                    if self.numbers.coin() { format!("%{byte:02x}") } else { format!("%{byte:02X}") };
                out.push_str(&digits);
            }
        }
        out
    }

    /// The secret with any bytes before and behind it, as a part of a file.
    fn file(&mut self) -> Vec<u8> {
        let mut some = || -> Vec<u8> {
            let length = self.numbers.next(12);
            (0..length).map(|_| self.numbers.next(256) as u8).collect()
        };
        let (before, behind) = (some(), some());
        [&before, self.secret.as_bytes(), &behind].concat()
    }

    /// A random form of the secret, and its name.
    fn form(&mut self) -> (&'static str, String) {
        let secret = self.secret.clone();
        match self.numbers.next(10) {
            0 => ("raw", secret),
            1 => ("escaped", self.escaped(&secret)),
            2 => {
                let once = self.escaped(&secret);
                ("escaped twice", self.escaped(&once))
            }
            3 => ("percent", self.percent(&secret)),
            4 => {
                let once = self.percent(&secret);
                ("percent twice", self.percent(&once))
            }
            5 => ("hex", self.file().iter().map(|byte| format!("{byte:02x}")).collect()),
            6 => ("HEX", self.file().iter().map(|byte| format!("{byte:02X}")).collect()),
            _ => {
                let file = self.file();
                let engines = [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD];
                ("base64", self.numbers.pick(&engines).encode(file))
            }
        }
    }

    /// Plants it once, in a text and in a document, and looks for it in what comes out.
    fn try_once(&mut self) {
        let (name, form) = self.form();
        let text = [self.noise(), form, self.noise()].join(" ");
        assert!(
            leak(text.as_bytes(), &self.secret).is_some(),
            "{:?} ({name}) is not in {text:?}",
            self.secret
        );
        let redacted = self.redactor.text(&text);
        self.look(name, &text, redacted.as_ref().map_or(&*text, |out| out).as_bytes());
        let sizes: Vec<usize> = (0..4).map(|_| 1 + self.numbers.next(20)).collect();
        self.look(name, &text, &in_parts(&self.redactor, &text, &sizes));

        let inside = self.escaped(&text);
        let document = self.numbers.pick(&DOCUMENTS).replace('@', &inside);
        let redacted = self.redactor.json(Raw::parse(document.clone().into()).unwrap());
        assert_ne!(redacted.as_bytes(), document.as_bytes(), "{:?} ({name}) in {text:?}", self.secret);
        self.look(name, &document, redacted.as_bytes());
        Raw::parse(redacted.bytes()).unwrap_or_else(|error| panic!("{error} in {redacted:?} of {document}"));
    }

    #[track_caller]
    fn look(&self, name: &str, before: &str, after: &[u8]) {
        let secret = &self.secret;
        let Some(how) = leak(after, secret) else { return };
        panic!(
            "{secret:?} ({name}) can be read as {how} from {} of {before:?}",
            String::from_utf8_lossy(after)
        );
    }
}

#[test]
fn no_form_of_a_secret_is_left_wherever_it_is_planted() {
    let mut numbers = Numbers::fresh();
    for _ in 0..50 {
        let secret = secret(&mut numbers);
        let redactor = redactor(&[("S", secret.clone())]);
        let mut plot = Plot { numbers: &mut numbers, redactor, secret };
        (0..30).for_each(|_| plot.try_once());
    }
}
