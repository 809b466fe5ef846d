//! The list of these attempts in `docs/security.md`.

use std::fmt::Write as _;
use std::path::Path;

use super::{Without, kinds};

#[test]
fn the_page_lists_every_attempt_on_a_permission() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/security.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (mut list, mut all, mut run) = (String::new(), 0, 0);
    for (kind, attempts) in kinds() {
        // Writing to a `String` can't fail.
        let _ = writeln!(list, "\n{kind}");
        for attempt in &attempts {
            let _ = writeln!(list, "  {}", attempt.what);
        }
        all += attempts.len();
        run += attempts.iter().filter(|attempt| attempt.without_rules == Without::Runs).count();
    }
    assert!(all >= 36, "{all} attempts");
    let list = format!("```text\n{all} attempts; without the rules {run} of them run a tool\n{list}```\n");
    assert!(page.contains(&list), "the list of docs/security.md should be:\n{list}");
}
