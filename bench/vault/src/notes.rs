//! The notes: made by rule, the same each time.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;

/// How many different words there are.
const WORDS: f64 = 12_000.0;
const FOLDERS: u64 = 200;
const JAPANESE: &str = "今日は東京で新しい計画の会議がありました。来週までに資料を準備して送ります。";

/// What was made.
#[derive(Debug, Serialize)]
pub(crate) struct Made {
    notes: u64,
    bytes: u64,
}

/// Numbers that look random, and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides.max(1)
    }

    /// A word: low numbers come often, high ones seldom, as words of a language do (Zipf's law).
    fn word(&mut self) -> String {
        let place = self.roll(1 << 32) as f64 / (1_u64 << 32) as f64;
        word((WORDS.powf(place) as u64).saturating_sub(1))
    }
}

/// A word by its number.
pub(crate) fn word(number: u64) -> String {
    const BEGIN: [&str; 20] = [
        "b", "br", "d", "dr", "f", "fl", "g", "gr", "h", "k", "l", "m", "n", "p", "pr", "r", "s", "st", "t",
        "v",
    ];
    const MIDDLE: [&str; 10] = ["a", "e", "i", "o", "u", "ai", "ea", "ei", "oa", "ou"];
    let syllable =
        |number: u64| format!("{}{}", BEGIN[(number % 20) as usize], MIDDLE[(number / 20 % 10) as usize]);
    let (low, high) = (number % 200, number / 200);
    format!("{}{}n", syllable(low), syllable(high * 7 + low))
}

/// The path of a note by its number.
pub(crate) fn path(number: u64) -> String {
    format!("area {}/note {number}.md", number % FOLDERS)
}

/// Makes so many notes in a folder.
pub(crate) fn make(folder: &Path, count: u64) -> Result<Made> {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut bytes = 0;
    for number in 0..count {
        let text = note(number, count, &mut dice)?;
        bytes += text.len() as u64;
        let path = folder.join(path(number));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, text)?;
    }
    Ok(Made { notes: count, bytes })
}

fn note(number: u64, count: u64, dice: &mut Dice) -> Result<String> {
    let mut text = String::new();
    writeln!(
        text,
        "---\ntags: [topic/{}, year/{}]\nstatus: {}\n---",
        dice.roll(50),
        2010 + dice.roll(16),
        dice.roll(5)
    )?;
    writeln!(text, "# {} {}\n", dice.word(), dice.word())?;
    for part in 0..2 + dice.roll(4) {
        writeln!(text, "## {} {part}\n", dice.word())?;
        for _ in 0..1 + dice.roll(3) {
            let words: Vec<String> = (0..20 + dice.roll(40)).map(|_| dice.word()).collect();
            writeln!(text, "{} #{}.\n", words.join(" "), word(dice.roll(100)))?;
        }
        writeln!(text, "See [[note {}]].\n", dice.roll(count))?;
    }
    if number % 10 == 0 {
        writeln!(text, "{JAPANESE}")?;
    }
    Ok(text)
}
