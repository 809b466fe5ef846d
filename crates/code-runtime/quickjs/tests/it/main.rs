//! TypeScript programs, from outside.

mod console;
mod contract;
mod engine;
mod faults;
mod hostile;
mod kit;
mod world;
