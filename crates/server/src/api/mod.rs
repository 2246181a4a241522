//! The HTTP API, one file per kind of thing.

pub(crate) mod artifacts;
pub(crate) mod generations;
pub(crate) mod health;
pub(crate) mod openapi;
pub(crate) mod status;
pub(crate) mod uploads;
pub(crate) mod views;
pub(crate) mod workflows;
