//! The store.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dsh_lifecycle::{Cancel, Clock};
use dsh_spill::{Pending, SaveText, SpillError, SpillLocator, SpillRef, SpillStore};

use crate::file::{Found, Version, digest, look, renew, write};
use crate::place::Place;
use crate::quota::Usage;
use crate::root::Root;
use crate::sweep::{Swept, share, sweep};
use crate::work::{Fate, run};
use crate::{ConfigError, LocalSpillConfig, name};

/// What the model is told about reading a text.
const HINT: &str = "Read it page by page with `read` (`offset`, `limit`; `column` in a long line), or search it with `grep` on that path.";
/// How often, and how often at most, a writer asks for a directory that is being swept.
const ASKS: (Duration, usize) = (Duration::from_millis(20), 100);
const DAY_MS: i64 = 86_400_000;

/// Keeps texts in private files. The layout and the promises are in the crate's documentation. Clones are the same store.
#[derive(Clone)]
pub struct LocalSpill(Arc<Store>);

struct Store {
    root: Root,
    config: LocalSpillConfig,
    clock: Arc<dyn Clock>,
    usage: Usage,
}

impl LocalSpill {
    /// A store; nothing is looked at or made yet. A relative root is below `base`. `clock` tells a sweep how old a text is.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn new(config: LocalSpillConfig, base: &Path, clock: Arc<dyn Clock>) -> Result<Self, ConfigError> {
        let root = Root::of(config.root.as_deref(), base)?;
        Ok(Self(Arc::new(Store { root, config, clock, usage: Usage::default() })))
    }

    /// The absolute directory below which all locators are: what has to be readable to whoever is shown one.
    ///
    /// A private directory is made now if nobody needed it before; that is one call of the system, which blocks. A
    /// configured one need not exist before something is saved.
    ///
    /// # Errors
    /// [`Io`](SpillError::Io) when a private directory can't be made, [`Failed`](SpillError::Failed) when its path is not
    /// UTF-8.
    pub fn root(&self) -> Result<PathBuf, SpillError> {
        self.0.root.path()
    }

    /// The directory of a session's texts, whether there are some or not; `None` as long as nobody needed a private root. No
    /// call of the system.
    pub fn directory(&self, session_id: &str) -> Option<PathBuf> {
        Some(Place::new(self.0.root.known()?, session_id).path())
    }

    /// Removes the texts of sessions that saved none for `keepDays`, and what killed writers left unfinished. It touches
    /// nothing but names of this store's own layout in directories that it would save to, follows no link, and looks at
    /// `sweepMaxEntries` entries at most. What is in use, or can't be removed, stays.
    ///
    /// A locator in an old session's history may lead nowhere after that.
    ///
    /// # Errors
    /// [`Refused`](SpillError::Refused) and [`Io`](SpillError::Io) for the root, [`Aborted`](SpillError::Aborted) at the
    /// cancellation; what was removed before is gone.
    pub async fn sweep(&self, cancel: &Cancel) -> Result<Swept, SpillError> {
        let store = Arc::clone(&self.0);
        run(cancel, move |fate| {
            let Some(root) = store.root.known() else { return Ok(Swept::default()) };
            let keep_ms = i64::from(store.config.keep_days.get()) * DAY_MS;
            let oldest_ms = store.clock.now_ms().saturating_sub(keep_ms);
            sweep(&root, oldest_ms, store.config.sweep_max_entries.get(), fate)
        })
        .await
    }
}

#[async_trait]
impl SpillStore for LocalSpill {
    async fn save_text(&self, request: SaveText, cancel: &Cancel) -> Result<SpillRef, SpillError> {
        self.begin(request, cancel).await?.commit(cancel).await
    }

    /// Nothing is made or written before [`commit`](Pending::commit), a private root apart.
    async fn begin(&self, request: SaveText, cancel: &Cancel) -> Result<Box<dyn Pending>, SpillError> {
        let store = Arc::clone(&self.0);
        let text = run(cancel, move |fate| choose(store, &request, fate)).await?;
        let bytes = text.content.len() as u64;
        let reference = SpillRef { locator: text.locator(), bytes, retrieval_hint: HINT.into() };
        Ok(Box::new(Begun { reference, text: Arc::new(text) }))
    }
}

