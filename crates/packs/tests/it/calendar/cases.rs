//! Calendars written by hand, one matter each, with what is in them from March 1 to April 30, 2026, in Berlin, where
//! clocks are moved on March 29.

use serde_json::json;

use super::{Scene, calendar, listed};

/// What is asked of every case.
pub(super) const FROM: &str = "2026-03-01T00:00";
pub(super) const TO: &str = "2026-05-01T00:00";
pub(super) const ZONE: &str = "Europe/Berlin";

/// A calendar and its events: summary, start and end.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) lines: &'static str,
    pub(super) expect: &'static [[&'static str; 3]],
    /// Whether others read it in another way, and why we do not.
    pub(super) disputed: Option<&'static str>,
}

const fn case(name: &'static str, lines: &'static str, expect: &'static [[&'static str; 3]]) -> Case {
    Case { name, lines, expect, disputed: None }
}

const fn disputed(
    name: &'static str,
    why: &'static str,
    lines: &'static str,
    expect: &'static [[&'static str; 3]],
) -> Case {
    Case { name, lines, expect, disputed: Some(why) }
}

pub(super) const CASES: &[Case] = &[
    case(
        "weekly_over_the_change_of_clocks",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:a\nDTSTART;TZID=Europe/Berlin:20260322T100000\nDTEND;TZID=Europe/Berlin:20260322T110000\n\
         RRULE:FREQ=WEEKLY;COUNT=3\nEND:VEVENT",
        &[
            ["a", "2026-03-22T10:00:00+01:00", "2026-03-22T11:00:00+01:00"],
            ["a", "2026-03-29T10:00:00+02:00", "2026-03-29T11:00:00+02:00"],
            ["a", "2026-04-05T10:00:00+02:00", "2026-04-05T11:00:00+02:00"],
        ],
    ),
    case(
        "weekly_in_utc",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:a\nDTSTART:20260322T090000Z\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;UNTIL=20260405T090000Z\nEND:VEVENT",
        &[
            ["a", "2026-03-22T10:00:00+01:00", "2026-03-22T11:00:00+01:00"],
            ["a", "2026-03-29T11:00:00+02:00", "2026-03-29T12:00:00+02:00"],
            ["a", "2026-04-05T11:00:00+02:00", "2026-04-05T12:00:00+02:00"],
        ],
    ),
    case(
        "weekly_by_a_clock_in_new_york",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:a\nDTSTART;TZID=America/New_York:20260306T180000\nDURATION:PT30M\n\
         RRULE:FREQ=WEEKLY;UNTIL=20260403T220000Z\nEND:VEVENT",
        &[
            ["a", "2026-03-07T00:00:00+01:00", "2026-03-07T00:30:00+01:00"],
            ["a", "2026-03-13T23:00:00+01:00", "2026-03-13T23:30:00+01:00"],
            ["a", "2026-03-20T23:00:00+01:00", "2026-03-20T23:30:00+01:00"],
            ["a", "2026-03-27T23:00:00+01:00", "2026-03-27T23:30:00+01:00"],
            ["a", "2026-04-04T00:00:00+02:00", "2026-04-04T00:30:00+02:00"],
        ],
    ),
    case(
        "a_time_that_clocks_skip_is_an_hour_later",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:a\nDTSTART;TZID=Europe/Berlin:20260328T023000\nDURATION:PT15M\nRRULE:FREQ=DAILY;COUNT=3\nEND:VEVENT",
        &[
            ["a", "2026-03-28T02:30:00+01:00", "2026-03-28T02:45:00+01:00"],
            ["a", "2026-03-29T03:30:00+02:00", "2026-03-29T03:45:00+02:00"],
            ["a", "2026-03-30T02:30:00+02:00", "2026-03-30T02:45:00+02:00"],
        ],
    ),
    disputed(
        "an_end_is_an_exact_time_away",
        "the standard wants the same number of hours for every occurrence; others take the same clock time",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:a\nDTSTART;TZID=Europe/Berlin:20260321T220000\nDTEND;TZID=Europe/Berlin:20260322T060000\n\
         RRULE:FREQ=WEEKLY;COUNT=2\nEND:VEVENT",
        &[
            ["a", "2026-03-21T22:00:00+01:00", "2026-03-22T06:00:00+01:00"],
            ["a", "2026-03-28T22:00:00+01:00", "2026-03-29T07:00:00+02:00"],
        ],
    ),
    case(
        "a_length_in_days_is_by_the_calendar",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:a\nDTSTART;TZID=Europe/Berlin:20260328T220000\nDURATION:P1DT1H\nEND:VEVENT",
        &[["a", "2026-03-28T22:00:00+01:00", "2026-03-29T23:00:00+02:00"]],
    ),
    case(
        "every_other_week_on_three_days",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:a\nDTSTART:20260302T120000Z\nDURATION:PT1H\n\
         RRULE:FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=MO,WE,SU;COUNT=5\nEND:VEVENT",
        &[
            ["a", "2026-03-02T13:00:00+01:00", "2026-03-02T14:00:00+01:00"],
            ["a", "2026-03-04T13:00:00+01:00", "2026-03-04T14:00:00+01:00"],
            ["a", "2026-03-15T13:00:00+01:00", "2026-03-15T14:00:00+01:00"],
            ["a", "2026-03-16T13:00:00+01:00", "2026-03-16T14:00:00+01:00"],
            ["a", "2026-03-18T13:00:00+01:00", "2026-03-18T14:00:00+01:00"],
        ],
    ),
    case(
        "the_last_workday_of_a_month",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:a\nDTSTART;VALUE=DATE:20200131\nRRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1\nEND:VEVENT",
        &[["a", "2026-03-31", "2026-03-31"], ["a", "2026-04-30", "2026-04-30"]],
    ),
    case(
        "the_second_tuesday_and_the_last_day",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:a\nDTSTART;VALUE=DATE:20200114\nRRULE:FREQ=MONTHLY;BYDAY=2TU\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:2\nSUMMARY:b\nDTSTART;VALUE=DATE:20200131\nRRULE:FREQ=MONTHLY;BYMONTHDAY=-1\nEND:VEVENT",
        &[
            ["a", "2026-03-10", "2026-03-10"],
            ["a", "2026-04-14", "2026-04-14"],
            ["b", "2026-03-31", "2026-03-31"],
            ["b", "2026-04-30", "2026-04-30"],
        ],
    ),
    case(
        "yearly_by_day_week_and_day_of_the_year",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:birthday\nDTSTART;VALUE=DATE:19800401\nRRULE:FREQ=YEARLY\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:2\nSUMMARY:hundredth\nDTSTART;VALUE=DATE:20200409\nRRULE:FREQ=YEARLY;BYYEARDAY=100\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:3\nSUMMARY:week\nDTSTART;VALUE=DATE:20200309\nRRULE:FREQ=YEARLY;BYWEEKNO=11;BYDAY=MO\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:4\nSUMMARY:sunday\nDTSTART;VALUE=DATE:20200329\nRRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\nEND:VEVENT",
        &[
            ["birthday", "2026-04-01", "2026-04-01"],
            ["hundredth", "2026-04-10", "2026-04-10"],
            ["sunday", "2026-03-29", "2026-03-29"],
            ["week", "2026-03-09", "2026-03-09"],
        ],
    ),
    case(
        "hours_minutes_and_seconds",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:h\nDTSTART:20260310T060000Z\nRRULE:FREQ=HOURLY;INTERVAL=5;COUNT=3\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:2\nSUMMARY:m\nDTSTART:20260310T060000Z\nRRULE:FREQ=MINUTELY;INTERVAL=90;COUNT=2\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:3\nSUMMARY:s\nDTSTART:20260310T060000Z\nRRULE:FREQ=SECONDLY;INTERVAL=10;COUNT=2\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:4\nSUMMARY:t\nDTSTART:20260310T060000Z\nRRULE:FREQ=DAILY;BYHOUR=6,7;BYMINUTE=0,30;COUNT=4\nEND:VEVENT",
        &[
            ["h", "2026-03-10T07:00:00+01:00", "2026-03-10T07:00:00+01:00"],
            ["h", "2026-03-10T12:00:00+01:00", "2026-03-10T12:00:00+01:00"],
            ["h", "2026-03-10T17:00:00+01:00", "2026-03-10T17:00:00+01:00"],
            ["m", "2026-03-10T07:00:00+01:00", "2026-03-10T07:00:00+01:00"],
            ["m", "2026-03-10T08:30:00+01:00", "2026-03-10T08:30:00+01:00"],
            ["s", "2026-03-10T07:00:00+01:00", "2026-03-10T07:00:00+01:00"],
            ["s", "2026-03-10T07:00:10+01:00", "2026-03-10T07:00:10+01:00"],
            ["t", "2026-03-10T07:00:00+01:00", "2026-03-10T07:00:00+01:00"],
            ["t", "2026-03-10T07:30:00+01:00", "2026-03-10T07:30:00+01:00"],
            ["t", "2026-03-10T08:00:00+01:00", "2026-03-10T08:00:00+01:00"],
            ["t", "2026-03-10T08:30:00+01:00", "2026-03-10T08:30:00+01:00"],
        ],
    ),
    case(
        "dates_that_are_added_and_left_out",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:a\nDTSTART;TZID=Europe/Berlin:20260302T100000\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=4\n\
         EXDATE;TZID=Europe/Berlin:20260309T100000\nEXDATE:20260316T090000Z\n\
         RDATE;TZID=Europe/Berlin:20260305T180000,20260306T180000\n\
         RDATE;VALUE=PERIOD:20260307T080000Z/20260307T100000Z,20260308T080000Z/PT15M\nEND:VEVENT",
        &[
            ["a", "2026-03-02T10:00:00+01:00", "2026-03-02T11:00:00+01:00"],
            ["a", "2026-03-05T18:00:00+01:00", "2026-03-05T19:00:00+01:00"],
            ["a", "2026-03-06T18:00:00+01:00", "2026-03-06T19:00:00+01:00"],
            ["a", "2026-03-07T09:00:00+01:00", "2026-03-07T11:00:00+01:00"],
            ["a", "2026-03-08T09:00:00+01:00", "2026-03-08T09:15:00+01:00"],
            ["a", "2026-03-23T10:00:00+01:00", "2026-03-23T11:00:00+01:00"],
        ],
    ),
    case(
        "days_that_are_added_and_left_out",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:a\nDTSTART;VALUE=DATE:20260302\nRRULE:FREQ=DAILY;COUNT=4\nEXDATE;VALUE=DATE:20260303\n\
         RDATE;VALUE=DATE:20260401\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:2\nSUMMARY:b\nDTSTART;TZID=Europe/Berlin:20260302T233000\nRRULE:FREQ=DAILY;COUNT=3\n\
         EXDATE;VALUE=DATE:20260303\nEND:VEVENT",
        &[
            ["a", "2026-03-02", "2026-03-02"],
            ["a", "2026-03-04", "2026-03-04"],
            ["a", "2026-03-05", "2026-03-05"],
            ["a", "2026-04-01", "2026-04-01"],
            ["b", "2026-03-02T23:30:00+01:00", "2026-03-02T23:30:00+01:00"],
            ["b", "2026-03-04T23:30:00+01:00", "2026-03-04T23:30:00+01:00"],
        ],
    ),
    disputed(
        "rules_that_leave_out",
        "others do not know `EXRULE`, which is out of use but still found",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:a\nDTSTART;VALUE=DATE:20260302\nRRULE:FREQ=DAILY;COUNT=4\nEXRULE:FREQ=DAILY;INTERVAL=2\nEND:VEVENT",
        &[["a", "2026-03-03", "2026-03-03"], ["a", "2026-03-05", "2026-03-05"]],
    ),
    case(
        "occurrences_that_are_moved_renamed_and_cancelled",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:a\nDTSTART;TZID=Europe/Berlin:20260302T100000\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=5\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:1\nRECURRENCE-ID;TZID=Europe/Berlin:20260309T100000\nSUMMARY:moved\nSEQUENCE:1\n\
         DTSTART;TZID=Europe/Berlin:20260310T150000\nDURATION:PT2H\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:1\nRECURRENCE-ID:20260316T090000Z\nSUMMARY:by its instant\nDTSTART:20260316T090000Z\nDURATION:PT2H\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:1\nRECURRENCE-ID;TZID=Europe/Berlin:20260323T100000\nSUMMARY:gone\nSTATUS:CANCELLED\n\
         DTSTART;TZID=Europe/Berlin:20260323T100000\nDURATION:PT1H\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:2\nSUMMARY:another\nDTSTART;TZID=Europe/Berlin:20260309T100000\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=1\nEND:VEVENT",
        &[
            ["a", "2026-03-02T10:00:00+01:00", "2026-03-02T11:00:00+01:00"],
            ["a", "2026-03-30T10:00:00+02:00", "2026-03-30T11:00:00+02:00"],
            ["another", "2026-03-09T10:00:00+01:00", "2026-03-09T11:00:00+01:00"],
            ["by its instant", "2026-03-16T10:00:00+01:00", "2026-03-16T12:00:00+01:00"],
            ["moved", "2026-03-10T15:00:00+01:00", "2026-03-10T17:00:00+01:00"],
        ],
    ),
    case(
        "an_occurrence_that_is_moved_into_view_and_one_that_is_moved_out",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:a\nDTSTART;VALUE=DATE:20260201\nRRULE:FREQ=MONTHLY;COUNT=3\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:1\nRECURRENCE-ID;VALUE=DATE:20260201\nSUMMARY:in\nDTSTART;VALUE=DATE:20260315\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:1\nRECURRENCE-ID;VALUE=DATE:20260301\nSUMMARY:out\nDTSTART;VALUE=DATE:20260615\nEND:VEVENT",
        &[["a", "2026-04-01", "2026-04-01"], ["in", "2026-03-15", "2026-03-15"]],
    ),
    case(
        "the_newest_of_two_that_take_the_same_place",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:a\nDTSTART:20260302T100000Z\nRRULE:FREQ=WEEKLY;COUNT=2\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:1\nRECURRENCE-ID:20260309T100000Z\nSEQUENCE:2\nSUMMARY:newer\nDTSTART:20260309T120000Z\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:1\nRECURRENCE-ID:20260309T100000Z\nSEQUENCE:1\nSUMMARY:older\nDTSTART:20260309T110000Z\nEND:VEVENT",
        &[
            ["a", "2026-03-02T11:00:00+01:00", "2026-03-02T11:00:00+01:00"],
            ["newer", "2026-03-09T13:00:00+01:00", "2026-03-09T13:00:00+01:00"],
        ],
    ),
    case(
        "this_and_all_that_follow",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:a\nDTSTART;TZID=Europe/Berlin:20260302T100000\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=5\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:1\nRECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20260316T100000\nSUMMARY:later\n\
         DTSTART;TZID=Europe/Berlin:20260317T120000\nDURATION:PT2H\nEND:VEVENT",
        &[
            ["a", "2026-03-02T10:00:00+01:00", "2026-03-02T11:00:00+01:00"],
            ["a", "2026-03-09T10:00:00+01:00", "2026-03-09T11:00:00+01:00"],
            ["later", "2026-03-17T12:00:00+01:00", "2026-03-17T14:00:00+01:00"],
            ["later", "2026-03-24T12:00:00+01:00", "2026-03-24T14:00:00+01:00"],
            ["later", "2026-03-31T12:00:00+02:00", "2026-03-31T14:00:00+02:00"],
        ],
    ),
    case(
        "an_occurrence_whose_event_is_not_there",
        "BEGIN:VEVENT\nUID:1\nRECURRENCE-ID:20260309T100000Z\nSUMMARY:alone\nDTSTART:20260309T120000Z\nEND:VEVENT",
        &[["alone", "2026-03-09T13:00:00+01:00", "2026-03-09T13:00:00+01:00"]],
    ),
    case(
        "whole_days_and_several",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:one\nDTSTART;VALUE=DATE:20260310\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:2\nSUMMARY:three\nDTSTART;VALUE=DATE:20260310\nDTEND;VALUE=DATE:20260313\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:3\nSUMMARY:two\nDTSTART;VALUE=DATE:20260310\nDURATION:P2D\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:4\nSUMMARY:since february\nDTSTART;VALUE=DATE:20260201\nDTEND;VALUE=DATE:20260302\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:5\nSUMMARY:over\nDTSTART;VALUE=DATE:20260201\nDTEND;VALUE=DATE:20260301\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:6\nSUMMARY:too late\nDTSTART;VALUE=DATE:20260501\nEND:VEVENT",
        &[
            ["one", "2026-03-10", "2026-03-10"],
            ["since february", "2026-02-01", "2026-03-01"],
            ["three", "2026-03-10", "2026-03-12"],
            ["two", "2026-03-10", "2026-03-11"],
        ],
    ),
    case(
        "what_goes_on_for_days_begins_before_it_is_looked_at",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:a\nDTSTART;TZID=Europe/Berlin:20260130T120000\nDTEND;TZID=Europe/Berlin:20260203T120000\n\
         RRULE:FREQ=MONTHLY;BYMONTHDAY=-2;COUNT=3\nEND:VEVENT",
        &[
            ["a", "2026-02-27T12:00:00+01:00", "2026-03-03T12:00:00+01:00"],
            ["a", "2026-03-30T12:00:00+02:00", "2026-04-03T12:00:00+02:00"],
        ],
    ),
    case(
        "an_event_without_an_end_is_over_at_once",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:a\nDTSTART:20260310T100000Z\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:2\nSUMMARY:long ago\nDTSTART:20200310T100000Z\nEND:VEVENT",
        &[["a", "2026-03-10T11:00:00+01:00", "2026-03-10T11:00:00+01:00"]],
    ),
    case(
        "names_of_windows_and_times_that_float",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:windows\nDTSTART;TZID=Pacific Standard Time:20260310T100000\nDURATION:PT1H\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:2\nSUMMARY:quoted\nDTSTART;TZID=\"W. Europe Standard Time\":20260410T100000\nDURATION:PT1H\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:3\nSUMMARY:floating\nDTSTART:20260310T100000\nDTEND:20260310T110000\nRRULE:FREQ=MONTHLY;COUNT=2\nEND:VEVENT",
        &[
            ["floating", "2026-03-10T10:00:00", "2026-03-10T11:00:00"],
            ["floating", "2026-04-10T10:00:00", "2026-04-10T11:00:00"],
            ["quoted", "2026-04-10T10:00:00+02:00", "2026-04-10T11:00:00+02:00"],
            ["windows", "2026-03-10T18:00:00+01:00", "2026-03-10T19:00:00+01:00"],
        ],
    ),
    case(
        "a_time_zone_of_its_own",
        "BEGIN:VTIMEZONE\nTZID:Customized Time Zone\nBEGIN:STANDARD\nDTSTART:16010101T030000\nTZOFFSETFROM:+0330\nTZOFFSETTO:+0230\n\
         RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\nEND:STANDARD\nBEGIN:DAYLIGHT\nDTSTART:16010101T020000\nTZOFFSETFROM:+0230\n\
         TZOFFSETTO:+0330\nRRULE:FREQ=YEARLY;BYDAY=2SU;BYMONTH=4\nEND:DAYLIGHT\nEND:VTIMEZONE\n\
         BEGIN:VEVENT\nUID:1\nSUMMARY:a\nDTSTART;TZID=Customized Time Zone:20260311T120000\nDURATION:PT1H\n\
         RRULE:FREQ=MONTHLY;COUNT=1\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:2\nSUMMARY:b\nDTSTART;TZID=Customized Time Zone:20260413T120000\nDURATION:PT1H\nEND:VEVENT",
        &[
            ["a", "2026-03-11T10:30:00+01:00", "2026-03-11T11:30:00+01:00"],
            ["b", "2026-04-13T10:30:00+02:00", "2026-04-13T11:30:00+02:00"],
        ],
    ),
    case(
        "alarms_and_tasks_are_no_events",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:a\nDTSTART:20260310T100000Z\nBEGIN:VALARM\nACTION:DISPLAY\nTRIGGER:-PT5M\nSUMMARY:beep\n\
         DESCRIPTION:beep\nEND:VALARM\nEND:VEVENT\nBEGIN:VTODO\nUID:2\nSUMMARY:todo\nDTSTART:20260310T100000Z\nEND:VTODO",
        &[["a", "2026-03-10T11:00:00+01:00", "2026-03-10T11:00:00+01:00"]],
    ),
    case(
        "a_series_that_is_cancelled",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:a\nSTATUS:CANCELLED\nDTSTART:20260310T100000Z\nRRULE:FREQ=DAILY;COUNT=3\nEND:VEVENT",
        &[],
    ),
    disputed(
        "the_last_day_of_a_series_belongs_to_it",
        "others take a day without a time to end as it begins",
        "BEGIN:VEVENT\nUID:1\nSUMMARY:a\nDTSTART;TZID=Europe/Berlin:20260310T100000\nRRULE:FREQ=DAILY;UNTIL=20260311\nEND:VEVENT",
        &[
            ["a", "2026-03-10T10:00:00+01:00", "2026-03-10T10:00:00+01:00"],
            ["a", "2026-03-11T10:00:00+01:00", "2026-03-11T10:00:00+01:00"],
        ],
    ),
];

#[tokio::test]
async fn calendars_written_by_hand_are_read_as_they_are_meant() {
    for case in CASES {
        let scene = Scene::new(&[("x", &calendar(case.lines))]);
        let data = scene.read(json!({"from": FROM, "to": TO, "time_zone": ZONE, "limit": 1000})).await;
        let expect: Vec<_> = case.expect.iter().map(|item| item.map(str::to_owned)).collect();
        assert_eq!(listed(&data), expect, "{}", case.name);
        assert_eq!(data["calendars"][0]["notes"], json!([]), "{}", case.name);
    }
}
