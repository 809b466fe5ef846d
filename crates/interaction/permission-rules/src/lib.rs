//! Which tools may run, and which only after a person was asked.
