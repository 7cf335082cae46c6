//! Rules, written by hand, one part at a time.

use super::*;
use crate::calendar::budget::{Budget, Spent};

fn at(text: &str) -> DateTime {
    text.parse().unwrap()
}

/// The times of a rule in a range, and how many steps it took.
fn walk(
    rule: &str,
    start: &str,
    (from, to): (&str, &str),
    most: usize,
) -> (Vec<DateTime>, Result<u64, Spent>) {
    let rule = Rule::parse(rule).unwrap_or_else(|| panic!("{rule} cannot be read"));
    let (range, steps) = (Range { start: at(start), from: at(from), to: at(to) }, 200_000);
    let (mut budget, mut found) = (Budget::new(steps), Vec::new());
    let walked = rule.walk(&range, &mut budget, &mut |at| {
        found.push(at);
        found.len() < most
    });
    let mut left = 0;
    while budget.spend(1).is_ok() {
        left += 1;
    }
    (found, walked.map(|()| steps - left))
}

/// The first times of a rule, as it shows them from its beginning, and the same from the middle on.
#[track_caller]
fn check(start: &str, rule: &str, expect: &[&str]) {
    let expect: Vec<DateTime> = expect.iter().map(|text| at(text)).collect();
    let range = (start, "2100-01-01T00:00");
    let (found, walked) = walk(rule, start, range, expect.len());
    assert!(walked.is_ok(), "{rule} takes too long");
    assert_eq!(found, expect, "{rule}");
    for (place, from) in expect.iter().enumerate() {
        let from = from.to_string();
        let (found, _) = walk(rule, start, (&from, range.1), expect.len() - place);
        assert_eq!(found, expect[place..], "{rule} from {from}");
    }
}

#[test]
fn every_frequency_repeats() {
    check(
        "2026-01-31T09:00",
        "FREQ=SECONDLY;INTERVAL=30",
        &["2026-01-31T09:00:00", "2026-01-31T09:00:30", "2026-01-31T09:01:00"],
    );
    check("2026-01-31T23:59", "FREQ=MINUTELY", &["2026-01-31T23:59", "2026-02-01T00:00", "2026-02-01T00:01"]);
    check(
        "2026-01-31T22:15",
        "FREQ=HOURLY;INTERVAL=3",
        &["2026-01-31T22:15", "2026-02-01T01:15", "2026-02-01T04:15"],
    );
    check("2026-02-27T09:00", "FREQ=DAILY", &["2026-02-27T09:00", "2026-02-28T09:00", "2026-03-01T09:00"]);
    check(
        "2026-02-27T09:00",
        "FREQ=DAILY;INTERVAL=10",
        &["2026-02-27T09:00", "2026-03-09T09:00", "2026-03-19T09:00"],
    );
    check(
        "2026-12-28T09:00",
        "FREQ=WEEKLY;INTERVAL=2",
        &["2026-12-28T09:00", "2027-01-11T09:00", "2027-01-25T09:00"],
    );
    check("2026-11-16T09:00", "FREQ=MONTHLY", &["2026-11-16T09:00", "2026-12-16T09:00", "2027-01-16T09:00"]);
    check("2026-11-16T09:00", "freq=yearly;interval=4", &["2026-11-16T09:00", "2030-11-16T09:00"]);
}

#[test]
fn a_day_that_a_month_does_not_have_is_left_out() {
    check("2026-01-31T09:00", "FREQ=MONTHLY", &["2026-01-31T09:00", "2026-03-31T09:00", "2026-05-31T09:00"]);
    check("2024-02-29T09:00", "FREQ=YEARLY", &["2024-02-29T09:00", "2028-02-29T09:00", "2032-02-29T09:00"]);
    check(
        "2026-01-30T09:00",
        "FREQ=MONTHLY;BYMONTHDAY=30,31;BYMONTH=1,2,4",
        &["2026-01-30T09:00", "2026-01-31T09:00", "2026-04-30T09:00"],
    );
}

