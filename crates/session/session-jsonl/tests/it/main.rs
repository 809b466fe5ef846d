//! Log files through their public face, on real files and with a real killed process.

#[cfg(test)]
mod corruption;
#[cfg(test)]
mod forks;
#[cfg(test)]
mod kill;
#[cfg(test)]
mod open;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod removed;
#[cfg(test)]
mod repairing;
#[cfg(test)]
mod talk;
