//! The registry: who contributes what, and for whom.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use dsh_json::Json;
use dsh_lifecycle::{Registration, Slot};
use dsh_llm::Content;
use dsh_scope::{Layers, RowId, Scope, ScopeId};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::transport::Mounted;
use crate::view::{View, Views};
use crate::{
    Answer, Approver, Attempt, Definition, DispatchLog, Execution, Layer, Post, PostDecision, PreDecision,
    Presentation, RUN_CODE, ToolResult, Transport,
};

/// A listener of the `pre-execute` stage.
pub type PreExecute = dyn Layer<Execution, PreDecision>;
/// A wrapper of the `execute` stage.
pub type Around = dyn Layer<Attempt, Answer>;
/// A listener of the `post-execute` stage.
pub type PostExecute = dyn Layer<Post, PostDecision>;

/// A veto after all listeners: it can deny and never allow.
pub trait Guard: Send + Sync {
    /// The reason to deny the call, if there is one. A panic fails the call.
    fn check(&self, call: &Execution) -> Option<String>;
}

/// Somebody who is told of results, after the log holds them. What it does changes nothing for the call.
pub trait Observer: Send + Sync {
    /// Takes note. A panic is reported and contained.
    fn result(&self, call: &Arc<Execution>, result: &Arc<ToolResult>);
}

/// The last stage: keeps what the model reads within bounds, whatever listeners did before.
#[async_trait]
pub trait Bound: Send + Sync {
    /// The content that fits; `None` keeps it. A failure here never changes what a call came to.
    async fn bound(&self, call: &Arc<Execution>, result: &ToolResult) -> Option<Content>;

    /// Whether what a person's screen is drawn from is kept; by default it is.
    fn keeps_meta(&self, _call: &Execution, _meta: &Json) -> bool {
        true
    }
}

/// Which of the inherited tools a scope sees. A tool is visible if every mask on the chain admits it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mask {
    /// If given, only these.
    pub allow: Option<BTreeSet<Arc<str>>>,
    /// Never these.
    pub deny: BTreeSet<Arc<str>>,
}

impl Mask {
    pub(crate) fn admits(&self, name: &str) -> bool {
        self.allow.as_ref().is_none_or(|allow| allow.contains(name)) && !self.deny.contains(name)
    }

    fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.allow.iter().flatten().chain(&self.deny)
    }
}

/// Why something can't be registered. For whoever registers it; nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// The name belongs to the transport for programs, in every mode.
    #[error("`{RUN_CODE}` is reserved: it can't be registered, shadowed or restricted")]
    Reserved,
    /// The layer has a tool of this name.
    #[error("{}", duplicate(.tool, *.scoped))]
    Duplicate {
        /// The tool.
        tool: Arc<str>,
        /// Whether it was to be registered in a scope.
        scoped: bool,
    },
    /// The scope presents its tools already.
    #[error("the tools are presented as `{held}` here already, so not as `{asked}`, too")]
    Presented {
        /// How they are presented.
        held: Presentation,
        /// How they were to be.
        asked: Presentation,
    },
    /// There is a transport for programs.
    #[error("a transport for programs is mounted already")]
    TransportTaken,
    /// A transport whose tool has another name.
    #[error("the tool of a transport must be called `{RUN_CODE}`, not `{name}`")]
    NotTheTransport {
        /// The name.
        name: Arc<str>,
    },
    /// A mask that neither allows nor denies anything.
    #[error("the mask names no tool; give `allow`, `deny` or both")]
    EmptyMask,
    /// A mask names what the scope does not inherit.
    #[error("{}", unknown(.names, .known))]
    Unknown {
        /// The names that nobody knows.
        names: Vec<Arc<str>>,
        /// The names that can be restricted here.
        known: Vec<Arc<str>>,
    },
}

fn duplicate(tool: &str, scoped: bool) -> String {
    if scoped {
        format!("tool `{tool}` is registered in this scope already")
    } else {
        format!(
            "tool `{tool}` is registered already; to replace it for one agent, register it in that agent's scope"
        )
    }
}

