//! Conversions and sweeps of small documents.

mod common;
mod des2wf;
mod guards;
mod sweep;
