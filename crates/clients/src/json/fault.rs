//! What the parser found wrong, and what to write instead.

use jsonc_parser::ParseStringErrorKind;
use jsonc_parser::errors::{ParseError, ParseErrorKind as Kind};

use crate::format::Fault;

pub(super) fn syntax(error: &ParseError) -> Fault {
    let message = error.kind().to_string();
    let mut letters = message.chars();
    let message =
        letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or(message);
    Fault::new(error.range().start, message, instead(error.kind()))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "features of the parser add kinds that we do not meet")]
fn instead(kind: &Kind) -> &'static str {
    match kind {
        Kind::ExpectedComma => "write a `,` between the two values",
        Kind::ExpectedColonAfterObjectKey | Kind::UnexpectedColon => {
            "write each property as `\"name\": value`"
        }
        Kind::ExpectedObjectValue => "write a value after the `:`",
        Kind::ExpectedStringObjectProperty | Kind::SingleQuotedStringsNotAllowed | Kind::UnexpectedWord => {
            "put names and texts between double quotes"
        }
        Kind::UnterminatedObject => "close the object with `}`",
        Kind::UnterminatedArray => "close the list with `]`",
        Kind::UnexpectedCloseBrace => "write a value before the `}`",
        Kind::UnexpectedCloseBracket => "write a value before the `]`",
        Kind::UnterminatedCommentBlock => "close the comment with `*/`",
        Kind::String(ParseStringErrorKind::UnterminatedStringLiteral) => "close the text with `\"`",
        Kind::String(_) => "write a backslash as `\\\\`",
        Kind::MultipleRootJsonValues => "keep one value: a file holds one object",
        Kind::UnexpectedComma => "remove the `,`",
        Kind::BareDecimalPointNumbersNotAllowed
        | Kind::ExpectedDigit
        | Kind::ExpectedDigitFollowingNegativeSign
        | Kind::ExpectedPlusMinusOrDigitInNumberLiteral
        | Kind::HexadecimalNumbersNotAllowed
        | Kind::NonFiniteNumbersNotAllowed
        | Kind::UnaryPlusNumbersNotAllowed => "write a decimal number such as `0.5`",
        Kind::NestingDepthExceeded => "nest less deeply",
        _ => "correct it, and run this again; nothing was written",
    }
}
