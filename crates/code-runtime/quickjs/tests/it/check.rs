//! What is said of a program before it runs (spec 06 §14.17, spec 12 §5).
#![expect(clippy::unwrap_used, reason = "a test's own functions fail as tests do")]

use std::collections::BTreeMap;

use dsh_code_runtime::{BindingSchemas, CodeRuntime as _, FailureKind, Limits};
use dsh_json::{Json, Object, object};
use dsh_json_schema::{Node, Schema};
use dsh_quickjs::QuickJs;

use super::kit::{failure, value};

struct Tools(BTreeMap<&'static str, Schema>);

impl BindingSchemas for Tools {
    fn namespace(&self) -> &'static str {
        "tools"
    }

    fn parameters(&self, name: &str) -> Option<&Schema> {
        self.0.get(name)
    }

    fn names(&self) -> Vec<&str> {
        self.0.keys().copied().collect()
    }
}

fn tools() -> Tools {
    let read = Schema::params().required("path", Schema::string()).optional("limit", Schema::integer());
    let kind = Schema::string().enumeration(["file", "directory"]);
    let filter = Schema::object().closed().required("kind", kind).optional("deep", Schema::boolean());
    let lines = Schema::one_of([Node::from(Schema::integer()), Schema::array(Schema::integer()).into()]);
    let search = Schema::object()
        .closed()
        .required("pattern", Schema::string())
        .optional("filter", filter)
        .optional("tags", Schema::array(Schema::string()))
        .optional("lines", lines);
    let fetch = Schema::params().required("url", Schema::string());
    let copy = Schema::params().required("source", Schema::string()).optional("sources", Schema::string());
    Tools(BTreeMap::from([
        ("copy", copy.build().unwrap()),
        ("list", Schema::params().build().unwrap()),
        ("read_file", read.build().unwrap()),
        ("search", search.build().unwrap()),
        ("web-fetch", fetch.build().unwrap()),
    ]))
}

/// What the check says; empty when it says nothing.
fn said(program: &str) -> String {
    match QuickJs::on_threads(Limits::default()).check(program, &[&tools()]) {
        Ok(()) => String::new(),
        Err(failure) => {
            assert_eq!(failure.kind, FailureKind::Check, "{program}: {failure}");
            failure.message
        }
    }
}

#[test]
fn calls_that_may_work_are_not_spoken_of() {
    for program in [
        "",
        "return await tools.read_file({ path: 'a', limit: 3 })",
        "tools.read_file({ path: p, other: 1 })",
        "tools.search({ pattern: `a`, filter: { kind: 'file', deep: !x }, tags: ['a', b, ...c], lines: [1] })",
        "tools['web-fetch']({ url })",
        "tools[`web-fetch`]({ 'url': '' })",
        "tools[name]({}); tools[name + 1]()",
        "tools.list({}); tools.list({ anything: [1] }, 'more'); tools.list(...rest)",
        // What is not written out.
        "tools.read_file(args)",
        "tools.read_file(...args)",
        "tools.read_file({ ...args })",
        "tools.read_file({ limit: 1, ...args })",
        "tools.read_file({ ...args, limit: 1 })",
        "tools.read_file({ limit: 'none', ...args })",
        "tools.read_file({ limit: 'none', [key]: 1, path: p })",
        "tools.read_file({ [key]: 1 })",
        "tools.read_file({ get path() { return 'a' } })",
        "tools.read_file({ __proto__: { path: 'a' } })",
        "tools.read_file({ path: `${a}`, limit: +x })",
        "tools.read_file(a ? {} : b)",
        "tools.search({ pattern: 'a', filter })",
        "tools.search({ pattern: 'a', lines: n })",
        "tools.search({ pattern: 'a', lines: [n] })",
        "tools.search({ pattern: 'a', lines: [...n] })",
        "tools.search({ pattern: 'a', filter: { kind } })",
        // What the program is prepared for.
        "tools.raed?.({})",
        "if (tools.raed) tools.raed({})",
        "if (typeof tools.raed === 'function') { await tools.raed({}) }",
        "if ('raed' in tools) await tools.raed({})",
        "if ('raed' in (tools as any)) await tools.raed({})",
        "if (name in tools) await tools.raed({})",
        "try { await tools.raed({}); tools.read_file() } catch { tools.read_file({ path: '' }) }",
        "try { try { await tools.read_file({}) } finally { f() } } catch (e) {}",
        "await tools.read_file({}).catch(() => null)",
        "await tools.read_file({}).then(f).catch(g)",
        "await tools.read_file({}).then(f, g)",
        "await Promise.all([tools.read_file({})]).catch(g)",
        "await Promise.allSettled([tools.read_file({})])",
        // What the name may mean.
        "function f(tools) { return tools.raed() }",
        "const f = (tools: any) => tools.raed()",
        "const f = ({ tools }) => tools.raed()",
        "{ let tools = {}; tools.raed() }",
        "try {} catch (tools) {} tools.raed()",
        "(function tools() {}); tools.raed()",
        "(class tools {}); tools.raed()",
        "for (const [tools] of x) tools.raed()",
        "var tools = f(); tools.raed()",
        "tools = f(); tools.raed()",
        "(tools as any) = f(); tools.raed()",
        "[tools] = f(); tools.raed()",
        "({ tools } = f()); tools.raed()",
        "({ a: tools } = f()); tools.raed()",
        "for (tools of x) tools.raed()",
        "tools.raed = f; tools.raed()",
        "tools[name] = f; tools.raed()",
        "Object.assign(tools, { raed }); tools.raed()",
        "const t = tools; t.raed = f; tools.raed()",
        "delete tools.raed; tools.raed()",
        "helper(tools); tools.raed()",
        "const all = { tools }; tools.raed()",
        "eval(text); tools.raed()",
        // Calls of something else.
        "other.raed(); a.tools.raed(); this.tools.raed(); new tools.raed(); tools.raed`x`; tools(); raed()",
        "const call = tools.raed; tools.read_file.call(null, {})",
    ] {
        assert_eq!(said(program), "", "{program}");
    }
}

