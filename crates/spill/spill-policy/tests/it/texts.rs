//! What the model reads.

use dsh_llm::plain_text;

use crate::scene::{Gives, Scene, block, image, tool};

fn numbered(lines: usize) -> String {
    let line = |number: usize| [number.to_string(), ": some words\n".to_owned()].concat();
    (1..=lines).map(line).collect()
}

#[tokio::test]
async fn lines_are_cut_between_lines() {
    let mut scene = Scene::capped(260);
    insta::assert_snapshot!(scene.says(&numbered(300)).await, @r"
    1: some words
    2: some words
    3: some words
    4: some words
    [... 4588 bytes left out: 293 whole lines ...]
    298: some words
    299: some words
    300: some words

    (4588 of 4692 bytes are not shown. The whole result of the tool is stored at mem:c1. Ask for it.)
    ");
}

#[tokio::test]
async fn a_long_line_is_cut_within() {
    let mut scene = Scene::capped(260);
    insta::assert_snapshot!(scene.says(&"0123456789".repeat(90)).await, @r"
    0123456789012345678901234567890123456789012345678901234567
    [... 785 bytes left out, within 1 line ...]
    345678901234567890123456789012345678901234567890123456789

    (785 of 900 bytes are not shown. The whole result of the tool is stored at mem:c1. Ask for it.)
    ");
}

#[tokio::test]
async fn with_little_room_there_is_a_notice_and_nothing_else() {
    let mut scene = Scene::capped(120);
    insta::assert_snapshot!(scene.says(&numbered(30)).await, @"(441 of 441 bytes are not shown. The whole result of the tool is stored at mem:c1. Ask for it.)");
}

#[tokio::test]
async fn pictures_stay_around_what_is_shown() {
    let mut scene = Scene::capped(260);
    let content = [image("1"), block(&numbered(20)), image("2"), block(&numbered(20))];
    insta::assert_snapshot!(plain_text(&scene.gives(content.into()).await.content), @r"
    [image]
    1: some words
    2: some words
    3: some words
    4: some words
    [... 481 bytes left out: 33 whole lines ...]
    18: some words
    19: some words
    20: some words

    (481 of 582 bytes are not shown. The whole result of the tool is stored at mem:c1. Ask for it.)
    [image]
    ");
}

#[tokio::test]
async fn a_failure_says_first_what_failed() {
    let mut scene = Scene::capped(260);
    scene.tool(tool("t", Gives::Failure(format!("the build failed with 40 errors:\n{}", numbered(40)))));
    insta::assert_snapshot!(plain_text(&scene.call("t").await.content), @r"
    Error: the build failed with 40 errors:
    1: some words
    [... 532 bytes left out: 36 whole lines ...]
    38: some words
    39: some words
    40: some words

    (532 of 631 bytes are not shown. The whole result of the tool is stored at mem:c1. Ask for it.)
    ");
}
