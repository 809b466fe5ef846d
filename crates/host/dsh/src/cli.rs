//! The command line (spec 12 §1).

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{ArgAction, Args, Parser, Subcommand};
use dsh_harness::ModelChoice;
use dsh_tool_sdk::Language;
use dsh_tools_core::Presentation;

use crate::approval::Approve;

/// An agent that works on a directory with tools, and keeps a log of everything that it does.
#[derive(Debug, Parser)]
#[command(name = "dsh", version, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options that stand before or after the command.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// The workspace: relative paths start here, and files are written here only [default: the current directory]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// The configuration [default: the nearest dsh.toml from the workspace upward]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The session log to create or to continue [default: a new file in the state directory for `run` and `mcp`, none for `call`]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
    /// How tools are shown to the model: native, code or both [default: the configuration's, else both]
    #[arg(long, global = true, value_name = "MODE", hide_possible_values = true, value_parser = modes())]
    pub(crate) mode: Option<Presentation>,
    /// The model that answers: `deepseek[:NAME]`, `openai[:NAME]`, `script:FILE` or `demo` [default: the configuration's, else that
    /// of the key in the environment, else `demo`]
    #[arg(long, global = true, value_name = "SPEC")]
    pub(crate) model: Option<ModelChoice>,
    /// What tools may reach and who is asked: a permission preset, see `dsh presets` [default: the configuration's, else
    /// workspace-write]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    /// Who answers when a call needs approval: ask (whoever sits at the terminal), yes (allows each, once) or no [default: ask on
    /// a terminal, else no]
    #[arg(long, global = true, value_name = "WHO", hide_possible_values = true)]
    pub(crate) approve: Option<Approve>,
    /// Print for machines
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Make ids and times depend on this number alone
    #[arg(long, global = true, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Tell more on stderr; twice for still more
    #[arg(short, global = true, action = ArgAction::Count, conflicts_with = "log")]
    pub(crate) verbose: u8,
    /// What to tell on stderr, such as `debug` or `dsh_session=trace,warn` [default: warn]
    #[arg(long, global = true, value_name = "FILTER")]
    pub(crate) log: Option<String>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one turn: the prompt goes to the model, its calls are run, its answer is printed
    Run {
        /// What to do [default: one line from the terminal, else all of stdin]
        prompt: Option<String>,
        /// Go on from what this session log holds, in a log of its own: --session, which must be new
        #[arg(long, value_name = "FILE")]
        fork: Option<PathBuf>,
        /// Take that log up to this event, the end of a turn [default: its last]
        #[arg(long, value_name = "SEQ", requires = "fork")]
        fork_at: Option<u64>,
    },
    /// Make one tool call and print its result
    Call {
        /// The tool
        tool: String,
        /// Its arguments as JSON text; `-` reads them from stdin
        #[arg(default_value = "{}", value_name = "ARGS")]
        arguments: String,
    },
    /// Run one program that calls the tools, and print what it printed and returned
    Code {
        /// The program, the body of an async function; `-` reads it from stdin
        file: PathBuf,
    },
    /// Serve the tools to a client of the Model Context Protocol, on stdin and stdout
    Mcp,
    /// List the tools
    Tools,
    /// Print what models are told about calling the tools from programs
    Sdk {
        /// The language of the programs: typescript or python
        #[arg(long, default_value = "typescript", hide_possible_values = true, value_parser = languages())]
        language: Language,
    },
    /// Draw a stored session again; no tool runs
    Replay {
        /// The session log
        file: PathBuf,
    },
    /// Check a session log
    Verify {
        /// The session log
        file: PathBuf,
    },
    /// Repair a session log, keeping what is cut off beside it
    Repair {
        /// The session log
        file: PathBuf,
    },
    /// List the permission presets, and which one the session of --session has
    Presets,
    /// Show what is configured and mounted
    Plugins,
}

fn languages() -> impl clap::builder::TypedValueParser<Value = Language> {
    PossibleValuesParser::new(Language::ALL.map(Language::name))
        .map(|name| name.parse().unwrap_or(Language::TypeScript))
}

fn modes() -> impl clap::builder::TypedValueParser<Value = Presentation> {
    PossibleValuesParser::new(Presentation::ALL.map(Presentation::as_str))
        .map(|name| name.parse().unwrap_or_default())
}
