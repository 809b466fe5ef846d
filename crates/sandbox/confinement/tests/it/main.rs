//! The confinement from inside: what a confined process is still answered.

#[cfg(test)]
mod confined;