#[test]
fn days_of_the_week_count_within_their_month_year_or_week() {
    let weekly = "FREQ=WEEKLY;BYDAY=MO,WE,FR";
    check(
        "2026-11-18T09:00",
        weekly,
        &["2026-11-18T09:00", "2026-11-20T09:00", "2026-11-23T09:00", "2026-11-25T09:00"],
    );
    check(
        "2026-01-02T09:00",
        "FREQ=MONTHLY;BYDAY=1FR",
        &["2026-01-02T09:00", "2026-02-06T09:00", "2026-03-06T09:00"],
    );
    check(
        "2026-01-25T09:00",
        "FREQ=MONTHLY;BYDAY=-1SU",
        &["2026-01-25T09:00", "2026-02-22T09:00", "2026-03-29T09:00"],
    );
    check(
        "2026-01-05T09:00",
        "FREQ=MONTHLY;BYDAY=1MO,3MO",
        &["2026-01-05T09:00", "2026-01-19T09:00", "2026-02-02T09:00"],
    );
    check(
        "2026-01-30T09:00",
        "FREQ=MONTHLY;BYDAY=5FR",
        &["2026-01-30T09:00", "2026-05-29T09:00", "2026-07-31T09:00"],
    );
    check(
        "2026-05-18T09:00",
        "FREQ=YEARLY;BYDAY=20MO",
        &["2026-05-18T09:00", "2027-05-17T09:00", "2028-05-15T09:00"],
    );
    check("2026-03-29T02:00", "FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU", &["2026-03-29T02:00", "2027-03-28T02:00"]);
    // A number and none beside each other: both count.
    check(
        "2026-06-01T09:00",
        "FREQ=MONTHLY;BYDAY=1MO,SU;BYMONTH=6",
        &["2026-06-01T09:00", "2026-06-07T09:00", "2026-06-14T09:00"],
    );
    check(
        "2026-02-13T09:00",
        "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
        &["2026-02-13T09:00", "2026-03-13T09:00", "2026-11-13T09:00"],
    );
    check(
        "2026-11-03T09:00",
        "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8",
        &["2026-11-03T09:00", "2030-11-05T09:00"],
    );
}

#[test]
fn a_week_begins_where_the_rule_says() {
    let every_other = "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU";
    check(
        "1997-08-05T09:00",
        &format!("{every_other};WKST=MO"),
        &["1997-08-05T09:00", "1997-08-10T09:00", "1997-08-19T09:00", "1997-08-24T09:00"],
    );
    check(
        "1997-08-05T09:00",
        &format!("{every_other};WKST=SU"),
        &["1997-08-05T09:00", "1997-08-17T09:00", "1997-08-19T09:00", "1997-08-31T09:00"],
    );
}

#[test]
fn days_are_counted_from_either_end() {
    check(
        "2026-01-31T09:00",
        "FREQ=MONTHLY;BYMONTHDAY=-1",
        &["2026-01-31T09:00", "2026-02-28T09:00", "2026-03-31T09:00"],
    );
    check(
        "2026-01-01T09:00",
        "FREQ=YEARLY;BYYEARDAY=1,100,-1",
        &["2026-01-01T09:00", "2026-04-10T09:00", "2026-12-31T09:00", "2027-01-01T09:00"],
    );
    check("2024-12-31T09:00", "FREQ=YEARLY;BYYEARDAY=366", &["2024-12-31T09:00", "2028-12-31T09:00"]);
    check(
        "2026-05-11T09:00",
        "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO",
        &["2026-05-11T09:00", "2027-05-17T09:00", "2028-05-15T09:00"],
    );
    // Without a day of the week it is that of the first time.
    check("2026-05-13T09:00", "FREQ=YEARLY;BYWEEKNO=20", &["2026-05-13T09:00", "2027-05-19T09:00"]);
    check("2026-12-28T09:00", "FREQ=YEARLY;BYWEEKNO=53;BYDAY=MO", &["2026-12-28T09:00", "2032-12-27T09:00"]);
}

