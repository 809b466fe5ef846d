//! What one scope sees, and the views that are kept.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, OnceLock};

use dsh_llm::ToolSchema;
use dsh_scope::{Layers, Scope, ScopeId, WeakScope};
use indexmap::IndexMap;
use parking_lot::Mutex;

use crate::registry::Rows;
use crate::{Around, Definition, Observer, PostExecute, PreExecute};

/// Everything that counts for one scope, at one version of the registry. It never changes.
pub struct View {
    version: u64,
    tools: IndexMap<Arc<str>, Arc<Definition>>,
    known: BTreeSet<Arc<str>>,
    restrictable: BTreeSet<Arc<str>>,
    schemas: OnceLock<Arc<[ToolSchema]>>,
    pub(crate) pre: Vec<Arc<PreExecute>>,
    pub(crate) around: Vec<Arc<Around>>,
    pub(crate) post: Vec<Arc<PostExecute>>,
    pub(crate) observers: Vec<Arc<dyn Observer>>,
}

impl View {
    /// Inherited tools, nearer layers over farther ones, as far as every mask on the chain admits them; then the
    /// scope's own tools, which no mask of its chain hides (spec 01 §4.2).
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
        Self {
            version,
            tools,
            known,
            restrictable,
            schemas: OnceLock::new(),
            pre: listeners(&rows.pre, &chain),
            around: listeners(&rows.around, &chain),
            post: listeners(&rows.post, &chain),
            observers: listeners(&rows.observers, &chain),
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

    /// The visible tool of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<Definition>> {
        self.tools.get(name)
    }

    /// The visible tools, in the order of registration.
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
#[derive(Default)]
pub(crate) struct Views(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    version: u64,
    global: Option<Arc<View>>,
    by_scope: HashMap<ScopeId, (WeakScope, Arc<View>)>,
    shared: HashMap<Sharing, Arc<View>>,
    sweep_at: usize,
}

impl Views {
    pub(crate) fn get(
        &self,
        scope: Option<&Scope>,
        version: u64,
        build: impl FnOnce() -> View,
        sharing: impl FnOnce(Option<&Scope>) -> Sharing,
    ) -> Arc<View> {
        let kept = self.0.lock().find(scope, version);
        if let Some(view) = kept {
            return view;
        }
        let key = sharing(scope);
        let shared = self.0.lock().find_shared(&key, version);
        let view = shared.unwrap_or_else(|| Arc::new(build()));
        self.0.lock().keep(scope, key, view)
    }
}

impl Kept {
    fn find(&self, scope: Option<&Scope>, version: u64) -> Option<Arc<View>> {
        if self.version != version {
            return None;
        }
        match scope {
            None => self.global.clone(),
            Some(scope) => self.by_scope.get(&scope.id()).map(|(_, view)| Arc::clone(view)),
        }
    }

    fn find_shared(&self, key: &Sharing, version: u64) -> Option<Arc<View>> {
        self.shared.get(key).filter(|_| self.version == version).cloned()
    }

    fn keep(&mut self, scope: Option<&Scope>, key: Sharing, view: Arc<View>) -> Arc<View> {
        if self.version > view.version {
            return view; // the registry has moved on: right for this call, stale for the next
        }
        if self.version < view.version {
            *self = Self { version: view.version, ..Self::default() };
        }
        self.shared.insert(key, Arc::clone(&view));
        match scope {
            None => self.global = Some(Arc::clone(&view)),
            Some(scope) => {
                self.by_scope.insert(scope.id(), (scope.downgrade(), Arc::clone(&view)));
            }
        }
        if self.by_scope.len() > self.sweep_at {
            self.by_scope.retain(|_, (scope, _)| scope.is_alive());
            self.sweep_at = self.by_scope.len() * 2 + 64;
        }
        view
    }
}
