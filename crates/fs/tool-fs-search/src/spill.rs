//! Where the whole of a result goes that is shown in part (spec 07 §7.4).

use std::sync::Arc;
use std::time::Duration;

use dsh_json::Json;
use dsh_lifecycle::{Registration, Slot};
use dsh_llm::Content;
use dsh_spill::{SaveText, SpillError, SpillOwner, SpillRef, SpillSource, SpillStore, save_within};
use dsh_tools_core::{
    Accept, Agent, Definition, Execution, Layer, Next, Post, PostDecision, Tool, ToolError, Tools,
    async_trait,
};

/// A tool whose value is a list, of which the model is shown a part when it is long.
pub(crate) trait Paged: Tool {
    /// The name that is suggested for the complete list.
    const FILE: &'static str;
    /// The field of the value that is the list.
    const LIST: &'static str;

    /// Whether the page shows all of it.
    fn shows_all(&self, list: &[Json]) -> bool;
    /// What the model reads, with what became of the rest.
    fn page(&self, output: &Self::Output, rest: &Rest) -> String;
    /// The complete list, in the form of the page.
    fn complete(&self, output: &Self::Output) -> String;
}

/// What became of that which is not shown.
#[derive(Debug)]
pub(crate) enum Rest {
    /// Nobody keeps it.
    NotKept,
    /// The complete list is kept.
    Kept(SpillRef),
    /// The complete list was to be kept, and was not.
    Lost(Lost),
}

/// Why a complete list was not kept. The operator's log has the details.
#[derive(Debug)]
pub(crate) enum Lost {
    /// The call has no agent, so nobody would own it.
    NoOwner,
    /// The store failed.
    Failed,
    /// The store did not answer in this time.
    Late(Duration),
}

/// Hands the results of a tool over to a store when they are shown in part, until the registration is dropped. It holds
/// the registry until then.
///
/// It acts on what the model called itself, on this very tool, and where no listener inside has said anything else about
/// the result. Whatever the store does, the call stays a success, and is held up no longer than for `deadline`.
pub(crate) fn spill<T: Paged>(
    tools: &Tools,
    paged: T,
    store: Slot<dyn SpillStore>,
    deadline: Duration,
) -> Option<Registration> {
    let tool = tools.definition(None, T::NAME)?;
    let listener = Spill { tools: tools.clone(), tool, paged, store, deadline };
    Some(tools.on_post_execute(None, Arc::new(listener)))
}

struct Spill<T> {
    tools: Tools,
    tool: Arc<Definition>,
    paged: T,
    store: Slot<dyn SpillStore>,
    deadline: Duration,
}

#[async_trait]
impl<T: Paged> Layer<Post, PostDecision> for Spill<T> {
    async fn call(&self, cx: &Post, next: Next<'_, Post, PostDecision>) -> Result<PostDecision, ToolError> {
        match next.run(cx).await? {
            PostDecision::Accept(Accept::Keep, contexts) => {
                let content = self.kept(cx).await;
                Ok(PostDecision::Accept(content.map_or(Accept::Keep, Accept::Content), contexts))
            }
            other @ (PostDecision::Accept(..) | PostDecision::Block(..)) => Ok(other),
        }
    }
}

impl<T: Paged> Spill<T> {
    /// What the model reads in place of the page, when that is not everything and a store is mounted.
    async fn kept(&self, cx: &Post) -> Option<Content> {
        let (call, value) = (&*cx.execution, cx.result.value()?);
        if &*call.name != T::NAME || call.parent.is_some() {
            return None;
        }
        let store = self.store.get()?;
        if self.paged.shows_all(value.get(T::LIST)?.as_array()?) {
            return None;
        }
        let tool = self.tools.definition(call.agent.as_ref().map(Agent::scope), T::NAME)?;
        if !Arc::ptr_eq(&tool, &self.tool) {
            return None;
        }
        let output = value.read().ok()?;
        let rest = match self.save(&*store, call, self.paged.complete(&output)).await {
            Ok(saved) => Rest::Kept(saved),
            Err(lost) => Rest::Lost(lost),
        };
        Some(dsh_llm::text(self.paged.page(&output, &rest)))
    }

    async fn save(
        &self,
        store: &dyn SpillStore,
        call: &Execution,
        content: String,
    ) -> Result<SpillRef, Lost> {
        let lost = |why: &dyn std::fmt::Display, lost| {
            tracing::warn!(tool = T::NAME, call = &*call.call_id, %why, "a complete result was not saved");
            Err(lost)
        };
        let Some(agent) = &call.agent else { return lost(&"the call has no session", Lost::NoOwner) };
        let request = SaveText {
            owner: SpillOwner { session_id: Arc::clone(agent.session().id()) },
            source: SpillSource {
                tool_name: T::NAME.into(),
                call_id: Arc::clone(&call.call_id),
                label: SpillSource::RESULT.into(),
            },
            suggested_name: T::FILE.into(),
            content: content.into(),
        };
        save_within(store, request, &call.cancel, self.deadline).await.or_else(|error| {
            let late = if let SpillError::Late { after } = error { Some(after) } else { None };
            lost(&error, late.map_or(Lost::Failed, Lost::Late))
        })
    }
}
