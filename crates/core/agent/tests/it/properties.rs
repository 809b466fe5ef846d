//! What holds for every sequence of changes.

use dsh_agent::{Splice, Target};
use proptest::prelude::*;

use crate::kit::{Stage, message};

#[derive(Debug, Clone)]
enum Change {
    Followup,
    Steer,
    Splice(bool, i64, u64, usize),
    Claim(bool),
    Retract(usize),
    Replace(usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => Just(Change::Followup),
        3 => Just(Change::Steer),
        2 => (any::<bool>(), -5..5_i64, 0..4_u64, 0..3_usize)
            .prop_map(|(turn, start, remove, insert)| Change::Splice(turn, start, remove, insert)),
        2 => any::<bool>().prop_map(Change::Claim),
        1 => (0..20_usize).prop_map(Change::Retract),
        1 => (0..20_usize).prop_map(Change::Replace),
    ]
}

proptest! {
    #[test]
    fn the_log_says_what_memory_holds(changes in prop::collection::vec(change(), 0..30)) {
        let stage = Stage::new();
        let inbox = stage.agent.inbox();
        let mut names = (0..).map(|n| format!("m{n}"));
        let mut fresh = || message(&names.next().unwrap());
        for change in changes {
            match change {
                Change::Followup => inbox.followup(fresh()).unwrap(),
                Change::Steer => inbox.steer(fresh()).unwrap(),
                Change::Splice(turn, start, remove, insert) => {
                    let target = if turn { Target::NextTurn } else { Target::NextStep };
                    let insert = std::iter::repeat_with(&mut fresh).take(insert).collect();
                    inbox.splice(Splice { target, start, remove, insert }).unwrap();
                }
                Change::Claim(first) => inbox.claim(1, &inbox.proposal(first)).unwrap(),
                Change::Retract(n) => drop(inbox.retract(&format!("m{n}")).unwrap()),
                Change::Replace(n) => drop(inbox.replace(&format!("m{n}"), fresh()).unwrap()),
            }
        }
        prop_assert_eq!(stage.resumed().waits(), stage.waits());
        let told = stage.told();
        let count = |word: &str| told.iter().filter(|told| told.starts_with(word)).count();
        let waiting = [Target::NextStep, Target::NextTurn].map(|list| inbox.messages(list).len());
        prop_assert_eq!(
            count("inserted"),
            count("claimed") + count("discarded") + waiting.iter().sum::<usize>(),
            "each message is told of when it comes and when it goes"
        );
    }
}
