//! One choice for what tools may reach and who is asked.
