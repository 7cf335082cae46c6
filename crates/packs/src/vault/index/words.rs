//! Words of a text, as they are compared: lower case, without accents, and pairs of letters where a script puts no
//! spaces between words.

/// The longest word, in bytes; of longer ones the beginning counts.
const LONGEST: usize = 48;
/// The most words of a question.
const MOST: usize = 24;
/// Shorter words stand for no longer ones.
const SHORTEST: usize = 3;
/// By how many bytes a word may be longer than the one that stands for it.
const LONGER: usize = 8;

/// A word that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::vault) struct Asked {
    word: String,
    /// What words that are found too begin with.
    stem: Option<String>,
}

impl Asked {
    /// How well a word fits: one for the word itself, less for one that only begins like it.
    pub(in crate::vault) fn fits(&self, word: &str) -> Option<f32> {
        if word == self.word {
            return Some(1.0);
        }
        let stem = self.stem.as_deref()?;
        (word.starts_with(stem) && word.len() <= stem.len() + LONGER).then_some(0.5)
    }

    /// What every word that fits begins with.
    pub(super) fn beginning(&self) -> &str {
        self.stem.as_deref().unwrap_or(&self.word)
    }
}

/// Hands on every word of a text.
pub(in crate::vault) fn each(text: &str, mut found: impl FnMut(&str)) {
    let mut word = String::new();
    // The last letter of a run without spaces.
    let mut last: Option<char> = None;
    for c in text.chars() {
        if is_unspaced(c) {
            end(&mut word, &mut found);
            if let Some(before) = last.replace(c) {
                let mut pair = [0; 8];
                let first = before.encode_utf8(&mut pair).len();
                let both = first + c.encode_utf8(&mut pair[first..]).len();
                found(std::str::from_utf8(&pair[..both]).unwrap_or_default());
            }
            continue;
        }
        // Every letter of a run begins a pair or is its last one, so that single letters can be found.
        last.take().into_iter().for_each(|c| found(c.encode_utf8(&mut [0; 4])));
        if is_mark(c) {
            continue;
        }
        if c.is_alphanumeric() {
            fold(c, &mut word);
        } else {
            end(&mut word, &mut found);
        }
    }
    last.into_iter().for_each(|c| found(c.encode_utf8(&mut [0; 4])));
    end(&mut word, &mut found);
}

/// The words of a question, each once.
pub(in crate::vault) fn of_query(text: &str) -> Vec<Asked> {
    let mut all: Vec<Asked> = Vec::new();
    let mut before_was_pair = false;
    each(text, |word| {
        let mut letters = word.chars();
        let unspaced = letters.next().is_some_and(is_unspaced);
        let is_pair = unspaced && letters.next().is_some();
        // The last letter of a run is in its last pair.
        let is_rest = unspaced && !is_pair && before_was_pair;
        before_was_pair = is_pair;
        let asked = Asked { word: word.to_owned(), stem: stem(word, unspaced && !is_pair) };
        if !is_rest && all.len() < MOST && !all.contains(&asked) {
            all.push(asked);
        }
    });
    all
}

/// What words that are found too begin with: a word stands for longer ones, and for itself without the plural's `s`.
fn stem(word: &str, is_letter: bool) -> Option<String> {
    if is_letter {
        return Some(word.to_owned());
    }
    let spaced = word.chars().all(|c| c.is_alphabetic() && !is_unspaced(c));
    if !spaced || word.len() < SHORTEST {
        return None;
    }
    let plural = word.len() > SHORTEST + 1 && word.ends_with('s') && !word.ends_with("ss");
    Some(word[..word.len() - usize::from(plural)].to_owned())
}

fn end(word: &mut String, found: &mut impl FnMut(&str)) {
    if !word.is_empty() {
        found(word);
        word.clear();
    }
}

/// Chinese, Japanese, Korean, Thai and their neighbours.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3005..=0x3007 | 0x3040..=0x30FF | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// Accents that stand by themselves behind a letter.
fn is_mark(c: char) -> bool {
    matches!(u32::from(c), 0x0300..=0x036F)
}

