//! A workspace, a home and a state directory of one test, and harnesses in them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use dsh_agent::Agent;
use dsh_harness::{
    CallTurn, ConfigText, Environment, Harness, HarnessBuilder, HarnessError, Providers, RequestedCall,
    SessionChoice,
};
use dsh_lifecycle::{Cancel, Ids, SeededIds, SteppingClock};
use dsh_llm::ContentBlock;
use dsh_session::{Session, Verdict};
use dsh_tools_core::Approval;
use dsh_user_approval::{Answer, AnswerError, Answerer, Question};

pub(crate) struct World {
    dir: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        for name in ["root", "home", "state"] {
            std::fs::create_dir(world.path(name)).unwrap();
        }
        world
    }

    /// A place beside the workspace.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    /// A place in the workspace.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path("root").join(name)
    }

    pub(crate) fn put(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn environment(&self) -> Environment {
        self.environment_with(SeededIds::new(7))
    }

    pub(crate) fn environment_with(&self, ids: impl Ids + 'static) -> Environment {
        Environment {
            root: self.path("root"),
            home: Some(self.path("home")),
            state: Some(self.path("state")),
            clock: Arc::new(SteppingClock::starting_at(0)),
            ids: Arc::new(ids),
            providers: Providers::none(),
            measures: false,
        }
    }

    pub(crate) fn builder(&self) -> HarnessBuilder {
        Harness::builder(self.environment())
    }

    /// A harness with this text as the `dsh.toml` of its workspace, which stays unwritten.
    pub(crate) fn configured(&self, text: &str) -> Result<Harness, HarnessError> {
        self.builder().config(config(&self.file("dsh.toml"), text)).build()
    }

    /// A harness whose model plays this script.
    pub(crate) fn scripted(&self, script: &str) -> Harness {
        self.put("script.json", script);
        self.configured(SCRIPTED).unwrap()
    }

    /// What `error` says, with this world's directory as `$DIR`.
    pub(crate) fn shown(&self, error: &dyn std::error::Error) -> String {
        error.to_string().replace(self.path("").to_str().unwrap(), "$DIR/")
    }
}

/// The configuration for the script beside the workspace.
pub(crate) const SCRIPTED: &str = "model.use = 'script:../script.json'";

/// Somebody who always says the same.
pub(crate) struct Says(pub(crate) Approval);

#[async_trait]
impl Answerer for Says {
    fn name(&self) -> &'static str {
        "always"
    }

    async fn answer(&self, _: &Question) -> Result<Option<Answer>, AnswerError> {
        Ok(Some(self.0.into()))
    }
}

pub(crate) fn config(file: &Path, text: &str) -> ConfigText {
    ConfigText { file: file.to_owned(), text: text.to_owned() }
}

pub(crate) fn agent(harness: &Harness) -> Agent {
    harness.agent(harness.open_session(&SessionChoice::Memory).unwrap().session)
}

/// Makes one call as a turn. What the model reads of its result, and the code of its failure.
pub(crate) async fn call(harness: &Harness, tool: &str, arguments: &str) -> (String, Option<String>) {
    call_of(harness, &agent(harness), tool, arguments).await
}

/// The same of this agent.
pub(crate) async fn call_of(
    harness: &Harness,
    agent: &Agent,
    tool: &str,
    arguments: &str,
) -> (String, Option<String>) {
    let id = format!("c{}", agent.session().len()).into();
    let call = RequestedCall { id, name: tool.into(), arguments: arguments.into() };
    let turn = CallTurn { origin: "test".into(), note: "A test's call.".into(), calls: vec![call] };
    harness.run_calls(agent, turn, &Cancel::new()).await.unwrap();
    let read = |event: &Arc<dsh_session::Event>| event.read::<dsh_session::ToolResult>();
    let result = agent.session().events().iter().rev().find_map(read).unwrap().unwrap();
    let block = result.message.content.first().cloned().unwrap();
    let ContentBlock::ToolResult { content, .. } = block else { panic!("no result: {block:?}") };
    (dsh_llm::plain_text(&content), result.error.map(|error| error.code.to_string()))
}

pub(crate) fn verdict(session: &Session) -> Verdict {
    let events: Vec<_> = session.events();
    dsh_session::verify(session.header(), &events, session.vocabulary())
}