fn unknown(names: &[Arc<str>], known: &[Arc<str>]) -> String {
    let noun = if names.len() == 1 { "tool" } else { "tools" };
    let known = if known.is_empty() { "(none)".to_owned() } else { known.join(", ") };
    format!("the mask names unknown {noun} {}; can be restricted here: {known}", names.join(", "))
}

/// The registry of tools and of those who listen to their calls. Clones are the same registry.
///
/// Whatever is registered in a scope counts for it and for the scopes below it; without a scope it counts for
/// everybody. Dropping a [`Registration`] takes exactly that row away again.
#[derive(Clone, Default)]
pub struct Tools(Arc<Inner>);

#[derive(Default)]
struct Inner {
    rows: Mutex<Rows>,
    version: AtomicU64,
    /// The version is another.
    changed: Notify,
    views: Views,
    approver: Slot<dyn Approver>,
    bound: Slot<dyn Bound>,
}

#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) tools: Layers<Arc<Definition>>,
    pub(crate) masks: Layers<Mask>,
    pub(crate) presentations: Layers<Presentation>,
    pub(crate) transport: Layers<Mounted>,
    pub(crate) pre: Layers<Arc<PreExecute>>,
    pub(crate) around: Layers<Arc<Around>>,
    pub(crate) post: Layers<Arc<PostExecute>>,
    pub(crate) observers: Layers<Arc<dyn Observer>>,
    pub(crate) dispatch_log: Layers<Arc<DispatchLog>>,
    guards: Layers<Arc<dyn Guard>>,
}

impl Rows {
    /// Whether anything that a view shows is registered in this layer.
    pub(crate) fn shows(&self, scope: ScopeId) -> bool {
        let layer = Some(scope);
        self.tools.has(layer)
            || self.masks.has(layer)
            || self.presentations.has(layer)
            || self.pre.has(layer)
            || self.around.has(layer)
            || self.post.has(layer)
            || self.observers.has(layer)
            || self.dispatch_log.has(layer)
    }
}

impl Tools {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool. A tool in a scope shadows one of the same name that the scope inherits, and no mask of its own
    /// scope hides it.
    pub fn register(&self, scope: Option<&Scope>, tool: Definition) -> Result<Registration, RegisterError> {
        if &*tool.name == RUN_CODE {
            return Err(RegisterError::Reserved);
        }
        let layer = scope.map(Scope::id);
        let mut rows = self.0.rows.lock();
        if rows.tools.layer(layer).any(|held| held.name == tool.name) {
            return Err(RegisterError::Duplicate { tool: tool.name, scoped: scope.is_some() });
        }
        let id = rows.tools.insert(layer, Arc::new(tool));
        self.count(Shown::Yes);
        drop(rows);
        self.tell(Shown::Yes);
        Ok(self.undo(|rows| &mut rows.tools, Shown::Yes, layer, id))
    }

    /// Hides inherited tools from a scope and from everything below it.
    pub fn restrict(&self, scope: &Scope, mask: Mask) -> Result<Registration, RegisterError> {
        if mask.names().next().is_none() && mask.allow.is_none() {
            return Err(RegisterError::EmptyMask);
        }
        if mask.names().any(|name| &**name == RUN_CODE) {
            return Err(RegisterError::Reserved);
        }
        let view = self.view(Some(scope));
        let names: Vec<_> =
            mask.names().filter(|name| !view.restrictable().contains(*name)).cloned().collect();
        if !names.is_empty() {
            return Err(RegisterError::Unknown {
                names,
                known: view.restrictable().iter().cloned().collect(),
            });
        }
        Ok(self.add(|rows| &mut rows.masks, Shown::Yes, Some(scope), mask))
    }

    /// Presents the tools of a scope, and of the scopes below it that say nothing else, in this way; without a scope,
    /// those of everybody. Each layer says it once; the nearest counts.
    pub fn present_as(
        &self,
        scope: Option<&Scope>,
        presentation: Presentation,
    ) -> Result<Registration, RegisterError> {
        self.add_once(
            |rows| &mut rows.presentations,
            scope,
            presentation,
            |held| RegisterError::Presented { held: *held, asked: presentation },
        )
    }