/// Adds a letter in lower case and without its accent.
fn fold(c: char, word: &mut String) {
    if word.len() >= LONGEST {
        return;
    }
    if c.is_ascii() {
        word.push(c.to_ascii_lowercase());
        return;
    }
    // Latin letters in the width of Chinese ones.
    let c = match u32::from(c) {
        wide @ 0xFF01..=0xFF5E => char::from_u32(wide - 0xFEE0).unwrap_or(c),
        _ => c,
    };
    for c in c.to_lowercase().filter(|c| !is_mark(*c)) {
        match bare(c) {
            Some(letters) => word.push_str(letters),
            None => word.push(c),
        }
    }
}

/// Latin letters without what is above, below or through them.
fn bare(c: char) -> Option<&'static str> {
    Some(match c {
        'à'..='å' | 'ā' | 'ă' | 'ą' | 'ǎ' | 'ạ'..='ặ' => "a",
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => "c",
        'ď' | 'đ' | 'ð' => "d",
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' | 'ẹ'..='ệ' => "e",
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => "g",
        'ĥ' | 'ħ' => "h",
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' | 'ỉ' | 'ị' => "i",
        'ĵ' => "j",
        'ķ' => "k",
        'ĺ' | 'ļ' | 'ľ' | 'ŀ' | 'ł' => "l",
        'ñ' | 'ń' | 'ņ' | 'ň' => "n",
        'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' | 'ơ' | 'ọ'..='ợ' => "o",
        'ŕ' | 'ŗ' | 'ř' => "r",
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' => "s",
        'ţ' | 'ť' | 'ŧ' | 'ț' => "t",
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' | 'ư' | 'ụ'..='ự' => "u",
        'ŵ' => "w",
        'ý' | 'ÿ' | 'ŷ' | 'ỳ'..='ỹ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'þ' => "th",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_taken_apart_and_made_alike() {
        #[track_caller]
        fn check(text: &str, expect: &[&str]) {
            let mut found = Vec::new();
            each(text, |word| found.push(word.to_owned()));
            assert_eq!(found, expect, "{text}");
        }
        check("Read the FILE, v1.2!", &["read", "the", "file", "v1", "2"]);
        check("Überraschung Straße e\u{301}te\u{301} İ", &["uberraschung", "strasse", "ete", "i"]);
        check("Привет мир", &["привет", "мир"]);
        check("日本語", &["日本", "本語", "語"]);
        check("東京へ行く go", &["東京", "京へ", "へ行", "行く", "く", "go"]);
        check("a日b", &["a", "日", "b"]);
        check("한국어 메모", &["한국", "국어", "어", "메모", "모"]);
        check("ＡＢＣ１", &["abc1"]);
        check("", &[]);
        check("🦀 -- …", &[]);
        check(&"x".repeat(500), &[&"x".repeat(LONGEST)]);
    }

    #[test]
    fn a_question_asks_each_word_once() {
        #[track_caller]
        fn check(text: &str, expect: &[&str]) {
            let asked: Vec<_> = of_query(text).into_iter().map(|asked| asked.word).collect();
            assert_eq!(asked, expect, "{text}");
        }
        check("the Plan, the plans", &["the", "plan", "plans"]);
        check("日本語", &["日本", "本語"]);
        check("語", &["語"]);
        check("語 日本", &["語", "日本"]);
        check(
            "a b c d e f g h i j k l m n o p q r s t u v w x y z",
            &[
                "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r",
                "s", "t", "u", "v", "w", "x",
            ],
        );
    }

    #[test]
    fn a_word_stands_for_longer_ones_and_for_itself_without_plural() {
        #[track_caller]
        fn check(asked: &str, word: &str, expect: Option<f32>) {
            let asked = &of_query(asked)[0];
            assert_eq!(asked.fits(word), expect, "{asked:?} {word}");
            assert!(expect.is_none() || word.starts_with(asked.beginning()));
        }
        check("meeting", "meeting", Some(1.0));
        check("meeting", "meetings", Some(0.5));
        check("meetings", "meeting", Some(0.5));
        check("calend", "calendar", Some(0.5));
        check("to", "tomorrow", None);
        check("glass", "glasnost", None);
        check("inter", "internationalisation", None);
        check("2026", "20261", None);
        check("語", "語学", Some(0.5));
        check("日本", "日本", Some(1.0));
    }
}
