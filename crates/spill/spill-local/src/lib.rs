//! Keeps large texts as private files.
