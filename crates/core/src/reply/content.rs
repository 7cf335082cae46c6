//! Answers of several blocks: text, images, audio, resources and links to them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::SchemaGenerator;
use serde_json::{Value, json};
use toolgate_wire::Raw;

use super::Reply;
use crate::Result;

/// One block of an answer.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of the protocol's content types")]
pub enum Block {
    Text(String),
    Image { bytes: Vec<u8>, mime_type: &'static str },
    Audio { bytes: Vec<u8>, mime_type: &'static str },
    Resource { uri: String, mime_type: &'static str, text: String },
    ResourceLink { uri: String, name: String, mime_type: Option<String>, description: Option<String> },
}

impl Block {
    /// The block as the protocol writes it.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Text(text) => json!({"type": "text", "text": text}),
            Self::Image { bytes, mime_type } => {
                json!({"type": "image", "data": STANDARD.encode(bytes), "mimeType": mime_type})
            }
            Self::Audio { bytes, mime_type } => {
                json!({"type": "audio", "data": STANDARD.encode(bytes), "mimeType": mime_type})
            }
            Self::Resource { uri, mime_type, text } => {
                json!({"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": text}})
            }
            Self::ResourceLink { uri, name, mime_type, description } => {
                let mut block = json!({"type": "resource_link", "uri": uri, "name": name});
                if let Some(mime_type) = mime_type {
                    block["mimeType"] = json!(mime_type);
                }
                if let Some(description) = description {
                    block["description"] = json!(description);
                }
                block
            }
        }
    }
}

/// An answer of several blocks.
#[derive(Debug, Clone)]
pub struct Content(pub Vec<Block>);

impl Reply for Content {
    fn schema(_: &mut SchemaGenerator) -> Option<Value> {
        None
    }

    fn into_result(self, _: bool) -> Result<Raw> {
        let blocks: Vec<Value> = self.0.iter().map(Block::to_value).collect();
        Ok(Raw::of(&json!({"content": blocks, "isError": false})))
    }
}
