//! The function `format`: text with values put in, as in `format("%s has %d", name, count)`.

use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::starlark_module;
use starlark::values::UnpackValue as _;
use starlark::values::Value;
use starlark::values::float::UnpackFloat;
use starlark::values::tuple::UnpackTuple;

use crate::language::host::{Host, outgoing};

/// The widest that a value is padded to.
const WIDEST: usize = 1000;

#[starlark_module]
pub(super) fn module(builder: &mut GlobalsBuilder) {
    /// Text with values put in: `%s` and `%v` any value, `%d` an integer, `%f` a number, `%x` hexadecimal, `%q` in
    /// quotes, `%t` a bool, `%j` as JSON, `%%` a percent sign; `%5d`, `%-5s`, `%05d` and `%.2f` as everywhere.
    fn format<'v>(
        #[starlark(require = pos)] text: &str,
        #[starlark(args)] values: UnpackTuple<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> anyhow::Result<String> {
        written(text, &values.items, eval)
    }
}

/// How a value is to be put in.
#[derive(Default)]
struct Verb {
    left: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
    letter: char,
}

fn written<'v>(text: &str, values: &[Value<'v>], eval: &mut Evaluator<'v, '_, '_>) -> anyhow::Result<String> {
    let most = Host::of(eval)?.output;
    let (mut out, mut rest, mut values) = (String::new(), text, values.iter());
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let (verb, behind) = verb(&rest[at + 1..])?;
        rest = behind;
        if verb.letter == '%' {
            out.push('%');
            continue;
        }
        let Some(value) = values.next() else {
            anyhow::bail!("`{text}` needs more values than it is given");
        };
        out.push_str(&padded(&verb, &shown(&verb, *value, eval)?));
        if out.len() > most {
            anyhow::bail!("the text has more than {most} bytes");
        }
    }
    if values.len() > 0 {
        anyhow::bail!("`{text}` takes {} values fewer than it is given", values.len());
    }
    out.push_str(rest);
    Ok(out)
}

/// Reads what follows a percent sign.
fn verb(text: &str) -> anyhow::Result<(Verb, &str)> {
    let mut verb = Verb::default();
    let flags = text.len() - text.trim_start_matches(['-', '0']).len();
    verb.left = text[..flags].contains('-');
    verb.zeros = text[..flags].contains('0') && !verb.left;
    let (width, rest) = number(&text[flags..])?;
    verb.width = width.unwrap_or(0);
    let mut rest = rest;
    if let Some(behind) = rest.strip_prefix('.') {
        let (precision, behind) = number(behind)?;
        verb.precision = Some(precision.unwrap_or(0));
        rest = behind;
    }
    let Some(letter) = rest.chars().next() else { anyhow::bail!("the text ends behind a percent sign") };
    verb.letter = letter;
    Ok((verb, &rest[letter.len_utf8()..]))
}

fn number(text: &str) -> anyhow::Result<(Option<usize>, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    if end == 0 {
        return Ok((None, text));
    }
    match text[..end].parse() {
        Ok(number) if number <= WIDEST => Ok((Some(number), &text[end..])),
        _ => anyhow::bail!("`{}` is wider than {WIDEST}", &text[..end.min(20)]),
    }
}

fn shown<'v>(verb: &Verb, value: Value<'v>, eval: &mut Evaluator<'v, '_, '_>) -> anyhow::Result<String> {
    let wrong = |expected: &str| {
        anyhow::anyhow!("`%{}` takes {expected}, and not a value of type `{}`", verb.letter, value.get_type())
    };
    let is_int = value.get_type() == "int";
    Ok(match verb.letter {
        's' | 'v' => cut(value.to_str(), verb.precision),
        'd' if is_int => value.to_str(),
        'd' => return Err(wrong("an int")),
        'f' => {
            let number = UnpackFloat::unpack_value(value).ok().flatten().ok_or_else(|| wrong("a number"))?;
            format!("{:.*}", verb.precision.unwrap_or(6), number.0)
        }
        'x' => match (value.unpack_str(), i64::unpack_value(value).ok().flatten()) {
            (Some(text), _) => text.bytes().map(|byte| format!("{byte:02x}")).collect(),
            (None, Some(number)) if number < 0 => format!("-{:x}", number.unsigned_abs()),
            (None, Some(number)) => format!("{number:x}"),
            (None, None) => return Err(wrong("an int or a string")),
        },
        'q' => value.unpack_str().map(|_| value.to_repr()).ok_or_else(|| wrong("a string"))?,
        't' => value.unpack_bool().map(|flag| flag.to_string()).ok_or_else(|| wrong("a bool"))?,
        'j' => outgoing(value, eval)?.as_str().to_owned(),
        other => anyhow::bail!("`%{other}` means nothing: use %s, %d, %f, %x, %q, %t, %v, %j or %%"),
    })
}

fn cut(text: String, most: Option<usize>) -> String {
    match most {
        Some(most) => text.chars().take(most).collect(),
        None => text,
    }
}

fn padded(verb: &Verb, text: &str) -> String {
    let room = verb.width.saturating_sub(text.chars().count());
    if verb.left {
        return format!("{text}{}", " ".repeat(room));
    }
    if verb.zeros && matches!(verb.letter, 'd' | 'f' | 'x') {
        let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
        return format!("{sign}{}{digits}", "0".repeat(room));
    }
    format!("{}{text}", " ".repeat(room))
}