#[test]
fn unknown_functions_are_named_with_the_nearest() {
    for (program, at, what) in [
        (
            "const a = 1;\n  await tools.read_fil({ path: a })",
            "line 2, column 15",
            "there is no `tools.read_fil`; did you mean `tools.read_file`?",
        ),
        ("tools.readFile({})", "line 1, column 7", "did you mean `tools.read_file`?"),
        ("tools['webfetch']({})", "line 1, column 7", "did you mean `tools[\"web-fetch\"]`?"),
        (
            "tools.execute({})",
            "column 7",
            "there is no `tools.execute`; available: copy, list, read_file, search, web-fetch",
        ),
        ("tools[\"a\\nb\"]({})", "column 7", "there is no `tools[\"a\\nb\"]`; available: copy, list"),
        ("tools.toString()", "column 7", "there is no `tools.toString`"),
        ("(tools as any).execute({})", "column 16", "there is no `tools.execute`"),
        ("tools?.execute!({})", "column 8", "there is no `tools.execute`"),
        ("(tools.execute)({})", "column 8", "there is no `tools.execute`"),
        ("f(() => { if (false) tools.execute({}) })", "column 28", "there is no `tools.execute`"),
        // Each once.
        ("tools.execute(tools.execute())", "column 7", "there is no `tools.execute`"),
        ("try { f() } catch { tools.execute({}) }", "column 27", "there is no `tools.execute`"),
        ("try { tools.execute({}) } finally { f() }", "column 13", "there is no `tools.execute`"),
        ("tools.execute({}).then(f)", "column 7", "there is no `tools.execute`"),
        ("tools.list({}).then(() => tools.execute({}))", "column 33", "there is no `tools.execute`"),
        ("tools.list({}).catch(() => tools.execute({}))", "column 34", "there is no `tools.execute`"),
        // Types say nothing about the name, and neither does taking it apart.
        (
            "type T = typeof tools; interface tools {} tools.execute({})",
            "column 49",
            "there is no `tools.execute`",
        ),
        ("declare const tools: any; tools.execute({})", "column 33", "there is no `tools.execute`"),
        ("const f = (t: typeof tools) => t; tools.execute({})", "column 41", "there is no `tools.execute`"),
        ("const { list, search: s } = tools; tools.execute({})", "column 42", "there is no `tools.execute`"),
        (
            "const x = a.tools, y = { tools: 1 }; tools.execute({})",
            "column 44",
            "there is no `tools.execute`",
        ),
        ("é('😀'); tools.execute({})", "column 15", "there is no `tools.execute`"),
    ] {
        let message = said(program);
        assert!(message.contains(at) && message.contains(what), "{program}: {message}");
        assert_eq!(message.matches("there is no").count(), 1, "{program}: {message}");
    }
}

