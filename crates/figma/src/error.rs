//! Why a document could not be read at all.

/// A place in the bytes, for people: line and column count from 1, the offset from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    /// Line.
    pub line: usize,
    /// Column, in bytes.
    pub column: usize,
    /// Offset in bytes.
    pub offset: usize,
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {} (byte {})", self.line, self.column, self.offset)
    }
}

/// Why a document could not be read at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is nothing in it.
    #[error("the file is empty; save the answer of Figma's REST API, or a plugin's JSON_REST_V1 export")]
    Empty,
    /// More bytes than the limit.
    #[error(
        "the file has {bytes} bytes and the limit is {limit}; export the frame alone (GET /v1/files/:key/nodes?ids=…)"
    )]
    TooLarge {
        /// Its length, or the length at which unpacking stopped.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The gzip stream is damaged.
    #[error("the gzip stream is damaged: {reason}")]
    Gzip {
        /// In which way.
        reason: String,
    },
    /// The JSON ends too early.
    #[error("the JSON ends too early, at {at}; the file is probably truncated: fetch it again")]
    Truncated {
        /// Where.
        at: Location,
    },
    /// Not JSON.
    #[error("not valid JSON at {at}: {reason}")]
    Syntax {
        /// Where.
        at: Location,
        /// What is wrong there.
        reason: String,
    },
    /// JSON, but no document of Figma's.
    #[error("this is JSON, but not a Figma document: {reason}")]
    NotFigma {
        /// What was found instead.
        reason: String,
    },
    /// An error answer of Figma's API.
    #[error("this is an error answer of Figma's API ({status}): {message}")]
    ApiError {
        /// HTTP status that it states, or 0.
        status: u16,
        /// Its message.
        message: String,
    },
    /// Too many nodes.
    #[error("more than {limit} layers, at {at}; convert one frame at a time")]
    TooManyNodes {
        /// The limit.
        limit: u32,
        /// Where it was passed.
        at: Location,
    },
    /// Layers nested too deep.
    #[error("layers are nested deeper than {limit}, at {at}; flatten the frame")]
    TooDeep {
        /// The limit.
        limit: u16,
        /// Where it was passed.
        at: Location,
    },
    /// The node is not there.
    #[error("no layer has the id {id:?}; list the frames to see which there are")]
    NoSuchNode {
        /// The id asked for.
        id: String,
    },
}

impl ReadError {
    /// Stable code in snake case.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Empty => "empty_file",
            Self::TooLarge { .. } => "file_too_large",
            Self::Gzip { .. } => "damaged_gzip",
            Self::Truncated { .. } => "truncated_json",
            Self::Syntax { .. } => "invalid_json",
            Self::NotFigma { .. } => "not_figma",
            Self::ApiError { .. } => "figma_api_error",
            Self::TooManyNodes { .. } => "too_many_nodes",
            Self::TooDeep { .. } => "too_deep",
            Self::NoSuchNode { .. } => "no_such_node",
        }
    }

    /// From the parser's error on these bytes.
    pub(crate) fn from_json(error: &serde_json::Error, bytes: &[u8]) -> Self {
        let at = locate(bytes, error.line(), error.column());
        if error.is_eof() {
            return Self::Truncated { at };
        }
        let text = error.to_string();
        let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
        Self::Syntax { at, reason: reason.to_owned() }
    }
}

/// Turns the parser's line and column into a location.
pub(crate) fn locate(bytes: &[u8], line: usize, column: usize) -> Location {
    let before =
        bytes.split_inclusive(|b| *b == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum::<usize>();
    Location { line, column, offset: (before + column.saturating_sub(1)).min(bytes.len()) }
}
