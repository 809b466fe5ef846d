//! Where the policy stands, and the one way from a large text to what is shown of it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dsh_json::Json;
use dsh_lifecycle::{AlreadyProvided, Cancel, Registrations, Slot, contain};
use dsh_llm::{Content, ContentBlock};
use dsh_spill::{
    Pending, SaveText, SpillError, SpillOwner, SpillRef, SpillSource, SpillStore, begin_within, commit_within,
};
use dsh_tools_core::{Bound, Dispatch, Execution, Layer, Next, ToolError, ToolResult, Tools};
use tokio::time::Instant;

use crate::SpillConfig;
use crate::give_up::GiveUp;
use crate::preview;

/// Bounds what models read and what the log keeps of programs' calls. The rules are in the crate's documentation.
pub struct SpillPolicy {
    tools: Tools,
    store: Slot<dyn SpillStore>,
    config: SpillConfig,
}

impl SpillPolicy {
    /// A policy for the calls of this registry. The store is looked up when there is something to store.
    pub fn new(tools: Tools, store: Slot<dyn SpillStore>, config: SpillConfig) -> Self {
        Self { tools, store, config }
    }

    /// Mounts the last stage of all calls, and listens to what is logged of programs' calls; nothing of both when the
    /// configuration has no cap. Dropping what it returns ends that. It holds the registry until then.
    ///
    /// # Errors
    /// When somebody else bounds the results of this registry already. Then nothing is registered.
    pub fn register(self) -> Result<Registrations, AlreadyProvided> {
        let Some(cap) = self.config.max_inline_bytes else { return Ok(Registrations::new()) };
        let (tools, save_ms) = (self.tools.clone(), self.config.save_ms.get());
        let bytes = |bytes| usize::try_from(bytes).unwrap_or(usize::MAX);
        let (cap, meta) = (bytes(cap), bytes(self.config.max_meta_bytes));
        let this = Arc::new(Spill { tools: self.tools, store: self.store, cap, meta, save_ms });
        let last = tools.bound().provide(Arc::clone(&this) as _)?;
        Ok([last, tools.on_dispatch_log(None, this)].into_iter().collect())
    }
}

struct Spill {
    tools: Tools,
    store: Slot<dyn SpillStore>,
    cap: usize,
    meta: usize,
    save_ms: u64,
}

/// What a text belongs to.
struct Origin<'a> {
    /// The call whose session owns the text, and whose cancellation ends the saving.
    owner: &'a Execution,
    tool: &'a Arc<str>,
    call: &'a Arc<str>,
    label: &'static str,
}

#[async_trait]
impl Bound for Spill {
    async fn bound(&self, call: &Arc<Execution>, result: &ToolResult) -> Option<Content> {
        if call.parent.is_some() || self.fits(&result.content) {
            return None;
        }
        // A failure is not what the tool pages, and nothing that a model would read on in.
        if !result.is_error() && self.tools.called(call).is_some_and(|tool| tool.pages()) {
            return None;
        }
        let label = SpillSource::RESULT;
        self.bounded(&result.content, &Origin { owner: call, tool: &call.name, call: &call.call_id, label })
            .await
    }

    fn keeps_meta(&self, call: &Execution, meta: &Json) -> bool {
        let large = meta.exceeds(self.meta);
        if large {
            let (tool, call) = (&*call.name, &*call.call_id);
            tracing::warn!(tool, call, "what is for the screen is larger than `maxMetaBytes`, and left out");
        }
        !large
    }
}

#[async_trait]
impl Layer<Dispatch, Content> for Spill {
    /// What listeners inside make of a record is bounded, too.
    async fn call(&self, cx: &Dispatch, next: Next<'_, Dispatch, Content>) -> Result<Content, ToolError> {
        let content = next.run(cx).await?;
        if self.fits(&content) {
            return Ok(content);
        }
        let label = SpillSource::DISPATCH;
        let origin = Origin { owner: &cx.program, tool: &cx.name, call: &cx.sub_call_id, label };
        Ok(self.bounded(&content, &origin).await.unwrap_or(content))
    }
}