#[test]
fn arguments_that_can_not_fit_are_explained_by_their_validator() {
    for (program, at, what) in [
        ("tools.read_file()", "column 17", "`tools.read_file` needs an argument: pass an object with path"),
        ("tools.list()", "column 12", "`tools.list` needs an argument: pass an object such as {}"),
        (
            "tools.read_file({})",
            "column 17",
            "does not fit `tools.read_file`: path: is required but missing; add it",
        ),
        (
            "tools.read_file({ limit: n, pth: 'a' })",
            "column 17",
            "path: is required but missing; add it, or rename `pth`",
        ),
        ("tools.copy({ sources: s })", "column 12", "source: is required but missing; add it\n"),
        (
            "tools.read_file({ path: 'a',\n  limit: '10' })",
            "line 2, column 3",
            "limit: must be an integer; found the string \"10\"; send the value itself, not a string of JSON",
        ),
        (
            "tools.read_file({ path: p, limit: 1.5 })",
            "column 28",
            "limit: must be an integer; found the number 1.5",
        ),
        (
            "tools.read_file({ path: -5n as any, limit: n })",
            "column 19",
            "path: must be a string; found the number -5",
        ),
        ("tools.read_file({ ...p, limit: null })", "column 25", "limit: must be an integer; found null"),
        ("tools.read_file({ path: [p] })", "column 19", "path: must be a string; found an array of 1 item"),
        ("tools.read_file({ path: p, li: x, limit: 0.5 })", "column 35", "limit: must be an integer"),
        ("tools.read_file('a.txt')", "column 17", "arguments: must be an object; found the string \"a.txt\""),
        ("tools.read_file(null)", "column 17", "arguments: must be an object; found null"),
        ("tools.read_file([p])", "column 17", "arguments: must be an object; found an array of 1 item"),
        (
            "tools.read_file(({ path: 1 }) satisfies any)",
            "column 20",
            "path: must be a string; found the number 1",
        ),
        (
            "tools.search({ patern: p })",
            "column 14",
            "pattern: is required but missing; add it; patern: is not a known property; did you mean pattern?",
        ),
        (
            "tools.search({ ...p, max: x })",
            "column 22",
            "max: is not a known property; remove it. Known properties",
        ),
        ("tools.search({ max: x, ...p })", "column 16", "max: is not a known property"),
        ("tools.search({ pattern: p, filter: {} })", "column 36", "filter.kind: is required but missing"),
        (
            "tools.search({ pattern: p, filter: { kind: 'fil' } })",
            "column 38",
            "filter.kind: must be one of \"file\", \"directory\"; found the string \"fil\"; did you mean \"file\"?",
        ),
        (
            "tools.search({ pattern: p, tags: [t, 1] })",
            "column 38",
            "tags[1]: must be a string; found the number 1",
        ),
        (
            "tools.search({ pattern: p, tags: 'a' })",
            "column 28",
            "tags: must be an array; found the string \"a\"",
        ),
        ("tools.search({ pattern: p, lines: 'a' })", "column 28", "lines: must be a number or an array"),
        ("tools.search(tools.search({}) && {})", "column 27", "pattern: is required but missing"),
        (
            "tools.search({ pattern: async () => tools.search({}) })",
            "column 50",
            "pattern: is required but missing",
        ),
    ] {
        let message = said(program);
        assert!(message.contains(at) && message.contains(what), "{program}: {message}");
    }
}

