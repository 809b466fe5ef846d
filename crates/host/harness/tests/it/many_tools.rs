//! What `dsh sdk` prints for a thousand tools: the same bytes in every run and in every order of registration
//! (spec 05 §2.4, design §4.8).

pub(crate) mod made;

use std::collections::BTreeSet;

use dsh_code_mode::declarations;
use dsh_harness::{Harness, Presentation};
use dsh_system_prompt::AssembleContext;
use dsh_tool_sdk::{Language, Limits, Sdk};
use dsh_tools_core::Schema;

use crate::world::{World, config};
use made::{COUNT, Made, plugin, tools};

/// A harness with these tools beside its own, registered in this order by two plugins.
fn harness(world: &World, mut tools: Vec<Made>) -> Harness {
    let rest = tools.split_off(tools.len() / 3);
    let room = config(&world.file("dsh.toml"), "code-mode.maxSdkBytes = 4000000");
    let builder = world.builder().config(room).mode(Presentation::Code);
    builder.row(plugin("first", tools)).row(plugin("then", rest)).build().unwrap()
}

/// What the program prints the section of: the tools that a root scope sees.
fn sdk(harness: &Harness, language: Language) -> Sdk {
    declarations(&harness.host().tools.view(None), language, &Limits::default()).unwrap()
}

fn names(harness: &Harness) -> Vec<String> {
    harness.host().tools.view(None).tools().map(|tool| tool.name().to_string()).collect()
}

#[test]
fn the_same_tools_give_the_same_bytes_in_every_run_and_order() {
    let world = World::new();
    let forwards = tools();
    let backwards = forwards.iter().rev().cloned().collect();
    let mut sorted = forwards.clone();
    sorted.sort_by(|one, other| one.name.cmp(&other.name));
    // A step that has no factor in common with the count meets each of them once.
    let mixed = (0..COUNT).map(|at| forwards[at * 377 % COUNT].clone()).collect();
    let [first, others @ ..] = [forwards, backwards, sorted, mixed].map(|order| harness(&world, order));
    // The registries do hold them in different orders.
    let orders = [&first].into_iter().chain(&others).map(names).collect::<BTreeSet<_>>();
    assert_eq!(orders.len(), 4);
    for language in Language::ALL {
        let expected = sdk(&first, language);
        assert!(expected.bindings().len() > COUNT && expected.section().len() > 300_000);
        assert!(expected == sdk(&first, language), "{language}: the second time differs");
        for (at, other) in others.iter().enumerate() {
            for _ in 0..2 {
                let found = sdk(other, language);
                let mut lines = expected.section().lines().zip(found.section().lines());
                let differs = lines.find(|(one, other)| one != other);
                assert!(expected == found, "{language}, order {at}: {differs:?}");
            }
        }
    }
    // What models are told is what is printed.
    for harness in [&first, &others[0]] {
        let prompt = harness.host().prompt.assemble(&AssembleContext::default()).unwrap();
        let told = prompt.render_prompt().unwrap();
        assert!(told.contains(sdk(&first, Language::TypeScript).section()));
    }
}

/// What `cargo xtask sdk-check` gives to type checkers means the same here.
#[test]
fn arguments_that_fit_are_taken_and_others_are_not() {
    for Made { name, parameters, good, bad, .. } in tools() {
        let schema = Schema::new(&parameters).unwrap();
        assert!(schema.is_valid(&good), "{name}: {}", schema.violations(&good, ""));
        for bad in bad.iter().flatten() {
            assert!(!schema.is_valid(bad), "{name}: {bad} fits {parameters}");
        }
    }
}
