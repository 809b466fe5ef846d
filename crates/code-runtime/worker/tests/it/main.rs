//! Workers from their host, with real processes. What misbehaves is the program in `examples/prisoner.rs`.

#[cfg(test)]
mod budgets;
#[cfg(test)]
mod cell;
#[cfg(test)]
mod ends;
#[cfg(test)]
mod escapes;
#[cfg(test)]
mod frames;
#[cfg(test)]
mod hosts;
#[cfg(test)]
mod stock;
