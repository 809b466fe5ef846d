//! What every provider has to pass.
