//! What the section says before the declarations (spec 05 §5).

use crate::Language;

pub(crate) fn of(language: Language) -> &'static str {
    match language {
        Language::TypeScript => TYPESCRIPT,
        Language::Python => PYTHON,
    }
}

const TYPESCRIPT: &str = "\
## Writing TypeScript for `run_code`

Call `run_code` with two required arguments: `code`, the program, and `description`, a few words on what it does.

- The program is the body of an async function, so `await` and `return` work at its top level. Use only TypeScript \
syntax that can be erased: no enums, namespaces, parameter properties or decorators. Types are advice; they are \
stripped before the program runs, and nothing checks them.
- Call a tool as `await tools.NAME(args)` with one object. Write `tools[\"NAME\"]` where the name is no identifier.
- A call resolves to the tool's output as the JSON value that `ToolOutputMap` declares, not as text to be parsed.
- Arguments and the returned value have to be lossless JSON: no `undefined`, functions, dates, maps, `NaN`, infinities or \
`-0`. An integer that a `number` does not hold exactly arrives as a `bigint`; pass one back the same way, within 64 bits.
- A failed call throws a `ToolCallError`, with `toolName` and a `message` for people. Catch it to go on.
- Read-only calls that don't depend on each other may overlap: `await Promise.all([...])`. Calls that change something \
run alone, in the order in which they were made. Await a call before one that needs what it did.
- Only what the program prints with `console.log` or returns comes back, so return just what is needed. An image in a \
successful result is attached after the run. Every other result stays inside the program.

The tools:";

const PYTHON: &str = "\
## Writing Python for `run_code`

Call `run_code` with two required arguments: `code`, the program, and `description`, a few words on what it does.

- The program is the body of an async function, so `await` and `return` work at its top level.
- Call a tool as `await tools.NAME(args)` with one dict. Write `tools[\"NAME\"]` where a comment below shows it so: the name \
is no identifier, is reserved, or begins with an underscore.
- A call gives the tool's output as the JSON value that its signature declares, not as text to be parsed.
- Arguments and the returned value have to be lossless JSON: dicts with `str` keys, lists, `str`, `int` within 64 bits, finite \
`float` other than `-0.0`, `bool` and `None`; no tuples, sets or bytes.
- A failed call raises a `ToolCallError`, with `toolName` and a message for people (`str(error)`). Catch it to go on.
- Read-only calls that don't depend on each other may overlap: `await asyncio.gather(...)`, with `import asyncio`. Calls that change something \
run alone, in the order in which they were made. Await a call before one that needs what it did.
- Only what the program prints or returns comes back, so return just what is needed. An image in a successful result is \
attached after the run. Every other result stays inside the program.
- Exactly two of the names below exist when the program runs: `tools` and `ToolCallError`. The rest is a static stub. Build \
plain dicts and lists; to construct a declared class raises `NameError`.

The tools:";
