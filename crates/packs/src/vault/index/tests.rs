//! What the index finds, and in which order.

use super::*;

const STAMP: Stamp = Stamp { size: 0, modified_unix_ms: 0 };

fn path(text: &str) -> RelPath {
    RelPath::parse(text, "").unwrap()
}

fn index(notes: &[(&str, &str)]) -> Index {
    let mut index = Index::default();
    for (at, text) in notes {
        index.put(Prepared::new(&path(at), STAMP, Some(text)));
    }
    index
}

fn found<'a>(index: &'a Index, wanted: &Wanted) -> Vec<&'a str> {
    index.find(wanted).into_iter().map(|found| &*found.known.path).collect()
}

fn asking(query: &str) -> Wanted {
    Wanted { words: words::of_query(query), ..Wanted::default() }
}

#[track_caller]
fn check(index: &Index, query: &str, expect: &[&str]) {
    assert_eq!(found(index, &asking(query)), expect, "{query}");
}

#[test]
fn the_note_that_is_about_it_comes_first() {
    let index = index(&[
        ("garden.md", "Tomatoes need water. The greenhouse is warm."),
        ("Greenhouse.md", "Built in spring."),
        ("diary.md", &format!("Went to the greenhouse. {}", "Nothing else happened today. ".repeat(40))),
        ("other.md", "Nothing."),
    ]);
    check(&index, "greenhouse", &["Greenhouse.md", "garden.md", "diary.md"]);
    check(&index, "GREENHOUSES", &["Greenhouse.md", "garden.md", "diary.md"]);
    check(&index, "water greenhouse", &["garden.md", "Greenhouse.md", "diary.md"]);
    check(&index, "tomato", &["garden.md"]);
    check(&index, "zebra", &[]);
    check(&index, "…", &["Greenhouse.md", "diary.md", "garden.md", "other.md"]);
}

#[test]
fn scripts_without_spaces_are_searched() {
    let index = index(&[
        ("ja.md", "東京で会議があります"),
        ("zh.md", "我们在北京开会讨论预算"),
        ("ko.md", "한국어 메모장"),
        ("th.md", "บันทึกการประชุม"),
    ]);
    check(&index, "会議", &["ja.md"]);
    check(&index, "北京", &["zh.md"]);
    check(&index, "京", &["ja.md", "zh.md"]);
    check(&index, "算", &["zh.md"]);
    check(&index, "메모", &["ko.md"]);
    check(&index, "ประชุม", &["th.md"]);
    check(&index, "大阪", &[]);
}

#[test]
fn tags_properties_and_folders_narrow_it() {
    let index = index(&[
        ("a/one.md", "---\nstatus: Open\ndue: 2026-01-02\n---\n#project/alpha plan"),
        ("a/two.md", "---\nstatus: done\n---\n#projects plan"),
        ("ab/three.md", "#project plan"),
    ]);
    let with = |change: fn(&mut Wanted)| {
        let mut wanted = asking("plan");
        change(&mut wanted);
        found(&index, &wanted)
    };
    assert_eq!(with(|wanted| wanted.tags = vec!["project".into()]), ["ab/three.md", "a/one.md"]);
    assert_eq!(with(|wanted| wanted.tags = vec!["project/alpha".into(), "project".into()]), ["a/one.md"]);
    assert_eq!(with(|wanted| wanted.folder = "a".into()), ["a/two.md", "a/one.md"]);
    assert_eq!(with(|wanted| wanted.folder = "a/one.md".into()), ["a/one.md"]);
    assert_eq!(with(|wanted| wanted.properties = vec![("status".into(), Some("open".into()))]), ["a/one.md"]);
    assert_eq!(with(|wanted| wanted.properties = vec![("due".into(), None)]), ["a/one.md"]);
    assert!(with(|wanted| wanted.properties = vec![("due".into(), Some("2027".into()))]).is_empty());
}

#[test]
fn links_lead_where_people_mean_them_to() {
    let index = index(&[
        ("plan.md", "top"),
        ("a/plan.md", "[[ideas]]"),
        ("a/here.md", "[[plan]] [[here]]"),
        ("b/there.md", "[[Plan]] [[a/plan]] [x](../a/plan.md)"),
        ("b/ideas.md", "[up](../plan.md) [[nowhere]]"),
    ]);
    assert_eq!(index.links_of("a/here.md"), ["a/plan.md"]);
    assert_eq!(index.links_of("b/there.md"), ["a/plan.md", "plan.md"]);
    assert_eq!(index.links_of("b/ideas.md"), ["plan.md"]);
    assert_eq!(index.links_of("nowhere.md"), [""; 0]);
    assert_eq!(index.links_to("plan.md"), ["b/ideas.md", "b/there.md"]);
    assert_eq!(index.links_to("a/plan.md"), ["a/here.md", "b/there.md"]);
    assert_eq!(index.links_to("b/ideas.md"), ["a/plan.md"]);
    let wanted = Wanted { links_to: Some("plan.md".into()), ..asking("nowhere") };
    assert_eq!(found(&index, &wanted), ["b/ideas.md"]);
    let wanted = Wanted { linked_from: Some("b/there.md".into()), ..Wanted::default() };
    assert_eq!(found(&index, &wanted), ["a/plan.md", "plan.md"]);
}

#[test]
fn a_note_that_changes_is_what_it_is_now() {
    let mut index = index(&[("a.md", "apple [[b]]"), ("b.md", "banana")]);
    index.put(Prepared::new(&path("a.md"), STAMP, Some("cherry")));
    check(&index, "apple", &[]);
    check(&index, "cherry", &["a.md"]);
    assert!(index.links_to("b.md").is_empty());
    index.remove("b.md");
    index.remove("b.md");
    check(&index, "banana", &[]);
    assert_eq!(index.len(), 1);
    index.put(Prepared::new(&path("big.md"), STAMP, None));
    check(&index, "big", &["big.md"]);
    assert!(!index.at("big.md").unwrap().read);
}

#[test]
fn what_is_gone_is_left_out_in_the_end() {
    let mut index = index(&[("keep.md", "kept [[n0]]")]);
    for round in 0..3 {
        for number in 0..FEW {
            let text = format!("round{round} words");
            index.put(Prepared::new(&path(&format!("n{number}.md")), STAMP, Some(&text)));
        }
    }
    assert!(index.notes.len() <= 2 * FEW + 2, "{}", index.notes.len());
    assert_eq!(index.len(), FEW + 1);
    assert_eq!(found(&index, &asking("round2")).len(), FEW);
    check(&index, "round0", &[]);
    check(&index, "kept", &["keep.md"]);
    assert_eq!(index.links_to("n0.md"), ["keep.md"]);
    (0..FEW).for_each(|number| index.remove(&format!("n{number}.md")));
    assert_eq!((index.len(), index.below("").count()), (1, 1));
    index.shrink();
    assert_eq!(index.texts.len(), 1, "only the link that is left");
}

#[test]
fn what_is_below_a_folder_is_not_what_begins_like_it() {
    let index = index(&[("a.md", ""), ("a/x.md", ""), ("a b.md", ""), ("ab/y.md", ""), ("a/c/z.md", "")]);
    assert_eq!(index.below("a").collect::<Vec<_>>(), ["a/c/z.md", "a/x.md"]);
    assert_eq!(index.below("").count(), 5);
    assert_eq!(index.below("a.md").collect::<Vec<_>>(), ["a.md"]);
}
