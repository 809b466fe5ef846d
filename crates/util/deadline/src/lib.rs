//! Time limits that notify.
