//! Error codes of JSON-RPC and MCP.

/// The text is not JSON.
pub const PARSE: i32 = -32700;
/// The text is JSON, but not a JSON-RPC message that is accepted here.
pub const INVALID_REQUEST: i32 = -32600;
/// The method is not known.
pub const METHOD_NOT_FOUND: i32 = -32601;
/// The parameters do not fit the method; since 2026-07-28 also a resource that does not exist.
pub const INVALID_PARAMS: i32 = -32602;
/// Something failed on this side.
pub const INTERNAL: i32 = -32603;
/// Too many requests: implementation-defined, from the range free before 2026-07-28.
pub const RATE_LIMITED: i32 = -32000;
/// A resource does not exist, as legacy versions say it.
pub const RESOURCE_NOT_FOUND: i32 = -32002;
/// A person has to visit an address before the call can be answered (2025-11-25).
pub const URL_ELICITATION_REQUIRED: i32 = -32042;
/// A header contradicts the body, or is missing (2026-07-28).
pub const HEADER_MISMATCH: i32 = -32020;
/// The client lacks a capability which the request needs (2026-07-28).
pub const MISSING_CAPABILITY: i32 = -32021;
/// The protocol version is not supported (2026-07-28).
pub const UNSUPPORTED_VERSION: i32 = -32022;