    /// Mounts what runs programs. Its tool appears where the presentation shows it, whatever masks say.
    pub fn mount_transport(&self, transport: Arc<dyn Transport>) -> Result<Registration, RegisterError> {
        let run_code = Arc::new(transport.definition());
        if &*run_code.name != RUN_CODE {
            return Err(RegisterError::NotTheTransport { name: Arc::clone(&run_code.name) });
        }
        let mounted = Mounted { transport, run_code };
        self.add_once(|rows| &mut rows.transport, None, mounted, |_| RegisterError::TransportTaken)
    }

    /// Adds a guard. Guards are asked after all `pre-execute` listeners, live: one that a guard adds is asked, too.
    pub fn guard(&self, scope: Option<&Scope>, guard: Arc<dyn Guard>) -> Registration {
        self.add(|rows| &mut rows.guards, Shown::No, scope, guard)
    }

    /// Adds a listener of the `pre-execute` stage, inside those that are there.
    pub fn on_pre_execute(&self, scope: Option<&Scope>, listener: Arc<PreExecute>) -> Registration {
        self.add(|rows| &mut rows.pre, Shown::Yes, scope, listener)
    }

    /// Adds a wrapper of the `execute` stage, inside those that are there.
    pub fn on_execute(&self, scope: Option<&Scope>, wrapper: Arc<Around>) -> Registration {
        self.add(|rows| &mut rows.around, Shown::Yes, scope, wrapper)
    }

    /// Adds a listener of the `post-execute` stage, inside those that are there.
    pub fn on_post_execute(&self, scope: Option<&Scope>, listener: Arc<PostExecute>) -> Registration {
        self.add(|rows| &mut rows.post, Shown::Yes, scope, listener)
    }

    /// Adds somebody who is told of results.
    pub fn on_result(&self, scope: Option<&Scope>, observer: Arc<dyn Observer>) -> Registration {
        self.add(|rows| &mut rows.observers, Shown::Yes, scope, observer)
    }

    /// Adds a listener that decides what is kept of programs' calls, inside those that are there.
    pub fn on_dispatch_log(&self, scope: Option<&Scope>, listener: Arc<DispatchLog>) -> Registration {
        self.add(|rows| &mut rows.dispatch_log, Shown::Yes, scope, listener)
    }

    /// Where the one who can approve calls is mounted. One that holds a `Tools` keeps the registry alive until it is
    /// unmounted.
    pub fn approver(&self) -> &Slot<dyn Approver> {
        &self.0.approver
    }

    /// Where the last stage is mounted.
    pub fn bound(&self) -> &Slot<dyn Bound> {
        &self.0.bound
    }

    /// How many things are registered, of all kinds and for all scopes: what was there before something was mounted is
    /// there again when it is unmounted.
    pub fn rows(&self) -> usize {
        let rows = self.0.rows.lock();
        let Rows {
            tools,
            masks,
            presentations,
            transport,
            pre,
            around,
            post,
            observers,
            dispatch_log,
            guards,
        } = &*rows;
        let shown = tools.len() + masks.len() + presentations.len() + transport.len();
        shown + pre.len() + around.len() + post.len() + observers.len() + dispatch_log.len() + guards.len()
    }

    /// Grows with every change that a view shows.
    pub fn version(&self) -> u64 {
        self.0.version.load(Ordering::Acquire)
    }

    /// Waits until the version is another than this one, and returns it: at once where it is already. Of changes that come
    /// together the last version is returned. Dropping the future changes nothing.
    pub async fn changed_since(&self, version: u64) -> u64 {
        loop {
            let changed = self.0.changed.notified();
            let now = self.version();
            if now != version {
                return now;
            }
            changed.await;
        }
    }

    /// What a scope sees now. It is built at most once for each version, and shared by scopes that see the same.
    pub fn view(&self, scope: Option<&Scope>) -> Arc<View> {
        let inner = &*self.0;
        if let Some(view) = inner.views.find(scope, self.version()) {
            return view;
        }
        // Rows and version change under this lock: key, version and view are of one moment.
        let rows = inner.rows.lock();
        let (key, version) = (View::sharing(&rows, scope), self.version());
        let shared = inner.views.find_shared(&key, version);
        let view = shared.unwrap_or_else(|| Arc::new(View::build(&rows, scope, version)));
        let gone = inner.views.keep(scope, key, &view);
        drop(rows);
        drop(gone);
        view
    }

