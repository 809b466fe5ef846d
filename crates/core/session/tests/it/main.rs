//! The session through its public face.

#[cfg(test)]
mod anything;
#[cfg(test)]
mod append;
#[cfg(test)]
mod closers;
#[cfg(test)]
mod derivation;
#[cfg(test)]
mod fork;
#[cfg(test)]
mod identity;
#[cfg(test)]
mod observers;
#[cfg(test)]
mod resume;
#[cfg(test)]
mod sink;
#[cfg(test)]
mod surface;
#[cfg(test)]
mod talk;
#[cfg(test)]
mod verify;
