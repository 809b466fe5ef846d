//! The codes of failures, for programs.

/// No key was given for a server that is not of this machine.
pub const MODEL_NO_KEY: &str = "MODEL_NO_KEY";
/// The settings can't work: a key, an address, a proxy.
pub const MODEL_CONFIG: &str = "MODEL_CONFIG";
/// The server was not reached, or the connection broke before it answered.
pub const MODEL_UNREACHABLE: &str = "MODEL_UNREACHABLE";
/// The server refused the request, for none of the reasons that have a code of their own.
pub const MODEL_HTTP: &str = "MODEL_HTTP";
/// The key is wrong, or may not do this.
pub const MODEL_AUTH: &str = "MODEL_AUTH";
/// The account is used up; waiting does not help.
pub const MODEL_QUOTA: &str = "MODEL_QUOTA";
/// Too many requests.
pub const MODEL_RATE_LIMITED: &str = "MODEL_RATE_LIMITED";
/// The server has too much to do, or is down.
pub const MODEL_OVERLOADED: &str = "MODEL_OVERLOADED";
/// The conversation is longer than the model can read.
pub const MODEL_CONTEXT_LENGTH: &str = "MODEL_CONTEXT_LENGTH";
/// A content filter refused the request or ended the answer.
pub const MODEL_CONTENT_FILTERED: &str = "MODEL_CONTENT_FILTERED";
/// The server told a failure in the middle of its answer, for none of the reasons that have a code of their own.
pub const MODEL_PROVIDER_ERROR: &str = "MODEL_PROVIDER_ERROR";
/// The answer is not of this protocol.
pub const MODEL_PROTOCOL: &str = "MODEL_PROTOCOL";
/// The answer is over `maxResponseBytes`, or one event of it over `maxEventBytes`.
pub const MODEL_RESPONSE_TOO_LARGE: &str = "MODEL_RESPONSE_TOO_LARGE";
/// Nothing came for `idleTimeoutMs`.
pub const MODEL_TIMEOUT_IDLE: &str = "MODEL_TIMEOUT_IDLE";
/// The answer was not complete after `totalTimeoutMs`.
pub const MODEL_TIMEOUT_TOTAL: &str = "MODEL_TIMEOUT_TOTAL";
