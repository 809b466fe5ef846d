//! What one scope sees, and the views that are kept.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, OnceLock};

use dsh_lifecycle::contain;
use dsh_llm::ToolSchema;
use dsh_scope::{Layers, Scope, ScopeId, WeakScope};
use indexmap::IndexMap;
use parking_lot::Mutex;

use crate::registry::Rows;
use crate::transport::Mounted;
use crate::{
    Around, Definition, DispatchLog, NoTransport, Observer, Offered, PostExecute, PreExecute, Presentation,
    RUN_CODE,
};

/// Everything that counts for one scope, at one version of the registry. It never changes.
pub struct View {
    version: u64,
    tools: IndexMap<Arc<str>, Arc<Definition>>,
    known: BTreeSet<Arc<str>>,
    restrictable: BTreeSet<Arc<str>>,
    presentation: Presentation,
    transport: Option<Mounted>,
    schemas: OnceLock<Arc<[ToolSchema]>>,
    offered: OnceLock<Offered>,
    pub(crate) pre: Vec<Arc<PreExecute>>,
    pub(crate) around: Vec<Arc<Around>>,
    pub(crate) post: Vec<Arc<PostExecute>>,
    pub(crate) observers: Vec<Arc<dyn Observer>>,
    pub(crate) dispatch_log: Vec<Arc<DispatchLog>>,
}

impl View {
    /// Inherited tools, nearer layers over farther ones, as far as every mask on the chain admits them; then the
    /// scope's own tools, which no mask of its chain hides; then the transport, where it is presented (spec 01 §4.2).
    pub(crate) fn build(rows: &Rows, scope: Option<&Scope>, version: u64) -> Self {
        let chain = scope.map(Scope::chain).unwrap_or_default();
        let (own, inherited) = chain.split_first().map_or((None, &*chain), |(own, rest)| (Some(*own), rest));
        let mut tools: IndexMap<Arc<str>, Arc<Definition>> = IndexMap::new();
        for (_, tool) in rows.tools.along(inherited) {
            tools.insert(Arc::clone(&tool.name), Arc::clone(tool));
        }
        let restrictable: BTreeSet<_> = tools.keys().cloned().collect();
        let mut known = restrictable.clone();
        let masks: Vec<_> = rows.masks.along(&chain).map(|(_, mask)| mask).collect();
        tools.retain(|name, _| masks.iter().all(|mask| mask.admits(name)));
        if own.is_some() {
            for tool in rows.tools.layer(own) {
                known.insert(Arc::clone(&tool.name));
                tools.insert(Arc::clone(&tool.name), Arc::clone(tool));
            }
        }
        let declared = |layer| rows.presentations.layer(layer).next().copied();
        let presentation = chain.iter().find_map(|scope| declared(Some(*scope))).or_else(|| declared(None));
        let presentation = presentation.unwrap_or_default();
        let transport = rows.transport.layer(None).next().filter(|_| presentation != Presentation::Native);
        if let Some(mounted) = transport {
            tools.insert(RUN_CODE.into(), Arc::clone(&mounted.run_code));
        }
        Self {
            version,
            tools,
            known,
            restrictable,
            presentation,
            transport: transport.cloned(),
            schemas: OnceLock::new(),
            offered: OnceLock::new(),
            pre: listeners(&rows.pre, &chain),
            around: listeners(&rows.around, &chain),
            post: listeners(&rows.post, &chain),
            observers: listeners(&rows.observers, &chain),
            dispatch_log: listeners(&rows.dispatch_log, &chain),
        }
    }

    /// What the view of a scope depends on: the layers of its chain that hold anything, and whether the nearest of
    /// them is its own. (A mask of an ancestor hides that ancestor's own tools from its children only, so a scope
    /// without a layer does not simply see what its parent sees.)
    pub(crate) fn sharing(rows: &Rows, scope: Option<&Scope>) -> Sharing {
        let Some(scope) = scope else { return Sharing::default() };
        let layers: Vec<_> = scope.ancestry().map(Scope::id).filter(|id| rows.shows(*id)).collect();
        Sharing { own: layers.first() == Some(&scope.id()), layers }
    }

    /// The version of the registry that it is of.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The visible tool of this name, however it is presented.
    pub fn get(&self, name: &str) -> Option<&Arc<Definition>> {
        self.tools.get(name)
    }

    /// How the tools are presented to the model.
    pub fn presentation(&self) -> Presentation {
        self.presentation
    }

    /// Whether a visible tool is out of reach for a direct call, because only programs may call it (spec 01 §4.4).
    /// `nested`: the call is made within another one, by a program.
    pub fn collapses(&self, name: &str, nested: bool) -> bool {
        !nested
            && self.presentation == Presentation::Code
            && name != RUN_CODE
            && self.tools.contains_key(name)
    }

    /// The tool that a call of this name runs: the visible one, unless it [collapses](Self::collapses). Programs don't
    /// call programs.
    pub fn resolve(&self, name: &str, nested: bool) -> Option<&Arc<Definition>> {
        let is_out_of_reach = self.collapses(name, nested) || (nested && name == RUN_CODE);
        self.tools.get(name).filter(|_| !is_out_of_reach)
    }

    /// The tools that a call can run: of a program if `nested`, else of a model. In the order of [`tools`](Self::tools).
    pub fn callable(&self, nested: bool) -> impl Iterator<Item = &Arc<Definition>> {
        self.tools.values().filter(move |tool| self.resolve(&tool.name, nested).is_some())
    }

