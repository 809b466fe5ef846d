//! Every text that a model reads, apart from the declarations.

use dsh_json_schema::{Params, Schema};
use dsh_tool_sdk::Language;
use dsh_tools_core::RUN_CODE;

/// What models are told about `run_code`.
pub(crate) fn description(language: Language) -> String {
    let (name, syntax, printing) = match language {
        Language::TypeScript => (
            "TypeScript",
            " Types may be written and are erased; syntax that can't be erased, such as `enum`, is refused.",
            "console.log",
        ),
        Language::Python => ("Python", "", "print"),
    };
    format!(
        "Runs one program in {name} that calls the other tools, in place of many separate calls. It takes two arguments, \
         and needs both: `code`, the program, and `description`, what it does. The program is the body of an async function: \
         `await` and `return` stand at its top level.{syntax} A tool is called by `await tools.NAME(arguments)`, as the \
         declarations say. Only what is printed with `{printing}` and what is returned comes back, so pick what matters. \
         Images that tools give are attached afterwards."
    )
}

pub(crate) fn parameters(language: Language) -> Params {
    let code = match language {
        Language::TypeScript => {
            "The body of an async function in TypeScript, with `await` and `return` at its top level."
        }
        Language::Python => {
            "The body of an async function in Python, with `await` and `return` at its top level."
        }
    };
    Schema::params().required("code", Schema::string().description(code)).required(
        "description",
        Schema::string()
            .description("What the program does, in 5 to 10 words, for the user. Begins with a verb."),
    )
}

/// The rule of a scope where programs are the only way to the tools.
pub(crate) const CODE_ONLY: &str = "`run_code` is the only tool that can be called directly. A direct call of another tool \
                                    fails; call it from inside a program for `run_code`.";

/// What helps to choose, where there are both ways to the tools.
pub(crate) const CHOICE: &str = "Call a tool directly for a single step whose whole result you want to see. Where the work is \
                                 many calls, or a result is only counted, filtered or passed on, write one program for \
                                 `run_code`: the calls run in it without a round trip, and only what it returns is read.";

pub(crate) fn route(tool: &str) -> String {
    format!("only `{RUN_CODE}` can; call `{tool}` from inside a program for `{RUN_CODE}`")
}

pub(crate) const BLANK_DESCRIPTION: &str =
    "invalid `description`: it is blank; say in a few words what the program does";

pub(crate) const NO_RUNTIME: &str = "no code runtime is mounted; mount one, or present the tools as `native`";

pub(crate) fn wrong_language(mounted: &str, wanted: Language) -> String {
    format!(
        "the code runtime that is mounted runs \"{mounted}\", and programs are written in \"{wanted}\" here"
    )
}

/// A call that the program made and that was never started.
pub(crate) fn abandoned(tool: &str) -> String {
    format!("the call of `{tool}` was abandoned before it started: the program was over (run_code settled)")
}

/// The machinery under a call failed.
pub(crate) fn broken(tool: &str) -> String {
    format!("the call of `{tool}` has no answer: the session's log could not be written")
}
