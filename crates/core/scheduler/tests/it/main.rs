//! The lane through its public face, on a paused clock.

mod lane;
mod properties;
mod work;
