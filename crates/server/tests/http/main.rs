//! The server as callers, workers and visitors meet it: over a socket.
#![allow(clippy::unwrap_used, reason = "tests")]

mod artifacts;
mod doors;
mod generations;
mod harness;
mod openapi;
mod pages;
mod relay;
mod reports;
mod slow;
mod uploads;
mod whole;
mod workflows;
