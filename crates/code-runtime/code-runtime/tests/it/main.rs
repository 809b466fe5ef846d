//! The host's half of a run, and its frames, from outside.

mod drive;
mod ends;
mod forged;
mod kit;
mod receipts;
mod wire;
