//! TypeScript to JavaScript by turning types into spaces, so that every line and column stays where the model wrote it.
//!
//! Only what can be erased is TypeScript here (spec 06 §8.3): enums, namespaces, parameter properties, angle-bracket
//! assertions and decorators mean code, and are refused with their place, as are modules. Types are not checked.

use dsh_code_runtime::{Failure, FailureKind};
use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_ast_visit::Visit as _;
use oxc_parser::{ParseOptions, Parser};
use oxc_span::SourceType;

use crate::excerpt::{excerpt, place};

mod blanks;
mod class;
mod room;
mod types;

use types::Types;

/// The program without its types; a `syntax` failure when it is none, or has what can't be erased. The calling thread has
/// `stack` bytes to spare.
pub(crate) fn erase(program: &str, stack: usize) -> Result<String, Failure> {
    read_within(program, stack, |_| ()).map(|(erased, ())| erased)
}

/// As [`erase`] on any thread, with what `look` makes of the program's tree. It is asked about trees only that can be erased.
pub(crate) fn read<T: Send>(
    program: &str,
    look: impl FnOnce(&Program<'_>) -> T + Send,
) -> Result<(String, T), Failure> {
    read_within(program, room::AT_HAND, look)
}

fn read_within<T: Send>(
    program: &str,
    stack: usize,
    look: impl FnOnce(&Program<'_>) -> T + Send,
) -> Result<(String, T), Failure> {
    if let Some(at) = program.find('\0') {
        return Err(refused(program, at, "the text has a NUL character: write it as \\0"));
    }
    room::with_room_for(program, stack, |program| read_in_place(program, look))
        .unwrap_or_else(|excess| Err(Failure::new(FailureKind::Syntax, excess.to_string())))
}

fn read_in_place<T>(program: &str, look: impl FnOnce(&Program<'_>) -> T) -> Result<(String, T), Failure> {
    let allocator = Allocator::default();
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let parsed =
        Parser::new(&allocator, program, SourceType::ts().with_module(true)).with_options(options).parse();
    if let Some(diagnostic) = parsed.diagnostics.iter().next() {
        let at = diagnostic.labels.iter().next().map(oxc_span::LabeledSpan::offset);
        let help = diagnostic.help.as_ref().map(|help| format!(". {help}")).unwrap_or_default();
        let at = at.and_then(|at| usize::try_from(at).ok()).unwrap_or(program.len());
        return Err(refused(program, at, &format!("{}{help}", diagnostic.message)));
    }
    if parsed.panicked {
        return Err(refused(program, 0, "the text is not a program"));
    }
    let mut types = Types::new(program);
    types.visit_program(&parsed.program);
    match types.refused {
        Some((at, what)) => Err(refused(program, at, what)),
        None => Ok((types.blanks.into_text(), look(&parsed.program))),
    }
}

fn refused(program: &str, at: usize, what: &str) -> Failure {
    let (line, column) = place(program, at);
    Failure::new(FailureKind::Syntax, format!("SyntaxError: {what}\n{}", excerpt(program, line, column)))
}

#[cfg(test)]
mod tests;
