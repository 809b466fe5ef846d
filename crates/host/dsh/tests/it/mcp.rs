//! `mcp`: real clients, and what no client should send.

mod clients;
mod hostile;
mod raw;
mod served;
