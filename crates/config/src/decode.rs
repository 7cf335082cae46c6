//! A tree is read into a component's type by serde; what fails, fails with a reason that can be explained.

mod fault;

use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, Error as _, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;

pub(crate) use fault::{Fault, Found};

use crate::node::{Content, Node, Table};
use crate::suggest::listed;

/// Reads a node.
#[derive(Clone, Copy)]
pub(crate) struct Decoder<'a>(pub(crate) &'a Node);

impl<'de> Deserializer<'de> for Decoder<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.0.content {
            Content::Scalar(value) => scalar(value, visitor),
            Content::Table(table) => visitor.visit_map(entries(table)),
            Content::List(items) => {
                let mut items = SeqDeserializer::new(items.iter().map(Decoder));
                let value = visitor.visit_seq(&mut items)?;
                items.end()?;
                Ok(value)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.0.content {
            Content::Scalar(Value::Null) => visitor.visit_none(),
            Content::Scalar(_) | Content::List(_) | Content::Table(_) => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match &self.0.content {
            Content::Scalar(Value::String(word)) => visitor.visit_enum(word.as_str().into_deserializer()),
            Content::Table(table) if table.len() == 1 => {
                visitor.visit_enum(MapAccessDeserializer::new(entries(table)))
            }
            Content::Scalar(value) => Err(no_variant(unexpected(value), variants)),
            Content::List(_) => Err(no_variant(Unexpected::Seq, variants)),
            Content::Table(_) => Err(no_variant(Unexpected::Map, variants)),
        }
    }

    /// Serde would also take a list, the fields in order, which nobody means.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match &self.0.content {
            Content::List(_) => Err(Fault::invalid_type(Unexpected::Seq, &visitor)),
            Content::Scalar(_) | Content::Table(_) => {
                self.deserialize_any(visitor).map_err(|fault| fault.beside(fields))
            }
        }
    }

    /// A key that a component would pass over is a key it does not know.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Fault> {
        Err(Fault::Unknown { expected: None })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map identifier
    }
}

impl<'de> IntoDeserializer<'de, Fault> for Decoder<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

fn no_variant(found: Unexpected<'_>, variants: &[&str]) -> Fault {
    Fault::Type { found: found.into(), expected: format!("one of {}", listed(variants.iter().copied())) }
}

type Entries<'de, I> = MapDeserializer<'de, I, Fault>;

fn entries<'de>(table: &'de Table) -> Entries<'de, impl Iterator<Item = (&'de str, Decoder<'de>)>> {
    MapDeserializer::new(table.iter().map(|(key, node)| (key.as_str(), Decoder(node))))
}

fn scalar<'de, V: Visitor<'de>>(value: &'de Value, visitor: V) -> Result<V::Value, Fault> {
    match value {
        Value::Bool(truth) => visitor.visit_bool(*truth),
        Value::String(text) => visitor.visit_borrowed_str(text),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => visitor.visit_u64(number),
            (None, Some(number)) => visitor.visit_i64(number),
            (None, None) => visitor.visit_f64(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::Null | Value::Array(_) | Value::Object(_) => visitor.visit_unit(),
    }
}

fn unexpected(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(truth) => Unexpected::Bool(*truth),
        Value::String(text) => Unexpected::Str(text),
        Value::Number(number) => number
            .as_u64()
            .map(Unexpected::Unsigned)
            .or_else(|| number.as_i64().map(Unexpected::Signed))
            .or_else(|| number.as_f64().map(Unexpected::Float))
            .unwrap_or(Unexpected::Other("number")),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}
