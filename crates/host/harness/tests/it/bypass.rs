//! Attempts to run a tool that a rule denies, or one that has to be asked about, without the answer that it needs. Whoever
//! makes them has the model's text, a program, a plugin's listener, a client, a configuration, a log or a full disk.
//!
//! Each attempt is made twice: under the rules, where it must not get through, and without them, where it does get through if
//! the table says so. So an attempt that has stopped to try anything is noticed.

mod answers;
mod calls;
mod clients;
mod listeners;
mod logs;
mod page;
mod person;
mod presets;
mod programs;
mod scene;
mod scopes;
mod setup;
mod tally;

use futures_util::future::LocalBoxFuture;

use scene::Scene;
use tally::Rules;

/// One attempt.
struct Attempt {
    /// The function that makes it.
    name: &'static str,
    /// What it tries.
    what: &'static str,
    /// How it ends where no rule is in force.
    without_rules: Without,
    make: fn(Rules) -> LocalBoxFuture<'static, Scene>,
}

/// What an attempt comes to without the rules.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Without {
    /// A tool runs that must not run under them.
    Runs,
    /// Nothing runs either: what it tries is wrong for other reasons, too.
    Fails,
}

/// The table of a file: how an attempt ends without rules, its function, and what it tries.
macro_rules! attempts {
    ($($without:ident $name:ident: $what:literal,)+) => {
        pub(super) fn attempts() -> Vec<$crate::bypass::Attempt> {
            vec![$($crate::bypass::Attempt {
                name: stringify!($name),
                what: $what,
                without_rules: $crate::bypass::Without::$without,
                make: |rules| Box::pin($name(rules)),
            }),+]
        }
    };
}
use attempts;

/// The kinds of attempts, in the order of the page.
fn kinds() -> [(&'static str, Vec<Attempt>); 8] {
    [
        ("a plugin that listens", listeners::attempts()),
        ("a model", calls::attempts()),
        ("a program", programs::attempts()),
        ("a plugin in a scope, or one that registers anew", scopes::attempts()),
        ("an answer", answers::attempts()),
        ("a log, or the disk under it", logs::attempts()),
        ("a preset", presets::attempts()),
        ("an MCP client", clients::attempts()),
    ]
}

#[tokio::test(start_paused = true)]
async fn no_listener_leads_around_the_rules() {
    check(listeners::attempts()).await;
}

#[tokio::test(start_paused = true)]
async fn no_call_of_a_model_leads_around_the_rules() {
    check(calls::attempts()).await;
}

// Programs run on threads and in processes, which no paused clock waits for.
#[tokio::test]
async fn no_program_leads_around_the_rules() {
    check(programs::attempts()).await;
}

#[tokio::test]
async fn no_scope_leads_around_the_rules() {
    check(scopes::attempts()).await;
}

#[tokio::test(start_paused = true)]
async fn no_answer_counts_for_more_than_it_says() {
    check(answers::attempts()).await;
}

#[tokio::test(start_paused = true)]
async fn no_log_and_no_full_disk_grants_anything() {
    check(logs::attempts()).await;
}

#[tokio::test(start_paused = true)]
async fn no_preset_leads_around_the_rules() {
    check(presets::attempts()).await;
}

#[tokio::test]
async fn no_client_leads_around_the_rules() {
    check(clients::attempts()).await;
}

async fn check(attempts: Vec<Attempt>) {
    let mut wrong = Vec::new();
    for Attempt { name, without_rules, make, .. } in attempts {
        let scene = make(Rules::InForce).await;
        wrong.extend(scene.faults().into_iter().map(|fault| format!("{name}: {fault}")));
        let ran = make(Rules::Absent).await.tally.ran_any();
        if ran != (without_rules == Without::Runs) {
            wrong.push(format!("{name}: without the rules something runs: {ran}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