#[test]
fn messages_read_so() {
    insta::assert_snapshot!(
        said("const found = await tools.serch({ pattern: \"x\" });\nreturn found;"),
        @r#"
    nothing has run, because this call can't work. Correct it, and send the program again.
    line 1, column 27: there is no `tools.serch`; did you mean `tools.search`?
    1 | const found = await tools.serch({ pattern: "x" });
      |                           ^
    "#
    );
    let several = "const rows: string[] = [];
for (const path of rows) {
    await tools.read_file({ path, limit: \"all\" });
}
tools.list();
tools.search({ patern: rows[0], filter: { kind: \"dir\" } });
tools.execute({ code: 1 });";
    insta::assert_snapshot!(said(several), @r#"
    nothing has run, because these calls can't work. Correct them, and send the program again.
    line 3, column 35: the argument does not fit `tools.read_file`: limit: must be an integer; found the string "all"
    3 |     await tools.read_file({ path, limit: "all" });
      |                                   ^
    line 5, column 12: `tools.list` needs an argument: pass an object such as {}
    line 6, column 14: the argument does not fit `tools.search`: pattern: is required but missing; add it; filter.kind: must be one of "file", "directory"; found the string "dir"; patern: is not a known property; did you mean pattern? Known properties: pattern, filter, tags, lines
    line 7, column 7: there is no `tools.execute`; available: copy, list, read_file, search, web-fetch
    "#);
    insta::assert_snapshot!(said(&"tools.read_file({ pth: 1 });\n".repeat(9)), @r"
    nothing has run, because these calls can't work, and others like them. Here are the first 5: correct all, and send the program again.
    line 1, column 17: the argument does not fit `tools.read_file`: path: is required but missing; add it, or rename `pth`
    1 | tools.read_file({ pth: 1 });
      |                 ^
    line 2, column 17: the argument does not fit `tools.read_file`: path: is required but missing; add it, or rename `pth`
    line 3, column 17: the argument does not fit `tools.read_file`: path: is required but missing; add it, or rename `pth`
    line 4, column 17: the argument does not fit `tools.read_file`: path: is required but missing; add it, or rename `pth`
    line 5, column 17: the argument does not fit `tools.read_file`: path: is required but missing; add it, or rename `pth`
    ");
    insta::assert_snapshot!(said("tools.search({ a: 1, b: 2, c: 3 })"), @r"
    nothing has run, because this call can't work. Correct it, and send the program again.
    line 1, column 14: the argument does not fit `tools.search`: pattern: is required but missing; add it; a: is not a known property; remove it. Known properties: pattern, filter, tags, lines; b: is not a known property; remove it. Known properties: pattern, filter, tags, lines; and 1 more
    1 | tools.search({ a: 1, b: 2, c: 3 })
      |              ^
    ");
}

/// The same failure as that of running it.
#[tokio::test]
async fn what_is_no_program_is_syntax() {
    for program in ["const x = ;", "tools.execute({});\nenum A { B }", "a\0b", "import 'fs'"] {
        let checked = QuickJs::on_threads(Limits::default()).check(program, &[&tools()]).unwrap_err();
        assert_eq!(checked.kind, FailureKind::Syntax);
        assert_eq!(checked.message, failure(program, FailureKind::Syntax).await);
    }
}

/// A schema that only this value fits, as far as schemas can say so.
fn exactly(value: &Json) -> Json {
    let scalar = |name: &str| object! { "type": name, "const": value.clone() };
    match value {
        Json::Null => scalar("null"),
        Json::Bool(_) => scalar("boolean"),
        Json::Number(_) => scalar("number"),
        Json::String(_) => scalar("string"),
        Json::Array(items) => match items.first() {
            Some(first) => object! { "type": "array", "items": exactly(first) },
            None => object! { "type": "array" },
        },
        Json::Object(members) => {
            let properties: Object =
                members.iter().map(|(key, member)| (key.clone(), exactly(member))).collect();
            let required: Json = members.keys().map(Json::from).collect();
            object! {
                "type": "object", "properties": properties, "required": required, "additionalProperties": false
            }
        }
    }
}

/// What the check takes a literal for is what the engine sends across.
#[tokio::test]
async fn literals_are_what_the_engine_makes_of_them() {
    for (literal, is_known) in [
        ("1", true),
        ("1e3", true),
        ("0x1F", true),
        ("1_000.5", true),
        ("-7", true),
        ("0", true),
        ("9007199254740993", true),
        ("9007199254740992", true),
        ("-9007199254740993", true),
        ("1e300", true),
        ("12345678901234567890", true),
        ("5n", true),
        ("-0x10n", true),
        ("18446744073709551615n", true),
        ("9007199254740993n", true),
        ("'a\\u0041\\x41\\n\\\n\\0é😀'", true),
        ("'\\ud83d\\ude00'", true),
        ("`a\r\nb\\``", true),
        ("(null)", true),
        ("[true, true]", true),
        ("{ a: 1, 'b c': { d: [] }, \\u0063: '', a: 2 }", true),
        ("{ 'a': 1 } as const", true),
        ("{ 1: 1 }", true),
        ("{ ['a']: 1 }", true),
        ("{ ...{ a: 1 } }", true),
        ("1 + 1", false),
        ("`${1}`", false),
    ] {
        let sent = value(&format!("return await tools.echo({{ v: {literal} }})")).await;
        let complaint = |schema: &Json| {
            let tools = Tools(BTreeMap::from([("echo", Schema::new(schema).unwrap())]));
            let program = format!("tools.echo({{ v: {literal} }})");
            QuickJs::on_threads(Limits::default())
                .check(&program, &[&tools])
                .err()
                .map(|failure| failure.message)
        };
        assert_eq!(complaint(&exactly(&sent)), None, "{literal}");
        let other = object! { "type": "object", "properties": object! { "v": object! { "type": "string", "const": "?" } } };
        assert_eq!(complaint(&other).is_some(), is_known, "{literal}");
    }
}

/// Why calls of known functions can be judged whatever the program does with the namespace.
#[tokio::test]
async fn functions_of_a_namespace_can_not_be_replaced() {
    for program in [
        "tools.echo = () => 1",
        "Object.assign(tools, { echo: () => 1 })",
        "delete tools.echo",
        "Object.defineProperty(tools, 'echo', { value: 1 })",
    ] {
        failure(program, FailureKind::Exception).await;
    }
}

#[test]
fn a_program_beyond_the_bound_is_not_looked_at() {
    let long = format!("tools.execute({{}});{}", " ".repeat(1 << 20));
    assert_eq!(said(&long), "");
    assert_ne!(said(&long[..1 << 20]), "");
}
