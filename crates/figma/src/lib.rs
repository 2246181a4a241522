//! Figma's REST JSON, read tolerantly into a tree in which everything is resolved.
//!
//! [`read`] takes the bytes of a `GET /v1/files/:key` or `/nodes` answer, a bare node, or what a plugin exports as
//! `JSON_REST_V1`, in one pass, and borrows every string from them. What it can't use it skips and counts as a
//! [`Warning`]; what it can't read at all is a located [`ReadError`]. In the [`Document`] that comes back each node
//! knows whether it is shown (its ancestors included), where it lies on the canvas, and which runs its text has.
//! [`snapshot`] cuts one frame out of such bytes for keeping (D9).
//!
//! Absent on purpose: I/O, pictures, and any opinion about what a layer is for.

mod error;
mod geometry;
mod input;
mod lenient;
mod model;
mod paint;
mod raw;
mod read;
mod resolve;
mod snapshot;
mod style;
mod text;
mod warning;

pub use error::{Location, ReadError};
pub use geometry::{Affine, Point, Rect, Size};
pub use input::{Limits, decompress};
pub use model::*;
pub use paint::*;
pub use read::read;
pub use snapshot::{Snapshot, snapshot};
pub use text::*;
pub use warning::{Warning, Warnings};
