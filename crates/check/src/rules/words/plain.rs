//! Whether a description says in plain words what a tool does: a verb, and nothing vague.

use std::collections::HashSet;
use std::sync::LazyLock;

/// What tools do. Words that are nouns as well are here too: a description that may be right is not blamed.
const VERBS: &str = "
    abort accept access activate add adjust aggregate allow analyse analyze annotate answer append apply
    approve archive arrange ask assess assign attach authenticate authorize automate backup begin block book
    bring browse build calculate call cancel capture cast categorize change check choose classify clean clear
    click clone close collect combine comment commit compare compile complete compress compute configure
    confirm connect consult contain continue control convert copy correct count crawl create cut deactivate
    debug decode decrypt define delegate delete deploy describe detect determine diagnose disable disconnect
    discover dismiss dispatch display divide do download drag draw drop dump duplicate echo edit emit enable
    encode encrypt end enter enumerate erase estimate evaluate examine exchange execute exit expand explain
    explore export expose extract facilitate fetch fill filter find finish fix flag follow force forecast
    forget format forward gather generate get give go grant group hand handle help hide highlight hover
    identify import improve increase index infer initialize insert inspect install interact invite invoke join
    keep kill label launch learn let link list listen load locate lock log login look lookup make manage map
    mark match measure merge migrate mock modify monitor move multiply navigate normalize notify observe
    obtain offer open optimize order organize output override parse paste patch pause perform pick ping place
    plan play plot poll post predict prepare press preview print probe process produce profile prompt propose
    provide publish pull purge push put query queue quit raise rank read rebuild receive recommend record redo
    reduce refresh register reject release reload remember remove rename render reorder repeat replace reply
    report request reserve reset resize resolve respond restart restore resume retrieve return reveal revert
    review revoke rotate run sample save scan schedule scrape scroll search see select send serve set share
    show sign simulate skip sort split stage start stop store stream submit subscribe subtract suggest
    summarise summarize support suspend switch sync synchronize tag take tell terminate test toggle trace
    track train transcribe transfer transform translate traverse trigger trim try turn type unblock undo
    uninstall unlock unsubscribe update upload upsert use validate verify view visit visualize wait warn watch
    work wrap write zoom
";

static VERB: LazyLock<HashSet<&str>> = LazyLock::new(|| VERBS.split_whitespace().collect());

/// What says nothing. Words that can mean something exactly are not here.
const VAGUE: &[&str] =
    &["etc", "miscellaneous", "somehow", "something", "stuff", "things", "thingy", "various", "whatever"];

/// Words by which English is known: in another language nobody would find a verb here.
const ENGLISH: &[&str] = &["and", "by", "for", "from", "of", "the", "this", "to", "with", "your"];

/// So few words can be in any language, and are most often a name in English.
const FEW: usize = 3;

/// Whether a description says what is done, as far as can be told.
pub(super) fn has_verb(text: &str) -> bool {
    let words: Vec<String> = text
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let is_english = words.iter().any(|word| ENGLISH.contains(&word.as_str()));
    let is_short = words.len() <= FEW && text.is_ascii();
    !(is_english || is_short) || words.iter().any(|word| is_verb(word))
}

/// The first word that says nothing, if there is one.
pub(super) fn vague(text: &str) -> Option<&'static str> {
    // A path is no word, even if it is `/etc`.
    let is_edge = |letter: char| !letter.is_alphanumeric() && letter != '/';
    let mut words = text.split_whitespace().map(|word| word.trim_matches(is_edge).to_lowercase());
    words.find_map(|word| VAGUE.iter().copied().find(|vague| *vague == word))
}

/// Whether a word is a verb in any of its forms.
fn is_verb(word: &str) -> bool {
    let known = |stem: &str| VERB.contains(stem);
    let regular = |ending: &str| {
        let Some(stem) = word.strip_suffix(ending) else { return false };
        let doubled = stem.chars().next_back().and_then(|last| stem.strip_suffix(last));
        known(stem) || known(&format!("{stem}e")) || doubled.is_some_and(known)
    };
    let ends_in_y = |ending: &str| word.strip_suffix(ending).is_some_and(|stem| known(&format!("{stem}y")));
    known(word)
        || ["s", "es", "ing", "ed"].into_iter().any(regular)
        || ["ies", "ied"].into_iter().any(ends_in_y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_says_what_is_done() {
        #[track_caller]
        fn check(text: &str, expect: bool) {
            assert_eq!(has_verb(text), expect, "{text}");
        }
        check("Read a note by its name.", true);
        check("Gets the weather of a city.", true);
        check("A tool for getting the weather", true);
        check("Queries the database", true);
        check("This tool can be used with care", true);
        check("The stopped clock of the town", true);
        check("The weather of a city.", false);
        check("Weather information for a city", false);
        check("Weather tool", false);
        // In which language it is cannot be told, or it is another one.
        check("Liest eine Notiz aus der Ablage", true);
        check("メモを読む", true);
        check("", false);
    }

    #[test]
    fn a_vague_word_is_found_and_a_path_is_none() {
        #[track_caller]
        fn check(text: &str, expect: Option<&str>) {
            assert_eq!(vague(text), expect, "{text}");
        }
        check("Read pictures (PNG, JPEG, etc.).", Some("etc"));
        check("Do Stuff", Some("stuff"));
        check("Read /etc and /etc/hosts.", None);
        check("Read a note by its name.", None);
    }
}
