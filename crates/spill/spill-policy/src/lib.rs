//! Keeps what models read within a budget.