/// A text whose place is chosen.
struct Begun {
    reference: SpillRef,
    text: Arc<Text>,
}

#[async_trait]
impl Pending for Begun {
    fn reference(&self) -> &SpillRef {
        &self.reference
    }

    async fn commit(self: Box<Self>, cancel: &Cancel) -> Result<SpillRef, SpillError> {
        let (every, most) = ASKS;
        for _ in 0..most {
            let text = Arc::clone(&self.text);
            if run(cancel, move |fate| text.store(fate)).await? {
                return Ok(self.reference);
            }
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(SpillError::Aborted),
                () = tokio::time::sleep(every) => {}
            }
        }
        Err(SpillError::Failed {
            reason: "the directory of the session is being swept all the time".to_owned(),
        })
    }
}

struct Text {
    store: Arc<Store>,
    place: Place,
    name: String,
    content: Arc<str>,
    digest: blake3::Hash,
    /// The file that has the text already, as it was when the place was chosen.
    known: Option<Version>,
}

/// Finds the place of a text: the first of the names that its digest gives which stands for nothing or for that text.
fn choose(store: Arc<Store>, request: &SaveText, fate: &Fate) -> Result<Text, SpillError> {
    let place = Place::new(store.root.path()?, &request.owner.session_id);
    let content = Arc::clone(&request.content);
    let (bytes, most) = (content.len() as u64, store.config.max_session_bytes.get());
    if bytes > most {
        return Err(SpillError::OverLimit { limit: "maxSessionBytes", allowed: most, needed: bytes });
    }
    let dir = place.open()?;
    let (digest, suggested) = (digest(content.as_bytes(), fate)?, name::encode(&request.suggested_name));
    let hex = digest.to_hex();
    let mut windows = hex.as_bytes().chunks_exact(name::DIGITS).filter_map(|hex| str::from_utf8(hex).ok());
    windows
        .find_map(|digits| {
            let name = format!("{digits}-{suggested}");
            let found = dir.as_ref().map(|dir| look(dir, &name, (bytes, &digest), None, fate));
            let known = match found.transpose() {
                Ok(None | Some(Found::Nothing)) => None,
                Ok(Some(Found::Same(_, version))) => Some(version),
                Ok(Some(Found::Other)) => return None,
                Err(error) => return Some(Err(error)),
            };
            Some(Ok((name, known)))
        })
        .unwrap_or_else(|| Err(taken(&place.path().display())))
        .map(|(name, known)| Text { store, place, name, content, digest, known })
}

impl Text {
    fn locator(&self) -> SpillLocator {
        // The root is UTF-8, and so are the names below.
        SpillLocator::new(self.place.path().join(&self.name).to_string_lossy())
    }

    /// Stores it, or finds it stored. `false`, and nothing done, while its directory is being swept.
    fn store(&self, fate: &Fate) -> Result<bool, SpillError> {
        let (sync, most) = (self.store.config.sync, self.store.config.max_session_bytes.get());
        let dir = self.place.make(sync)?;
        if !share(&dir)? {
            return Ok(false);
        }
        let bytes = self.content.len() as u64;
        let look = |known| look(&dir, &self.name, (bytes, &self.digest), known, fate);
        let mut found = look(self.known)?;
        if matches!(found, Found::Nothing) {
            let place = (self.place.session(), self.name.as_str());
            let _claim = self.store.usage.claim(&dir, place, bytes, most)?;
            if write(&dir, &self.name, self.content.as_bytes(), sync, fate)? {
                return Ok(true);
            }
            // Someone was faster, with the same text as a rule.
            found = look(None)?;
        }
        match found {
            Found::Same(file, _) => {
                fate.settle()?;
                renew(&dir, &file, sync)?;
                Ok(true)
            }
            Found::Nothing | Found::Other => Err(taken(&self.locator())),
        }
    }
}

fn taken(place: &dyn std::fmt::Display) -> SpillError {
    SpillError::Failed { reason: format!("{place} is taken by something else") }
}
