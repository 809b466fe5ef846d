//! `fixtures/README.md`: each set of fixtures and where it came from.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::{Context, Result, bail};

use super::{Repository, heading};
use crate::files;

/// One row for each folder below `fixtures/`, from the first line of its `ORIGIN.md`.
pub(super) fn table(repository: &Repository<'_>) -> Result<Option<String>> {
    let sets: BTreeSet<String> = files::below(repository.root, "fixtures")?
        .iter()
        .filter_map(|path| path.strip_prefix("fixtures").ok().filter(|inner| inner.iter().count() > 1))
        .filter_map(|inner| inner.iter().next().map(|set| set.to_string_lossy().into_owned()))
        .collect();
    if sets.is_empty() {
        return Ok(None);
    }
    let mut page = heading("Fixtures", "the ORIGIN.md of each set");
    page.push_str(
        "\nA fixture is never edited by hand: it is recorded again, or joined by another.\n\n| set | origin |\n|---|---|\n",
    );
    for set in sets {
        let path = format!("fixtures/{set}/ORIGIN.md");
        let origin = files::read_if_present(repository.root, &path)?.with_context(|| {
            format!("{path} is missing: its first line says what the set is and where it came from")
        })?;
        let summary = origin.lines().next().unwrap_or_default().trim_start_matches('#').trim();
        if summary.is_empty() {
            bail!("{path}: the first line is empty: say there what the set is and where it came from");
        }
        writeln!(page, "| [`{set}`]({set}) | {summary} |")?;
    }
    Ok(Some(page))
}
