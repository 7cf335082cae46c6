//! The exhaustive table of error kinds: category, MCP form, HTTP status, exit code, retryable, suggestions.

use toolgate_wire::code;

/// One kind per different reaction of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The arguments do not fit the tool.
    InvalidInput,
    /// The params of a request are malformed.
    InvalidParams,
    /// No such tool or prompt in the caller's view.
    UnknownTarget,
    /// No such resource.
    ResourceNotFound,
    /// No such method.
    UnknownMethod,
    /// The client cannot answer a question that the call has to ask.
    MissingCapability,
    /// The thing the arguments name does not exist.
    NotFound,
    /// The file the arguments name does not exist.
    FileNotFound,
    /// The session the arguments name does not exist.
    SessionNotFound,
    /// The skill the arguments name does not exist.
    SkillNotFound,
    /// The agent the arguments name does not exist.
    AgentNotFound,
    /// What is there is not what the caller takes it to be.
    Conflict,
    /// A rule or a person said no.
    Denied,
    /// A person has to say yes first.
    NeedsApproval,
    /// Too many calls in too short a time.
    RateLimited,
    /// Credentials are missing or wrong.
    Unauthorized,
    /// Something the call needs cannot be reached.
    ConnectionFailed,
    /// It took too long.
    Timeout,
    /// The caller gave up.
    Cancelled,
    /// Another MCP server failed.
    Upstream,
    /// Our fault.
    Internal,
}

/// How an error of a tool call is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RpcForm {
    /// A JSON-RPC error with this code.
    Error(i32),
    /// A result with `isError: true`, so that the model can correct itself.
    Result,
}

impl Kind {
    /// Every kind, in the order of the table.
    pub const ALL: [Self; 21] = [
        Self::InvalidInput,
        Self::InvalidParams,
        Self::UnknownTarget,
        Self::ResourceNotFound,
        Self::UnknownMethod,
        Self::MissingCapability,
        Self::NotFound,
        Self::FileNotFound,
        Self::SessionNotFound,
        Self::SkillNotFound,
        Self::AgentNotFound,
        Self::Conflict,
        Self::Denied,
        Self::NeedsApproval,
        Self::RateLimited,
        Self::Unauthorized,
        Self::ConnectionFailed,
        Self::Timeout,
        Self::Cancelled,
        Self::Upstream,
        Self::Internal,
    ];

