//! The policy in force, for everybody who asks per call.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, Weak};

use dsh_lifecycle::Registration;
use dsh_sandbox_policy::{PolicySource, SandboxMode, SandboxPolicy, SessionModes};
use dsh_session::{Event, Session, SessionObserver};
use parking_lot::{Mutex, RwLock};

/// One policy for all sessions, whose mode can be switched between two calls. A session that its log gives a mode of its own
/// has that one, and one that has directories of its own may read there.
pub struct SharedPolicy {
    shared: RwLock<Arc<SandboxPolicy>>,
    modes: SessionModes,
    sessions: RwLock<BTreeMap<Arc<str>, Weak<Own>>>,
    own_root: RwLock<Option<Arc<OwnRoot>>>,
}

/// The directory of a session, by its id; `None` while there is none.
type OwnRoot = dyn Fn(&str) -> Option<PathBuf> + Send + Sync;

/// What one session has to itself. The session holds it, as an observer, so that it goes with the session.
#[derive(Default)]
struct Own {
    /// Its id, and that of the session that it was forked from, whose texts its history mentions.
    ids: Vec<Arc<str>>,
    roots: OnceLock<Vec<PathBuf>>,
    made: Mutex<Option<Made>>,
}

/// A session's policy, and what it was made of.
struct Made {
    of: Arc<SandboxPolicy>,
    policy: Arc<SandboxPolicy>,
}

impl SharedPolicy {
    /// A policy to begin with.
    pub fn new(policy: SandboxPolicy) -> Self {
        let (shared, modes) = (RwLock::new(Arc::new(policy)), SessionModes::new());
        Self { shared, modes, sessions: RwLock::default(), own_root: RwLock::default() }
    }

    /// Lets a session have a mode and directories of its own, from now on.
    pub fn follow(&self, session: &Session) {
        self.modes.follow(session);
        let ids = [session.id()].into_iter().chain(session.header().parent_session()).cloned().collect();
        let own = Arc::new(Own { ids, ..Own::default() });
        session.observe(Arc::clone(&own) as _).keep();
        let mut sessions = self.sessions.write();
        sessions.retain(|_, own| own.strong_count() > 0);
        sessions.insert(Arc::clone(session.id()), Arc::downgrade(&own));
    }

    /// The policy that a call of no session would be told now.
    pub fn current(&self) -> Arc<SandboxPolicy> {
        Arc::clone(&self.shared.read())
    }

    /// Keeps a file from being written by tools, by its canonical path.
    pub fn protect(&self, file: &Path) {
        let mut policy = self.shared.write();
        let mut protecting = SandboxPolicy::clone(&policy);
        protecting.protected_files.push(file.canonicalize().unwrap_or_else(|_| file.to_owned()));
        *policy = Arc::new(protecting);
    }

    /// Lets each session read below a directory of its own, and no other's. What it returns takes that back; a session that has
    /// asked for its directory before keeps it.
    pub fn read_own(
        self: &Arc<Self>,
        root: impl Fn(&str) -> Option<PathBuf> + Send + Sync + 'static,
    ) -> Registration {
        *self.own_root.write() = Some(Arc::new(root));
        let this = Arc::downgrade(self);
        Registration::new(move || {
            if let Some(this) = this.upgrade() {
                this.own_root.write().take();
            }
        })
    }

    /// Switches the mode, and returns the one before. A call that has asked already keeps what it was told.
    pub fn set_mode(&self, mode: SandboxMode) -> SandboxMode {
        let mut policy = self.shared.write();
        let before = policy.mode;
        *policy = Arc::new(policy.with_mode(mode));
        before
    }

    /// Whether sessions have directories of their own.
    #[cfg(test)]
    pub(crate) fn reads_own(&self) -> bool {
        self.own_root.read().is_some()
    }

    /// The directories of a session; none as long as one of them is not there.
    fn roots<'a>(&self, own: &'a Own) -> &'a [PathBuf] {
        if let Some(roots) = own.roots.get() {
            return roots;
        }
        let Some(root) = self.own_root.read().clone() else { return &[] };
        let found: Option<Vec<_>> = own.ids.iter().map(|id| root(id).map(|root| canonical(&root))).collect();
        match found {
            Some(found) => own.roots.get_or_init(|| found),
            None => &[],
        }
    }
}

impl PolicySource for SharedPolicy {
    fn policy(&self, session: Option<&str>) -> Arc<SandboxPolicy> {
        let shared = self.current();
        let Some(session) = session else { return shared };
        let mode = self.modes.of(session).unwrap_or(shared.mode);
        let own = self.sessions.read().get(session).and_then(Weak::upgrade);
        let Some(own) = own else {
            return if mode == shared.mode { shared } else { Arc::new(shared.with_mode(mode)) };
        };
        let roots = self.roots(&own);
        if mode == shared.mode && roots.is_empty() {
            return shared;
        }
        let mut made = own.made.lock();
        let known = made.as_ref().filter(|made| Arc::ptr_eq(&made.of, &shared) && made.policy.mode == mode);
        if let Some(known) =
            known.filter(|known| known.policy.read_roots.len() == shared.read_roots.len() + roots.len())
        {
            return Arc::clone(&known.policy);
        }
        let mut policy = shared.with_mode(mode);
        policy.read_roots.extend_from_slice(roots);
        let policy = Arc::new(policy);
        *made = Some(Made { of: shared, policy: Arc::clone(&policy) });
        policy
    }
}

impl SessionObserver for Own {
    fn appended(&self, _: &Arc<Event>) {}
}

impl std::fmt::Debug for SharedPolicy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedPolicy").field("shared", &self.current()).finish_non_exhaustive()
    }
}

/// The canonical form of a path whose end need not exist yet.
fn canonical(path: &Path) -> PathBuf {
    if let Ok(canonical) = path.canonicalize() {
        return canonical;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => canonical(parent).join(name),
        _ => path.to_owned(),
    }
}
