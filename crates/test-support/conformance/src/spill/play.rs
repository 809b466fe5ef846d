//! The scene: one tool, a store that keeps what it is given, and the policy.

use std::sync::Arc;

use async_trait::async_trait;
use dsh_agent::Hooks;
use dsh_json::{Json, Object, object};
use dsh_json_schema::Schema;
use dsh_lifecycle::{Cancel, Slot};
use dsh_spill::{Pending, SaveText, SpillError, SpillLocator, SpillRef, SpillStore};
use dsh_spill_policy::{SpillConfig, SpillPolicy};
use dsh_tools_core::{
    AnyTool, BoxFuture, CallInput, Content, ContentBlock, Definition, RunContext, ToolError, Tools,
};
use parking_lot::Mutex;

use super::asked::{Asked, Blocks};
use crate::Fault;
use crate::agents::agent;
use crate::file::Vector;

/// From a vector's input to our output. What must hold besides, and does not, stands there as `broken`.
pub(super) fn run(vector: &Vector) -> Result<Json, Fault> {
    let Some(asked) = Asked::of(&vector.input)? else {
        let config = vector.input.get("config").unwrap_or(&Json::Null);
        return Ok(object! { "config_error": config.read::<SpillConfig>().is_err() });
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(Fault::scene)?;
    runtime.block_on(play(&asked))
}

async fn play(asked: &Asked) -> Result<Json, Fault> {
    let tools = Tools::new();
    let any = || Schema::object().open().build();
    let given = given(asked);
    let whole = text_of(&given);
    let (parameters, output) = (any().map_err(Fault::scene)?, any().map_err(Fault::scene)?);
    let tool = Definition::raw(&*asked.tool, "Says what it is told.", parameters, output, Says(given))
        .map_err(Fault::scene)?;
    let tool = if is_paged(asked) { tool.paging() } else { tool };
    let shelf = Arc::new(Shelf::of(asked));
    let config = SpillConfig { max_inline_bytes: Some(asked.cap), ..SpillConfig::default() };
    let store: Slot<dyn SpillStore> = Slot::filled(Arc::new(Handle(Arc::clone(&shelf))));
    let mounted = (
        tools.register(None, tool).map_err(Fault::scene)?,
        SpillPolicy::new(tools.clone(), store, config).register().map_err(Fault::scene)?,
    );
    let agent = if asked.owned { Some(agent(&Hooks::default())?) } else { None };
    let input = CallInput { agent, ..CallInput::new("call", &*asked.tool, object! {}) };
    let content = Arc::clone(&tools.execute(input).await.content);
    drop(mounted);
    let (shown, kept) = (text_of(&content), shelf.kept.lock().take());
    let spilled = shown != whole;
    let mut output = Object::new();
    output.insert("text_bytes", asked.text.len());
    output.insert("spilled", spilled);
    if let Some(broken) = broken(asked, &shown, kept.as_deref(), spilled) {
        output.insert("broken", broken);
    }
    Ok(output.into())
}

/// Our own `read` is the one tool of the vectors that pages.
pub(super) fn is_paged(asked: &Asked) -> bool {
    asked.tool == "read"
}

fn broken(asked: &Asked, shown: &str, kept: Option<&str>, spilled: bool) -> Option<&'static str> {
    match kept {
        _ if spilled && shown.len() as u64 > asked.cap => Some("more is shown than the cap allows"),
        Some(kept) if kept != asked.text => Some("another text is stored"),
        None if spilled => Some("nothing is stored"),
        Some(_) if !spilled => Some("something is stored that nobody is told of"),
        Some(_) | None => None,
    }
}

fn given(asked: &Asked) -> Content {
    let text = |text: &str| ContentBlock::Text { text: text.into() };
    let Blocks::Text(count) = asked.blocks else {
        return [text(&asked.text), ContentBlock::Image { attachment: object! { "id": "picture" } }].into();
    };
    let cut = |part: usize| asked.text.floor_char_boundary(asked.text.len() * part / count.max(1));
    (0..count).map(|part| text(asked.text.get(cut(part)..cut(part + 1)).unwrap_or_default())).collect()
}

fn text_of(content: &[ContentBlock]) -> String {
    content.iter().filter_map(ContentBlock::as_text).collect()
}

struct Says(Content);

impl AnyTool for Says {
    fn execute<'a>(&'a self, _: &'a Json, _: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async { Ok(object! {}) })
    }

    fn render(&self, _: &Json, _: &Json) -> Result<Content, ToolError> {
        Ok(Arc::clone(&self.0))
    }
}

struct Shelf {
    reference: SpillRef,
    kept: Mutex<Option<Arc<str>>>,
}

impl Shelf {
    fn of(asked: &Asked) -> Self {
        let locator = SpillLocator::new(&*asked.locator);
        let bytes = asked.text.len() as u64;
        let reference = SpillRef { locator, bytes, retrieval_hint: asked.hint.as_str().into() };
        Self { reference, kept: Mutex::default() }
    }
}

struct Handle(Arc<Shelf>);

struct Held(Arc<Shelf>, Arc<str>);

#[async_trait]
impl SpillStore for Handle {
    async fn save_text(&self, request: SaveText, cancel: &Cancel) -> Result<SpillRef, SpillError> {
        self.begin(request, cancel).await?.commit(cancel).await
    }

    async fn begin(&self, request: SaveText, _: &Cancel) -> Result<Box<dyn Pending>, SpillError> {
        Ok(Box::new(Held(Arc::clone(&self.0), request.content)))
    }
}

#[async_trait]
impl Pending for Held {
    fn reference(&self) -> &SpillRef {
        &self.0.reference
    }

    async fn commit(self: Box<Self>, _: &Cancel) -> Result<SpillRef, SpillError> {
        let Self(shelf, text) = *self;
        *shelf.kept.lock() = Some(text);
        Ok(shelf.reference.clone())
    }
}
