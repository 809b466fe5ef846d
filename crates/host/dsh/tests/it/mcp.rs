//! `mcp`: real clients, and what no client should send.

mod clients;
mod hostile;
mod offered;
mod raw;
mod served;