#[test]
fn positions_choose_from_what_an_interval_has() {
    let last_workday = "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1";
    check("2026-01-30T09:00", last_workday, &["2026-01-30T09:00", "2026-02-27T09:00", "2026-03-31T09:00"]);
    check(
        "2026-01-01T09:00",
        "FREQ=MONTHLY;BYDAY=TU,WE,TH;BYSETPOS=3",
        &["2026-01-07T09:00", "2026-02-05T09:00", "2026-03-05T09:00"],
    );
    check(
        "2026-01-01T08:00",
        "FREQ=DAILY;BYHOUR=8,12,18;BYSETPOS=1,-1",
        &["2026-01-01T08:00", "2026-01-01T18:00", "2026-01-02T08:00"],
    );
    check(
        "2026-01-01T00:00",
        "FREQ=HOURLY;BYMINUTE=5,35;BYSETPOS=-1",
        &["2026-01-01T00:35", "2026-01-01T01:35"],
    );
    // A place that is not there is none.
    check(
        "2026-01-31T09:00",
        "FREQ=MONTHLY;BYMONTHDAY=1,15,31;BYSETPOS=3",
        &["2026-01-31T09:00", "2026-03-31T09:00"],
    );
}

#[test]
fn hours_minutes_and_seconds_add_or_leave_out() {
    check(
        "2026-01-01T08:30",
        "FREQ=DAILY;BYHOUR=8,18;BYMINUTE=0,30",
        &["2026-01-01T08:30", "2026-01-01T18:00", "2026-01-01T18:30", "2026-01-02T08:00"],
    );
    check(
        "2026-01-01T09:00",
        "FREQ=HOURLY;BYHOUR=9,17;BYDAY=TH,FR",
        &["2026-01-01T09:00", "2026-01-01T17:00", "2026-01-02T09:00", "2026-01-02T17:00", "2026-01-08T09:00"],
    );
    check(
        "2026-01-01T09:00",
        "FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,16",
        &["2026-01-01T09:00", "2026-01-01T09:20", "2026-01-01T09:40", "2026-01-01T16:00"],
    );
    check(
        "2026-01-01T00:00",
        "FREQ=SECONDLY;BYSECOND=15,60;BYMINUTE=0;BYHOUR=0;BYMONTHDAY=1",
        &["2026-01-01T00:00:15", "2026-01-01T00:00:59", "2026-02-01T00:00:15"],
    );
}

#[test]
fn a_number_of_times_counts_the_first() {
    #[track_caller]
    fn all(start: &str, rule: &str, expect: &[&str]) {
        let (found, _) = walk(rule, start, (start, "2100-01-01T00:00"), usize::MAX);
        assert_eq!(found, expect.iter().map(|text| at(text)).collect::<Vec<_>>(), "{rule}");
    }
    all("2026-01-01T09:00", "FREQ=DAILY;COUNT=2", &["2026-01-01T09:00", "2026-01-02T09:00"]);
    all(
        "2026-01-05T09:00",
        "FREQ=WEEKLY;BYDAY=MO,FR;COUNT=3",
        &["2026-01-05T09:00", "2026-01-09T09:00", "2026-01-12T09:00"],
    );
    // The first time does not fit the rule, but it is the first.
    all("2026-01-06T09:00", "FREQ=WEEKLY;BYDAY=MO,FR;COUNT=3", &["2026-01-09T09:00", "2026-01-12T09:00"]);
    all("2026-01-06T09:00", "FREQ=WEEKLY;BYDAY=MO;COUNT=1", &[]);
    all("2026-01-01T09:00", "FREQ=MONTHLY;BYMONTHDAY=31;COUNT=2", &["2026-01-31T09:00"]);
    // They count also where nobody looks.
    let range = ("2026-02-01T00:00", "2026-12-31T00:00");
    let (found, _) = walk("FREQ=DAILY;BYHOUR=9,10;COUNT=64", "2026-01-01T09:00", range, usize::MAX);
    assert_eq!(found, [at("2026-02-01T09:00"), at("2026-02-01T10:00")]);
    let (found, _) = walk("FREQ=DAILY;COUNT=32", "2026-01-01T09:00", range, usize::MAX);
    assert_eq!(found, [at("2026-02-01T09:00")]);
    let (found, _) = walk("FREQ=DAILY;COUNT=31", "2026-01-01T09:00", range, usize::MAX);
    assert_eq!(found, []);
}