impl Spill {
    fn fits(&self, content: &[ContentBlock]) -> bool {
        texts(content).map(|text| text.len()).sum::<usize>() <= self.cap
    }

    /// The content with what is shown of its text; `None` when it stays whole, which the operator is told of.
    async fn bounded(&self, content: &[ContentBlock], origin: &Origin<'_>) -> Option<Content> {
        match self.stored(text_of(content), origin).await {
            Ok(shown) => Some(with_text(content, shown)),
            Err(reason) => {
                let Origin { tool, call, label, .. } = origin;
                tracing::warn!(tool = &***tool, call = &***call, label, %reason, "a large result stays whole");
                None
            }
        }
    }

    /// Stores a text, once what is shown of it is known to fit.
    async fn stored(&self, text: Arc<str>, origin: &Origin<'_>) -> Result<String, GiveUp> {
        let Some(agent) = &origin.owner.agent else { return Err(GiveUp::NoOwner) };
        let Some(store) = self.store.get() else { return Err(GiveUp::NoStore) };
        let request = SaveText {
            owner: SpillOwner { session_id: Arc::clone(agent.session().id()) },
            source: SpillSource {
                tool_name: Arc::clone(origin.tool),
                call_id: Arc::clone(origin.call),
                label: origin.label.into(),
            },
            suggested_name: format!("{}.txt", origin.tool).into(),
            content: Arc::clone(&text),
        };
        let (cancel, began, deadline): (&Cancel, _, _) =
            (&origin.owner.cancel, Instant::now(), Duration::from_millis(self.save_ms));
        let failed = |error| self.failed(error);

        let pending = begin_within(&*store, request, cancel, deadline).await.map_err(failed)?;
        let (pending, promised) = promised(pending)?;
        if promised.bytes != text.len() as u64 {
            return Err(GiveUp::WrongBytes { said: promised.bytes, there: text.len() });
        }
        let locator = promised.locator.as_str();
        if locator.is_empty() || locator.contains(char::is_control) {
            return Err(GiveUp::Locator);
        }
        let shown = preview::shown(&text, &promised, self.cap)?;
        let left = deadline.saturating_sub(began.elapsed());
        let saved = commit_within(pending, cancel, left).await.map_err(failed)?;
        if saved.bytes != promised.bytes {
            return Err(GiveUp::WrongBytes { said: saved.bytes, there: text.len() });
        }
        if saved.locator != promised.locator {
            return Err(GiveUp::Moved);
        }
        Ok(shown)
    }

    fn failed(&self, error: SpillError) -> GiveUp {
        let late = matches!(error, SpillError::Late { .. });
        if late { GiveUp::Late { allowed: self.save_ms } } else { GiveUp::Store(error) }
    }
}

/// Where a store says that the text will be.
fn promised(pending: Box<dyn Pending>) -> Result<(Box<dyn Pending>, SpillRef), GiveUp> {
    match contain(move || (pending.reference().clone(), pending)) {
        Ok((promised, pending)) => Ok((pending, promised)),
        Err(panic) => Err(GiveUp::Store(SpillError::Failed { reason: format!("it panicked: {panic}") })),
    }
}

fn texts(content: &[ContentBlock]) -> impl Iterator<Item = &Arc<str>> {
    content.iter().filter_map(|block| if let ContentBlock::Text { text } = block { Some(text) } else { None })
}

/// The text of all text blocks. That of a single one is shared and not copied.
fn text_of(content: &[ContentBlock]) -> Arc<str> {
    let mut each = texts(content);
    match (each.next(), each.next()) {
        (Some(only), None) => Arc::clone(only),
        (_, _) => texts(content).map(|text| &**text).collect::<String>().into(),
    }
}

/// The content with one text in the place of the first that it has, and without its others.
fn with_text(content: &[ContentBlock], text: String) -> Content {
    let mut text = Some(ContentBlock::Text { text: text.into() });
    let kept = |block: &ContentBlock| {
        if matches!(block, ContentBlock::Text { .. }) { text.take() } else { Some(block.clone()) }
    };
    content.iter().filter_map(kept).collect()
}
