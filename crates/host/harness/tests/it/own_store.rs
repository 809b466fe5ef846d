//! A spill store of the embedder's own, whose locators are no paths.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use dsh_harness::{Harness, SessionChoice};
use dsh_lifecycle::Cancel;
use dsh_session::Header;
use dsh_session_jsonl::fork;
use dsh_spill::{
    ReadText, SaveText, SpillError, SpillLocator, SpillPart, SpillReadError, SpillRef, SpillStore,
};
use parking_lot::Mutex;

use crate::policies::{lines, talker};
use crate::world::{World, call_of, config};

/// Keeps texts in memory, as `mem:0`, `mem:1` and so on, for their sessions.
#[derive(Default)]
struct Memory(Mutex<Vec<SaveText>>);

#[async_trait]
impl SpillStore for Memory {
    async fn save_text(&self, request: SaveText, _: &Cancel) -> Result<SpillRef, SpillError> {
        let mut texts = self.0.lock();
        let (locator, bytes) = (format!("mem:{}", texts.len()), request.content.len() as u64);
        texts.push(request);
        let retrieval_hint = "Read on in it with `read`.".into();
        Ok(SpillRef { locator: SpillLocator::new(locator), bytes, retrieval_hint })
    }

    fn reads(&self, locator: &str) -> bool {
        locator.starts_with("mem:")
    }

    async fn read_range(
        &self,
        text: &ReadText,
        range: Range<u64>,
        _: &Cancel,
    ) -> Result<SpillPart, SpillReadError> {
        let number =
            text.locator.as_str().strip_prefix("mem:").and_then(|number| number.parse::<usize>().ok());
        let texts = self.0.lock();
        let kept = number.and_then(|number| texts.get(number)).filter(|kept| text.admits(&kept.owner));
        Ok(SpillPart::of(kept.ok_or(SpillReadError::NotFound)?.content.as_bytes(), range))
    }
}

/// As with the files of `spill-local`: by its own session, also in a later life, and by one that was forked from it; by no
/// other, and to be changed by none.
#[tokio::test]
async fn a_result_in_a_store_of_the_embedder_s_own_is_read_on_by_its_locator() {
    let (world, store) = (World::new(), Arc::new(Memory::default()));
    let text = "talker.lines = 10000\n[spill-policy]\nmaxInlineBytes = 2000\n";
    let settings = config(&world.file("dsh.toml"), text);
    let build = || {
        let builder = world.builder().config(settings.clone()).row(talker());
        builder.own_spill_store(Arc::clone(&store) as _).build().unwrap()
    };
    let open = |harness: &Harness, name: &str| {
        harness.agent(harness.open_session(&SessionChoice::File(world.path(name))).unwrap().session)
    };
    let harness = build();
    let first = open(&harness, "first.jsonl");
    let (told, code) = call_of(&harness, &first, "talk", "{}").await;
    assert!(code.is_none() && told.len() <= 2_000, "{told}");
    assert!(told.ends_with("is stored at mem:0. Read on in it with `read`.)"), "{told}");
    assert_eq!(*store.0.lock()[0].content, *lines(10_000));
    assert!(!world.path("spill").exists(), "nothing is a file");
    let child = Header::new("child", 0).unwrap();
    drop(first);
    fork(world.path("first.jsonl"), None, world.path("child.jsonl"), child, &harness.host().vocabulary())
        .unwrap();
    drop(harness);

    let harness = build();
    let page = r#"{"file_path": "mem:0", "offset": 5000, "limit": 2}"#;
    for name in ["first.jsonl", "child.jsonl"] {
        let agent = open(&harness, name);
        let (page, code) = call_of(&harness, &agent, "read", page).await;
        assert!(code.is_none() && page.contains("5000: line 5000\n5001: line 5001\n"), "{name}: {page}");
        let (_, code) = call_of(&harness, &agent, "write", r#"{"file_path": "mem:0", "content": "x"}"#).await;
        assert_eq!(code.as_deref(), Some("FS_SANDBOX_DENIED"));
    }
    let (told, code) = call_of(&harness, &open(&harness, "other.jsonl"), "read", page).await;
    assert_eq!(code.as_deref(), Some("SPILL_NOT_FOUND"), "{told}");
    assert!(!world.file("mem:0").exists());
}
