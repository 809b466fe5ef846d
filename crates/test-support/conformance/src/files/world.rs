//! The scene: the file tools over a temporary directory, and an agent that calls them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_agent::Agent;
use dsh_fs::{FileSystem, Intents};
use dsh_fs_local::{LocalFs, canonical_policy};
use dsh_json::{Json, Object, object};
use dsh_lifecycle::{Registrations, Slot, SteppingClock};
use dsh_observation_policy::{ObservationConfig, ObservationPolicy};
use dsh_sandbox_policy::SandboxMode;
use dsh_scope::Scope;
use dsh_session::{Header, Session, SessionSpec, Vocabulary};
use dsh_system_prompt::SystemPrompt;
use dsh_tool_fs::{FsTools, FsToolsConfig};
use dsh_tools_core::{Arguments, CallInput, ToolResult, Tools};

use super::layout::{entries, found, put};
use super::script::{Script, Step, arguments};
use crate::Fault;
use crate::file::Vector;

/// What is missing for the vectors of a tool.
pub(super) fn lacks(tool: &str) -> Option<&'static str> {
    let world = World::new(FsToolsConfig::default(), false);
    let is_there = world.is_ok_and(|world| world.tools.definition(None, tool).is_some());
    (!is_there).then_some("the tool is not registered")
}

/// From a vector's input to our output.
pub(super) fn run(vector: &Vector) -> Result<Json, Fault> {
    let input = &vector.input;
    let script = Script::of(vector)?;
    let config = match input.get("config") {
        None | Some(Json::Null) => FsToolsConfig::default(),
        Some(config) => match config.read() {
            Ok(config) => config,
            Err(_) => return Ok(object! { "config_error": true }),
        },
    };
    let observes = input.get("observation_policy").and_then(Json::as_bool).unwrap_or(false);
    let world = World::new(config, observes)?;
    for (name, entry) in entries(input.get("files"))? {
        put(&world.dir, &name, &entry)?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Fault::scene)?;
    let results = runtime.block_on(world.play(&script))?;
    let mut output = Object::new();
    if script.is_list {
        output.insert("results", results);
    } else if let Some(only) = results.first().and_then(Json::as_object) {
        output.extend(only.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    let asked = vector.output.get("files_after").and_then(Json::as_object);
    if let Some(asked) = asked {
        let after = asked.keys().map(|name| Ok((name.clone(), found(&world.dir, name)?)));
        output.insert("files_after", after.collect::<Result<Object, Fault>>()?);
    }
    Ok(output.into())
}

struct World {
    /// Where the files are, by its canonical name.
    dir: PathBuf,
    tools: Tools,
    agent: Agent,
    _mounted: Registrations,
    _dir: tempfile::TempDir,
}

impl World {
    fn new(config: FsToolsConfig, observes: bool) -> Result<Self, Fault> {
        let temporary = tempfile::tempdir().map_err(Fault::scene)?;
        let dir = temporary.path().canonicalize().map_err(Fault::scene)?;
        let fs: Arc<dyn FileSystem> = Arc::new(LocalFs::default());
        let policy = canonical_policy(SandboxMode::WorkspaceWrite, &dir, []);
        let (tools, prompt) = (Tools::new(), SystemPrompt::default());
        let mounted = FsTools::new(Slot::filled(fs), Arc::new(policy), config)
            .with_intents(intents(observes))
            .register(&tools, &prompt)
            .map_err(Fault::scene)?;
        let session = Session::create(SessionSpec {
            header: Header::new("vector", 0).map_err(Fault::scene)?,
            vocabulary: Arc::new(Vocabulary::core()),
            clock: Arc::new(SteppingClock::starting_at(0)),
            sink: None,
        });
        let agent = Agent::new(Scope::root(), session);
        Ok(Self { dir, tools, agent, _mounted: mounted, _dir: temporary })
    }

    /// The results of the calls, in order.
    async fn play(&self, script: &Script) -> Result<Vec<Json>, Fault> {
        let mut results = Vec::new();
        for step in &script.steps {
            match step {
                Step::Outside(files) => {
                    for (name, entry) in files {
                        put(&self.dir, name, entry)?;
                    }
                }
                Step::Call { tool, arguments } => results.push(self.call(tool, arguments).await?),
            }
        }
        Ok(results)
    }

    async fn call(&self, tool: &str, text: &str) -> Result<Json, Fault> {
        let here = self.dir.to_string_lossy();
        let arguments = arguments(text, &here);
        let unread = matches!(arguments, Arguments::Malformed(_));
        let mut input = CallInput::new("call", tool, arguments);
        input.agent = Some(self.agent.clone());
        let result = shown(&*self.tools.execute(input).await, &self.dir)?;
        // Each reason why arguments can't be read has a code here, and one for all in the vectors.
        let told = object! { "isError": true, "error": object! { "code": "INVALID_ARGS" } };
        Ok(if unread { told } else { result })
    }
}

/// Who guards changes: the one place where the observation policy is mounted.
fn intents(observes: bool) -> Slot<dyn Intents> {
    if !observes {
        return Slot::empty();
    }
    Slot::filled(Arc::new(ObservationPolicy::new(&ObservationConfig::default())))
}

/// A result in the form of the vectors.
fn shown(result: &ToolResult, dir: &Path) -> Result<Json, Fault> {
    let here = dir.to_string_lossy();
    let named = |json: &Json| {
        let text = json.to_text().replace(&*here, "$DIR");
        Json::parse(&text).map_err(|error| Fault::not_json("a result", &error))
    };
    let mut shown = Object::new();
    shown.insert("isError", result.is_error());
    if let Some(error) = result.error() {
        shown.insert("error", error.code().map_or_else(|| object! {}, |code| object! { "code": code }));
    }
    if let Some(value) = result.value() {
        shown.insert("value", named(value)?);
    }
    if let Some(meta) = &result.meta {
        shown.insert("meta", named(meta)?);
    }
    Ok(shown.into())
}
