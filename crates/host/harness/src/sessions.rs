//! Opening sessions: in memory, in a file, or in a fresh file of the user's.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_session::{Header, HeaderError, Session, SessionError, SessionSpec, Sink};
use dsh_session_jsonl::{LogFile, OpenError, Opened, SetAside};

use crate::Harness;

/// Where a session's log goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionChoice {
    /// Nowhere: it is gone with the program.
    Memory,
    /// Into this file, which is continued if it is there.
    File(PathBuf),
    /// Into a new file below the user's state directory.
    Fresh,
}

/// An open session.
#[derive(Debug)]
pub struct OpenSession {
    /// The session.
    pub session: Session,
    /// Its file.
    pub file: Option<PathBuf>,
    /// What was torn at the end of the file, and where it is kept now.
    pub set_aside: Option<SetAside>,
    /// Whether it was there before.
    pub resumed: bool,
}

/// Why a session can't be opened. For the operator.
#[derive(Debug, thiserror::Error)]
pub enum SessionFailure {
    /// The file can't be used.
    #[error(transparent)]
    File(#[from] OpenError),
    /// What is in the file can't be continued.
    #[error("{}: {source}", file.display())]
    Contents {
        /// The file.
        file: PathBuf,
        /// Which event, and why.
        source: SessionError,
    },
    /// No directory for new sessions is known.
    #[error(
        "there is no place for session logs: neither HOME nor XDG_STATE_HOME is set; name a file with --session"
    )]
    NoStateDirectory,
    /// The facts about the session are no header.
    #[error("failed to begin a session: {0}")]
    Header(#[from] HeaderError),
}

impl Harness {
    /// Opens a session. A file is locked for this process until the session and all its handles are gone; what an
    /// earlier life left open in it is closed (spec 03 §9). Blocking.
    pub fn open_session(&self, choice: &SessionChoice) -> Result<OpenSession, SessionFailure> {
        let environment = &self.host().environment;
        let vocabulary = Arc::new(self.host().vocabulary());
        let id = environment.ids.fresh();
        let header =
            Header::new(Arc::clone(&id), environment.clock.now_ms())?.in_directory(&environment.root)?;
        let file = match choice {
            SessionChoice::Memory => {
                let session = Session::create(self.spec(header, vocabulary, None));
                return Ok(OpenSession { session, file: None, set_aside: None, resumed: false });
            }
            SessionChoice::File(file) => file.clone(),
            SessionChoice::Fresh => {
                let state = environment.state.as_ref().ok_or(SessionFailure::NoStateDirectory)?;
                let (file, log) = create_new(&state.join(&*id), &header)?;
                self.host().policy.protect(&file);
                let session = Session::create(self.spec(header, vocabulary, Some(Arc::new(log))));
                return Ok(OpenSession { session, file: Some(file), set_aside: None, resumed: false });
            }
        };
        let Opened { log, header, events, set_aside } = LogFile::open_or_create(&file, header, &vocabulary)?;
        self.host().policy.protect(&file);
        let resumed = !events.is_empty();
        let spec = self.spec(header, vocabulary, Some(Arc::new(log)));
        let session = if resumed {
            let contents = |source| SessionFailure::Contents { file: file.clone(), source };
            Session::resume(spec, events).map_err(contents)?
        } else {
            Session::create(spec)
        };
        Ok(OpenSession { session, file: Some(file), set_aside, resumed })
    }

    fn spec(
        &self,
        header: Header,
        vocabulary: Arc<dsh_session::Vocabulary>,
        sink: Option<Arc<dyn Sink>>,
    ) -> SessionSpec {
        SessionSpec { header, vocabulary, clock: Arc::clone(&self.host().environment.clock), sink }
    }
}

/// A file that was not there before: with a number behind its name where a seed gives the same id again.
fn create_new(stem: &Path, header: &Header) -> Result<(PathBuf, LogFile), OpenError> {
    let named = |suffix: &str| {
        let mut name = stem.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let mut file = named(".jsonl");
    for number in 2_u64.. {
        match LogFile::create(&file, header) {
            Err(OpenError::Exists { .. }) => file = named(&format!("-{number}.jsonl")),
            created => return created.map(|log| (file, log)),
        }
    }
    Err(OpenError::Exists { path: file })
}
