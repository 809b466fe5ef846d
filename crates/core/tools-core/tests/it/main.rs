//! The registry and the path of a call, through their public face.
#![expect(clippy::unwrap_used, reason = "a test that can't set up its scene fails")]

mod approvals;
mod arguments;
mod attached;
mod cancellation;
mod dispatches;
mod hostile;
mod kit;
mod layers;
mod listeners;
mod outputs;
mod outside;
mod pins;
mod pipeline;
mod presentations;
mod registry;
mod replacements;
mod views;
