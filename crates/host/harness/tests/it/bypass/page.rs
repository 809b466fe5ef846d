//! The section about permissions in `docs/security.md`: what is promised, and the list of these attempts.

use std::fmt::Write as _;
use std::path::Path;

use super::{Without, kinds};

const PROMISES: &str = "\
A rule ([permission-rules]) denies a tool by its name, or has a person asked about each call; a tool may also ask by itself.

denied is denied      rules go by the name of the call and stand behind all listeners: no order of listeners, scope,
                      presentation, nesting, registration or answer takes a denial back
one grant, one call   it covers the call that was shown: this tool as it was registered then, these arguments, once;
                      the same call again is asked about again, in this session, in a fork and in a later life;
                      a policy that retries runs the body of that one call again
only a yes allows     nobody there, a failure, a panic, silence, a late answer, another form and a cancelled call mean no;
                      the first who answers counts, the nearest scope first
never                 nobody is asked, and what needs approval is rejected; one that is open is withdrawn unless it is answered by then
broken listeners      one that panics, fails or is late fails the call
shown is run          question, rules, record and body have the same arguments; a tool that is removed, replaced or
                      shadowed while somebody is asked does not run; no wrapper runs a call with the grant of another
the record is first   what can't be recorded is not asked, and an answer that can't be recorded does not count;
                      a log grants nothing, and a forged decision about an open question is found by `dsh verify`
presets               set the sandbox mode and whether anybody is asked; none of them lifts a rule
not promised          a plugin is code of this process: it may answer questions, or do a tool's work by other means;
                      a rule that names no tool denies nothing

After each attempt the runs of a denied tool are none, and those of the others as many as a person has granted for exactly
these arguments; the log verifies, no turn is open, and each question has one decision (a forged one is found). Each attempt is
made once more without the rules, to see that it would get through.
";

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
    let count = format!("{all} attempts; without the rules {run} of them run a tool");
    let section = format!("## Permissions\n\n```text\n{PROMISES}\n{count}\n{list}```\n");
    assert!(page.contains(&section), "the section of docs/security.md should be:\n{section}");
}