    /// How calls and results of a tool are shown: its definition, as the scope sees it.
    pub fn definition(&self, scope: Option<&Scope>, name: &str) -> Option<Arc<Definition>> {
        self.view(scope).get(name).cloned()
    }

    /// The tool that the name of a call leads to now, as the calling agent sees it.
    pub fn called(&self, call: &Execution) -> Option<Arc<Definition>> {
        let view = self.view(call.agent.as_ref().map(dsh_agent::Agent::scope));
        view.resolve(&call.name, call.parent.is_some()).cloned()
    }

    /// The first veto, layer by layer. No lock is held while a guard runs.
    pub(crate) fn veto(&self, call: &Execution) -> Option<String> {
        if self.0.rows.lock().guards.is_empty() {
            return None;
        }
        let chain = call.agent.as_ref().map(|agent| agent.scope().chain()).unwrap_or_default();
        for layer in std::iter::once(None).chain(chain.into_iter().rev().map(Some)) {
            let mut at = None;
            loop {
                let next = self.0.rows.lock().guards.after(layer, at);
                let Some((cursor, guard)) = next else { break };
                if let Some(reason) = guard.check(call) {
                    return Some(reason);
                }
                at = Some(cursor);
            }
        }
        None
    }

    fn add<T: Send + Sync + 'static>(
        &self,
        table: fn(&mut Rows) -> &mut Layers<T>,
        shown: Shown,
        scope: Option<&Scope>,
        row: T,
    ) -> Registration {
        let layer = scope.map(Scope::id);
        let mut rows = self.0.rows.lock();
        let id = table(&mut rows).insert(layer, row);
        self.count(shown);
        drop(rows);
        self.tell(shown);
        self.undo(table, shown, layer, id)
    }

    /// [`add`](Self::add) for what a layer has at most one of.
    fn add_once<T: Send + Sync + 'static>(
        &self,
        table: fn(&mut Rows) -> &mut Layers<T>,
        scope: Option<&Scope>,
        row: T,
        taken: impl FnOnce(&T) -> RegisterError,
    ) -> Result<Registration, RegisterError> {
        let layer = scope.map(Scope::id);
        let mut rows = self.0.rows.lock();
        if let Some(held) = table(&mut rows).layer(layer).next() {
            return Err(taken(held));
        }
        let id = table(&mut rows).insert(layer, row);
        self.count(Shown::Yes);
        drop(rows);
        self.tell(Shown::Yes);
        Ok(self.undo(table, Shown::Yes, layer, id))
    }

    fn undo<T: Send + Sync + 'static>(
        &self,
        table: fn(&mut Rows) -> &mut Layers<T>,
        shown: Shown,
        layer: Option<ScopeId>,
        id: RowId,
    ) -> Registration {
        let inner = Arc::downgrade(&self.0);
        Registration::new(move || {
            let Some(tools) = inner.upgrade().map(Tools) else { return };
            let mut rows = tools.0.rows.lock();
            let gone = table(&mut rows).remove(layer, id);
            tools.count(shown);
            drop(rows);
            tools.tell(shown);
            // Outside of all locks: the drop of a row may come back here. Views that show it go with it.
            let views = tools.0.views.clear(tools.version());
            drop((gone, views));
        })
    }

    /// Under the lock of the rows, whose version it is.
    fn count(&self, shown: Shown) {
        if matches!(shown, Shown::Yes) {
            self.0.version.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Outside of all locks.
    fn tell(&self, shown: Shown) {
        if matches!(shown, Shown::Yes) {
            self.0.changed.notify_waiters();
        }
    }
}

/// Whether a row is a part of views. Guards are not: they are read live.
#[derive(Clone, Copy)]
enum Shown {
    Yes,
    No,
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tools").field("version", &self.version()).finish_non_exhaustive()
    }
}