    /// What a model is told that called a collapsed tool; by a transport that panics only the way itself.
    pub(crate) fn route(&self, name: &str) -> Option<String> {
        let mounted = self.transport.as_ref()?;
        let route = contain(|| mounted.transport.route(name));
        Some(route.unwrap_or_else(|_| format!("call it in a program for `{RUN_CODE}`")))
    }

    /// What a request offers to the model: the tools that it may call directly, and the names that an order of tools
    /// may mention. Fails where the tools are presented to programs and none can be run.
    pub fn offered(&self) -> Result<&Offered, NoTransport> {
        if self.presentation != Presentation::Native {
            let no = |reason| NoTransport { presentation: self.presentation, reason };
            let mounted = self.transport.as_ref().ok_or_else(|| no(NOT_MOUNTED.to_owned()))?;
            mounted.transport.ready().map_err(no)?;
        }
        Ok(self.offered.get_or_init(|| self.offer()))
    }

    fn offer(&self) -> Offered {
        let all = self.schemas();
        let run_code = || all.iter().filter(|schema| &*schema.name == RUN_CODE).cloned().collect();
        let names = self.known.iter().cloned();
        match self.presentation {
            Presentation::Native => Offered { schemas: Arc::clone(all), known: names.collect() },
            Presentation::Code => Offered { schemas: run_code(), known: Arc::from([RUN_CODE.into()]) },
            Presentation::Both => {
                Offered { schemas: Arc::clone(all), known: names.chain([RUN_CODE.into()]).collect() }
            }
        }
    }

    /// The visible tools, in the order of registration; the transport is the last.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &Arc<Definition>> {
        self.tools.values()
    }

    /// The names of all tools that the scope inherits or has, hidden ones included.
    pub fn known(&self) -> &BTreeSet<Arc<str>> {
        &self.known
    }

    /// The names that a mask of this scope may speak of.
    pub fn restrictable(&self) -> &BTreeSet<Arc<str>> {
        &self.restrictable
    }

    /// What a model is told of the visible tools: name, description and parameters, and nothing else.
    pub fn schemas(&self) -> &Arc<[ToolSchema]> {
        self.schemas.get_or_init(|| {
            let schema = |tool: &Arc<Definition>| ToolSchema {
                name: Arc::clone(&tool.name),
                description: Arc::clone(&tool.description),
                parameters: tool.parameters.json().clone(),
            };
            self.tools.values().map(schema).collect()
        })
    }
}

const NOT_MOUNTED: &str =
    "nothing that runs programs is mounted; mount Code Mode, or present the tools as `native`";

fn listeners<T: ?Sized>(rows: &Layers<Arc<T>>, chain: &[ScopeId]) -> Vec<Arc<T>> {
    rows.in_order(chain).into_iter().cloned().collect()
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View")
            .field("version", &self.version)
            .field("tools", &self.tools.keys())
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Sharing {
    layers: Vec<ScopeId>,
    own: bool,
}

/// The views of one version. Scopes that see the same share one, so that ten thousand agents cost ten thousand
/// pointers; what is kept for scopes that are gone is swept as the table grows.
///
/// Whatever is let go of is returned, for the caller to drop outside of all locks: a tool's own drop may come back here.
#[derive(Default)]
pub(crate) struct Views(Mutex<Kept>);

#[derive(Default)]
pub(crate) struct Kept {
    version: u64,
    global: Option<Arc<View>>,
    by_scope: HashMap<ScopeId, (WeakScope, Arc<View>)>,
    shared: HashMap<Sharing, Arc<View>>,
    sweep_at: usize,
}

impl Views {
    /// The view of a scope, if it is kept and of this version.
    pub(crate) fn find(&self, scope: Option<&Scope>, version: u64) -> Option<Arc<View>> {
        let kept = self.0.lock();
        if kept.version != version {
            return None;
        }
        match scope {
            None => kept.global.clone(),
            Some(scope) => kept.by_scope.get(&scope.id()).map(|(_, view)| Arc::clone(view)),
        }
    }

    /// A view of this version that other scopes share under this key.
    pub(crate) fn find_shared(&self, key: &Sharing, version: u64) -> Option<Arc<View>> {
        let kept = self.0.lock();
        kept.shared.get(key).filter(|_| kept.version == version).cloned()
    }

    /// Keeps a view, unless the registry has moved on since it was built.
    pub(crate) fn keep(&self, scope: Option<&Scope>, key: Sharing, view: &Arc<View>) -> Kept {
        let mut kept = self.0.lock();
        if kept.version > view.version {
            return Kept::default();
        }
        let mut gone = Kept::default();
        if kept.version < view.version {
            gone = std::mem::replace(&mut *kept, Kept { version: view.version, ..Kept::default() });
        }
        kept.shared.insert(key, Arc::clone(view));
        match scope {
            None => kept.global = Some(Arc::clone(view)),
            Some(scope) => {
                kept.by_scope.insert(scope.id(), (scope.downgrade(), Arc::clone(view)));
            }
        }
        if kept.by_scope.len() > kept.sweep_at {
            // Every view here is in `shared`, too, so that nothing is dropped by this.
            kept.by_scope.retain(|_, (scope, _)| scope.is_alive());
            kept.sweep_at = kept.by_scope.len() * 2 + 64;
        }
        gone
    }

    /// Lets go of everything older than this version.
    pub(crate) fn clear(&self, version: u64) -> Kept {
        let mut kept = self.0.lock();
        if kept.version >= version {
            return Kept::default();
        }
        std::mem::replace(&mut *kept, Kept { version, ..Kept::default() })
    }
}