#[test]
fn what_cannot_be_a_rule_is_none() {
    for rule in [
        "",
        "FREQ",
        "INTERVAL=2",
        "FREQ=OFTEN",
        "FREQ=DAILY;INTERVAL=0",
        "FREQ=DAILY;INTERVAL=-1",
        "FREQ=DAILY;COUNT=0",
        "FREQ=DAILY;COUNT=x",
        "FREQ=DAILY;UNTIL=tomorrow",
        "FREQ=DAILY;BYHOUR=24",
        "FREQ=DAILY;BYMONTH=0,1",
        "FREQ=DAILY;BYMONTHDAY=0",
        "FREQ=DAILY;BYSETPOS=367",
        "FREQ=DAILY;BYDAY=XX",
        "FREQ=DAILY;BYDAY=0MO",
        "FREQ=DAILY;BYDAY=54MO",
        "FREQ=DAILY;BYDAY=é",
        "FREQ=DAILY;WKST=M",
        "RSCALE=HEBREW;FREQ=YEARLY",
        "FREQ=DAILY;INTERVAL=99999999999999999999",
        "FREQ=DAILY;BYHOUR=",
    ] {
        assert_eq!(Rule::parse(rule), None, "{rule}");
    }
    assert!(Rule::parse("RSCALE=GREGORIAN;FREQ=YEARLY;X-SOMETHING=1;").is_some());
}

/// Everything that would take for ever if it were done one by one; none may take more steps than the budget has.
#[test]
fn hostile_rules_end_soon_and_give_what_they_can() {
    let all = |name: &str, most: i64| {
        (0..most).map(|number| number.to_string()).collect::<Vec<_>>().join(",") + ";" + name
    };
    let crowded = format!("BYHOUR={};BYMINUTE={};BYSECOND={}", all("", 24), all("", 60), all("", 60))
        .replace(";;", ";");
    let week = ("2026-11-16T00:00", "2026-11-23T00:00");
    for (rule, most, expect) in [
        ("FREQ=SECONDLY".to_owned(), 5, Some("2026-11-16T00:00:04")),
        ("FREQ=SECONDLY;COUNT=9000000000".to_owned(), 5, Some("2026-11-16T00:00:04")),
        ("FREQ=SECONDLY;UNTIL=99991231T235959Z".to_owned(), 5, Some("2026-11-16T00:00:04")),
        ("FREQ=MINUTELY".to_owned(), 5, Some("2026-11-16T00:04:00")),
        (format!("FREQ=YEARLY;{crowded}BYDAY=MO,TU,WE,TH,FR,SA,SU"), 5, Some("2026-11-16T00:00:04")),
        (format!("FREQ=YEARLY;{crowded}BYDAY=MO,TU,WE,TH,FR,SA,SU;BYSETPOS=1,-1"), 1, None),
        (format!("FREQ=SECONDLY;{crowded}BYMONTH=1"), 1, None),
        ("FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30".to_owned(), 1, None),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30".to_owned(), 1, None),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;COUNT=4".to_owned(), 1, None),
        ("FREQ=DAILY;INTERVAL=9223372036854775807".to_owned(), 1, None),
        ("FREQ=YEARLY;INTERVAL=9223372036854775807".to_owned(), 1, None),
        ("FREQ=SECONDLY;BYSECOND=0;COUNT=999999999".to_owned(), 1, None),
    ] {
        let (found, _) = walk(&rule, "1970-01-01T00:00", week, most);
        let last = found.last().copied().filter(|_| found.len() == most);
        assert_eq!(last, expect.map(at), "{rule}");
    }
}
