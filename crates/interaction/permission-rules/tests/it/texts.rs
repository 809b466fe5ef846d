//! What the model reads of it all.

use dsh_tools_core::{Approval, PreDecision};

use crate::scene::{Person, Scene};

#[tokio::test]
async fn what_the_model_and_the_person_read() {
    let mut told = Vec::new();
    for (config, person) in [
        (r#"{"deny": ["ba*"]}"#, None),
        (r#"{"otherwise": "deny"}"#, None),
        (r#"{"ask": ["ba*"]}"#, None),
        (r#"{"otherwise": "ask"}"#, None),
        (r#"{"ask": ["ba*"]}"#, Some(Person::Says(Approval::Rejected))),
        (r#"{"otherwise": "ask"}"#, Some(Person::Says(Approval::Rejected))),
    ] {
        let scene = Scene::new(config, person);
        told.push(format!("{config}\n{}", scene.call("bash").await));
        told.extend(scene.noted());
    }
    for config in [r#"{"ask": ["ba*"]}"#, r#"{"otherwise": "ask"}"#] {
        let scene = Scene::behind(config, None, PreDecision::Allow);
        told.push(format!("{config}, and a listener that allows\n{}", scene.call("bash").await));
    }
    insta::assert_snapshot!(told.join("\n\n"));
}
