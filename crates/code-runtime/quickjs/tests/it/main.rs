//! TypeScript programs, from outside.

mod check;
mod console;
mod contract;
mod engine;
mod faults;
mod globals;
mod hostile;
#[cfg(test)]
mod hostile_programs;
mod kit;
mod long;
mod stock;
mod world;