    /// The category that tool results name.
    pub fn category(self) -> &'static str {
        match self {
            Self::InvalidInput | Self::InvalidParams => "invalidInput",
            Self::UnknownTarget | Self::ResourceNotFound | Self::UnknownMethod | Self::NotFound => "notFound",
            Self::MissingCapability => "invalidInput",
            Self::FileNotFound => "fileNotFound",
            Self::SessionNotFound => "sessionNotFound",
            Self::SkillNotFound => "skillNotFound",
            Self::AgentNotFound => "agentNotFound",
            Self::Conflict => "invalidInput",
            Self::Denied => "denied",
            Self::NeedsApproval => "needsApproval",
            Self::RateLimited => "rateLimited",
            Self::Unauthorized => "unauthorized",
            Self::ConnectionFailed => "connectionFailed",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Upstream => "mcpError",
            Self::Internal => "internal",
        }
    }

    /// How a tool call that failed this way is answered.
    pub fn tool_form(self) -> RpcForm {
        match self {
            Self::InvalidParams
            | Self::UnknownTarget
            | Self::ResourceNotFound
            | Self::UnknownMethod
            | Self::MissingCapability
            | Self::RateLimited
            | Self::Internal => RpcForm::Error(self.code()),
            Self::InvalidInput
            | Self::NotFound
            | Self::FileNotFound
            | Self::SessionNotFound
            | Self::SkillNotFound
            | Self::AgentNotFound
            | Self::Conflict
            | Self::Denied
            | Self::NeedsApproval
            | Self::Unauthorized
            | Self::ConnectionFailed
            | Self::Timeout
            | Self::Cancelled
            | Self::Upstream => RpcForm::Result,
        }
    }

    /// The JSON-RPC code where there is no result to put the error in.
    pub fn code(self) -> i32 {
        match self {
            Self::InvalidInput
            | Self::InvalidParams
            | Self::UnknownTarget
            | Self::ResourceNotFound
            | Self::NotFound
            | Self::FileNotFound
            | Self::SessionNotFound
            | Self::SkillNotFound
            | Self::AgentNotFound
            | Self::Conflict => code::INVALID_PARAMS,
            Self::UnknownMethod => code::METHOD_NOT_FOUND,
            Self::MissingCapability => code::MISSING_CAPABILITY,
            Self::RateLimited => code::RATE_LIMITED,
            Self::Denied
            | Self::NeedsApproval
            | Self::Unauthorized
            | Self::ConnectionFailed
            | Self::Timeout
            | Self::Cancelled
            | Self::Upstream
            | Self::Internal => code::INTERNAL,
        }
    }

    /// The status where an API answers by HTTP status.
    pub fn http_status(self) -> u16 {
        match self {
            Self::InvalidInput | Self::InvalidParams | Self::MissingCapability => 400,
            Self::Unauthorized => 401,
            Self::Denied | Self::NeedsApproval => 403,
            Self::UnknownTarget
            | Self::ResourceNotFound
            | Self::UnknownMethod
            | Self::NotFound
            | Self::FileNotFound
            | Self::SessionNotFound
            | Self::SkillNotFound
            | Self::AgentNotFound => 404,
            Self::Conflict | Self::Cancelled => 409,
            Self::RateLimited => 429,
            Self::Internal => 500,
            Self::ConnectionFailed | Self::Upstream => 502,
            Self::Timeout => 504,
        }
    }

    /// The exit code of a command that ends this way.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::InvalidInput | Self::InvalidParams | Self::UnknownTarget | Self::UnknownMethod => 2,
            Self::Internal => 70,
            Self::ResourceNotFound
            | Self::MissingCapability
            | Self::NotFound
            | Self::FileNotFound
            | Self::SessionNotFound
            | Self::SkillNotFound
            | Self::AgentNotFound
            | Self::Conflict
            | Self::Denied
            | Self::NeedsApproval
            | Self::RateLimited
            | Self::Unauthorized
            | Self::ConnectionFailed
            | Self::Timeout
            | Self::Cancelled
            | Self::Upstream => 1,
        }
    }

    /// Whether the same call may succeed later without being changed.
    pub fn retryable(self) -> bool {
        match self {
            Self::NeedsApproval | Self::RateLimited | Self::ConnectionFailed | Self::Timeout => true,
            Self::InvalidInput
            | Self::InvalidParams
            | Self::UnknownTarget
            | Self::ResourceNotFound
            | Self::UnknownMethod
            | Self::MissingCapability
            | Self::NotFound
            | Self::FileNotFound
            | Self::SessionNotFound
            | Self::SkillNotFound
            | Self::AgentNotFound
            | Self::Conflict
            | Self::Denied
            | Self::Unauthorized
            | Self::Cancelled
            | Self::Upstream
            | Self::Internal => false,
        }
    }

    /// What to try, for every error of this kind.
    pub fn suggestions(self) -> &'static [&'static str] {
        match self {
            Self::InvalidInput | Self::InvalidParams => {
                &["Check the types and the required fields", "Read the tool's input schema with `tools/list`"]
            }
            Self::UnknownTarget => {
                &["List what there is with `tools/list` or `prompts/list`", "Check the spelling"]
            }
            Self::ResourceNotFound => &["List what there is with `resources/list`", "Check the URI"],
            Self::UnknownMethod => &["Check the method and the protocol version"],
            Self::MissingCapability => &["Use a client that can answer this question", "Choose another tool"],
            Self::NotFound => &["List what exists", "Check the spelling"],
            Self::FileNotFound => &["Verify the path", "List the folder to see what exists"],
            Self::SessionNotFound => &["List the sessions", "Create a new session", "Check the session ID"],
            Self::SkillNotFound => &["List the skills", "Check the spelling"],
            Self::AgentNotFound => &["List the agents", "Check the spelling"],
            Self::Conflict => &["Look at it again, then decide"],
            Self::Denied => &["Ask the person who runs Toolgate to allow it", "Choose another way"],
            Self::NeedsApproval => &["Ask an administrator to approve it, then call again"],
            Self::RateLimited => &["Wait, then call again"],
            Self::Unauthorized => &["Check the API keys and tokens", "Sign in again"],
            Self::ConnectionFailed => {
                &["Check that the server runs", "Check its URL", "Verify that it can be reached"]
            }
            Self::Timeout => &["Break the work into smaller tasks", "Increase the time-out"],
            Self::Cancelled => &["Call again if the result is still wanted"],
            Self::Upstream => &["Check the server's configuration", "Verify its command or URL"],
            Self::Internal => &["Try again", "Report it with the log, if it stays"],
        }
    }
}
