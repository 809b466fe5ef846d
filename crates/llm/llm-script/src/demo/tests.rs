use std::sync::Arc;

use dsh_llm::{ContentBlock, Finish, Message, Role, Source, ToolSchema, text};

use super::*;

mod programs;

/// A conversation in which the demonstration speaks and the test answers.
struct Conversation(ModelRequest);

impl Conversation {
    fn begun() -> Self {
        Self::with(&[])
    }

    /// One in which these tools are offered.
    fn with(tools: &[&str]) -> Self {
        let schema = |name: &&str| ToolSchema {
            name: (*name).into(),
            description: "Runs a program in TypeScript.".into(),
            parameters: object! {},
        };
        let tools = tools.iter().map(schema).collect();
        let mut conversation = Self(ModelRequest { tools, ..ModelRequest::default() });
        conversation.says("What is this?");
        conversation
    }

    fn push(&mut self, role: Role, content: dsh_llm::Content, source: Source) {
        let id = format!("m{}", self.0.messages.len()).into();
        self.0.messages.push(Arc::new(Message { id, role, content, source }));
    }

    fn says(&mut self, words: &str) {
        self.push(Role::User, text(words), Source::User);
    }

    /// Takes the next step; its calls are answered by name and arguments, `Err` for a failure.
    fn step(&mut self, answer: impl Fn(&str, &Json) -> Result<String, String>) -> Step {
        let step = next_step(&self.0);
        let block = |call: &ToolCall| ContentBlock::ToolCall {
            id: Arc::clone(&call.id),
            name: Arc::clone(&call.name),
            arguments: Arc::clone(&call.arguments),
            provider_call_id: None,
        };
        let content = step.tool_calls.iter().map(block).collect();
        let source = Source::Model { provider: "demo".into(), model: "overview".into(), replay_state: None };
        self.push(Role::Assistant, content, source);
        for call in &step.tool_calls {
            let answer = answer(&call.name, &Json::parse(&call.arguments).unwrap());
            let block = ContentBlock::ToolResult {
                tool_call_id: Arc::clone(&call.id),
                is_error: answer.is_err(),
                content: text(answer.unwrap_or_else(|error| error)),
            };
            self.push(Role::User, Arc::new([block]), Source::Tool { call_id: Arc::clone(&call.id) });
        }
        step
    }

    /// The overview, when all tools answer like this.
    fn overview(&mut self, answer: impl Fn(&str, &Json) -> Result<String, String> + Copy) -> String {
        for _ in 0..3 {
            let step = self.step(answer);
            if step.tool_calls.is_empty() {
                assert_eq!(step.finish, Finish::Stop);
                return step.text.unwrap().to_string();
            }
        }
        panic!("there is no end of it");
    }
}

/// `name {arguments}` of every call.
fn calls(step: &Step) -> Vec<String> {
    step.tool_calls.iter().map(|call| format!("{} {}", call.name, call.arguments)).collect()
}

fn ids(step: &Step) -> Vec<&str> {
    step.tool_calls.iter().map(|call| &*call.id).collect()
}

fn pattern(arguments: &Json) -> &str {
    arguments.get("pattern").and_then(Json::as_str).unwrap_or_default()
}

/// A small project, as the real tools show it.
fn small(name: &str, arguments: &Json) -> Result<String, String> {
    let answer = match (name, pattern(arguments)) {
        ("glob", glob) if glob == own_files() => {
            "README.md\nCargo.toml\n.gitignore\nsrc/main.rs\nsrc/lib.rs\ndocs/a.md\nMakefile"
        }
        ("glob", glob) if glob == files_apart() => SMALL_APART,
        ("glob", KEY_FILES) => "README.md\nCargo.toml\nMakefile",
        ("grep", OPEN_ENDS) => SMALL_GREP,
        ("read", _) => match arguments.get("file_path").and_then(Json::as_str) {
            Some("README.md") => SMALL_README,
            Some("Cargo.toml") => SMALL_MANIFEST,
            _ => return Err("that file is not text".to_owned()),
        },
        _ => panic!("unexpected call: {name} {arguments}"),
    };
    Ok(answer.to_owned())
}

const SMALL_GREP: &str = "Found 2 matches\n\nsrc/lib.rs:\nLine 7:     // TODO: `parse` the rest\n\n\
    src/main.rs:\nLine 1: // FIXME";
const SMALL_APART: &str = "target/debug/a.d\n.github/ci.yml\ntarget/debug/b.d\n\n(These are 3 of 82658 files, taken in \
    turn from 2 of 2 top-level entries.)";
const SMALL_README: &str = "<path>README.md</path>\n<type>file</type>\n<content>\n1: \n2: # Sorting hat\n3: \n\
    4: It sorts.\n5: Quickly.\n\n(End of the file, 5 lines in all.)\n</content>";
const SMALL_MANIFEST: &str = "<path>Cargo.toml</path>\n<type>file</type>\n<content>\n1: [package]\n\
    2: name = \"x\"\n\n(Lines 1-2 of 40. Go on with offset 3.)\n</content>";

#[test]
fn it_looks_around_then_closer_then_writes() {
    let mut conversation = Conversation::begun();
    let first = conversation.step(small);
    assert_eq!(first.text.as_deref(), Some(LOOKING_AROUND));
    assert_eq!(first.finish, Finish::ToolCalls);
    assert_eq!(first.tool_calls.len(), 4);
    let second = conversation.step(small);
    assert_eq!(
        calls(&second),
        [
            r#"read {"file_path":"README.md"}"#,
            r#"read {"file_path":"Cargo.toml"}"#,
            r#"read {"file_path":"Makefile"}"#,
        ]
    );
    assert_eq!(
        (ids(&first), ids(&second)),
        (vec!["demo-1", "demo-2", "demo-3", "demo-4"], vec!["demo-5", "demo-6", "demo-7"])
    );
    let third = conversation.step(small);
    assert!(third.tool_calls.is_empty());
    insta::assert_snapshot!("overview_of_a_small_project", third.text.unwrap());
}

#[test]
fn an_empty_workspace_needs_no_second_look() {
    let mut conversation = Conversation::begun();
    let answer = |name: &str, _: &Json| {
        Ok(if name == "glob" { "No files found" } else { "No matches found" }.to_owned())
    };
    conversation.step(answer);
    insta::assert_snapshot!(conversation.step(answer).text.unwrap(), @r"
    # Overview of the workspace

    It is empty: there are no files in it.

    To have your own question answered, configure a model.
    ");
}

/// What the tools show of a tree: pages of its own files and of others, and counts for all other searches.
struct Huge {
    own: &'static str,
    apart: Result<&'static str, &'static str>,
    counts: &'static [(&'static str, usize)],
}

impl Huge {
    fn answer(&self, name: &str, arguments: &Json) -> Result<String, String> {
        let search = arguments.get("path").and_then(Json::as_str).unwrap_or_else(|| pattern(arguments));
        match (name, search) {
            ("grep", _) => {
                Err("SEARCH_RAW_OUTPUT_OVERFLOW: the results are larger than 20000000 bytes".to_owned())
            }
            ("glob", glob) if glob == own_files() => Ok(self.own.to_owned()),
            ("glob", glob) if glob == files_apart() => self.apart.map(str::to_owned).map_err(str::to_owned),
            ("glob", glob) if glob == some_files_apart() => Ok("target/a\n.b/c/d\ntarget/e".to_owned()),
            ("glob", KEY_FILES) => Ok("No files found".to_owned()),
            ("glob", _) => {
                let found = self.counts.iter().find(|(counted, _)| *counted == search);
                let (_, count) = found.unwrap_or_else(|| panic!("unexpected search: {arguments}"));
                Ok(format!("a\n\n(These are the first 1 of {count} files.)"))
            }
            _ => panic!("unexpected call: {name} {arguments}"),
        }
    }

    /// The calls of the second look, and the overview.
    fn seen(&self) -> (Vec<String>, String) {
        let mut conversation = Conversation::begun();
        let answer = |name: &str, arguments: &Json| self.answer(name, arguments);
        conversation.step(answer);
        let second = conversation.step(answer);
        (calls(&second), conversation.step(answer).text.unwrap().to_string())
    }
}

const HUGE_OWN: &str = "x/a.py\nx/b.py\ny/c.py\ny/d.c-backup\nz.txt\n\n(These are 5 of 120034 files, taken in turn from \
    3 of 3 top-level entries. Narrow the pattern or the path to see the others.)";

#[test]
fn where_a_listing_is_a_page_it_counts() {
    let (second, overview) = Huge {
        own: HUGE_OWN,
        apart: Ok(
            "node_modules/a.js\nvendor/a.go\n\n(These are 2 of 1500000 files, taken in turn from 2 of 2 \
            top-level entries.)",
        ),
        counts: &[
            ("{*.py,{x,y}/**/*.py}", 90_000),
            ("{*.txt,{x,y}/**/*.txt}", 1),
            ("x", 30_000),
            ("y", 90_033),
        ],
    }
    .seen();
    assert_eq!(
        second,
        [
            r#"glob {"pattern":"{*.py,{x,y}/**/*.py}"}"#,
            r#"glob {"pattern":"{*.txt,{x,y}/**/*.txt}"}"#,
            r#"glob {"pattern":"*","path":"x"}"#,
            r#"glob {"pattern":"*","path":"y"}"#,
        ]
    );
    insta::assert_snapshot!("overview_of_a_huge_tree", overview);
}

#[test]
fn where_nothing_is_left_out_the_globs_are_plain() {
    let counts = &[("*.py", 90_000), ("*.txt", 1), ("x", 30_000), ("y", 90_033)];
    let (_, overview) = Huge { own: HUGE_OWN, apart: Ok("No files found"), counts }.seen();
    assert!(overview.contains("\n120,034 files.\n"), "{overview}");
    assert!(overview.contains("- Kinds: `.py` 90,000, `.txt` 1, others 30,033\n"), "{overview}");
}

#[test]
fn where_parts_of_directories_are_left_out_it_counts_the_rest() {
    let nested =
        "x/node_modules/a.py\n\n(These are 1 of 7 files, taken in turn from 1 of 1 top-level entries.)";
    for (apart, words) in [
        (Ok(nested), "7 more files are left out: what looks like dependencies in `node_modules/`."),
        (
            Err("too many"),
            "More files are left out, and were not counted: what looks like build output in `target/`; what is hidden in \
             `.b/`.",
        ),
    ] {
        let rest = |kind: &str| &*format!("!{{**/*.{kind},{}}}", files_apart()).leak();
        let counts =
            &*vec![(rest("py"), 30_034), (rest("txt"), 120_033), ("x", 30_000), ("y", 90_033)].leak();
        let (second, overview) = Huge { own: HUGE_OWN, apart, counts }.seen();
        let counts = |call: &&String| call.starts_with(r#"glob {"pattern":"!"#);
        assert_eq!(second.iter().filter(counts).count(), 4, "{second:?}");
        assert!(overview.contains(&format!("\n120,034 files. {words}\n")), "{overview}");
        assert!(overview.contains("- Kinds: `.py` 90,000, `.txt` 1, others 30,033\n"), "{overview}");
        assert!(overview.contains("- Directories: `y/` 90,033, `x/` 30,000, elsewhere 1\n"), "{overview}");
    }
}

#[test]
fn many_directories_are_not_told_apart() {
    for (entries, words) in [(13, "13 at the top"), (40, "at least 13 at the top")] {
        let paths: Vec<_> = (0..13).map(|number| format!("d{number}/a.py\n")).collect();
        let note =
            format!("(These are 13 of 9000 files, taken in turn from 13 of {entries} top-level entries.)");
        let own = format!("{}\n{note}", paths.concat()).leak();
        let (second, overview) = Huge { own, apart: Ok("No files found"), counts: &[("*.py", 8_000)] }.seen();
        assert_eq!(second, [r#"glob {"pattern":"*.py"}"#]);
        assert!(
            overview.contains(&format!("- Kinds: `.py` 8,000, others 1,000\n- Directories: {words}\n")),
            "{overview}"
        );
    }
}

#[test]
fn a_second_look_has_at_most_eight_calls() {
    let own = "README.md\nCargo.toml\ngo.mod\nMakefile\na/1.a\nb/1.b\nc/1.c\nd/1.d\ne/1.e\n\n\
        (These are 9 of 500 files, taken in turn from 9 of 9 top-level entries.)";
    for apart in [Ok("No files found"), Err("too many")] {
        let mut conversation = Conversation::begun();
        let answer = |_: &str, arguments: &Json| match pattern(arguments) {
            glob if glob == own_files() => Ok(own.to_owned()),
            glob if glob == files_apart() => apart.map(str::to_owned).map_err(str::to_owned),
            _ => Ok(String::new()),
        };
        conversation.step(answer);
        assert_eq!(conversation.step(answer).tool_calls.len(), 8);
    }
}

#[test]
fn open_ends_in_what_is_left_out_do_not_count() {
    let overview = |apart: &'static str, found: &'static str| {
        let text = Conversation::begun().overview(|name, arguments| {
            Ok(match (name, pattern(arguments)) {
                ("grep", _) => found,
                (_, glob) if glob == files_apart() => apart,
                _ => "a.rs",
            }
            .to_owned())
        });
        text.lines().skip(6).take_while(|line| !line.starts_with("To have")).collect::<Vec<_>>().join("|")
    };
    let check = |apart, found, want: &str| assert_eq!(overview(apart, found), want);
    let both = "Found 2 matches\n\na.rs:\nLine 1: TODO\n\ntarget/b.rs:\nLine 2: TODO";
    check("target/b.rs", both, "1 line says TODO or FIXME. The first:||- `a.rs:1` `TODO`|");
    let page = "Found 1 of 7 matches\n\na.rs:\nLine 1: TODO";
    check("target/b.rs", page, "At least 1 line says TODO or FIXME. The first:||- `a.rs:1` `TODO`|");
    check("No files found", page, "7 lines say TODO or FIXME. The first:||- `a.rs:1` `TODO`|");
    let apart = "Found 1 of 7 matches\n\ntarget/b.rs:\nLine 1: TODO";
    check("target/b.rs", apart, "None of the first 1 lines that say TODO or FIXME is in these files.|");
    check("target/b.rs", "Found 1 match\n\ntarget/b.rs:\nLine 1: TODO", "No line says TODO or FIXME.|");
}

#[test]
fn a_workspace_may_have_no_files_of_its_own() {
    let mut conversation = Conversation::begun();
    let overview = conversation.overview(|name, arguments| {
        let apart = name == "glob" && pattern(arguments) == files_apart();
        Ok(if apart { "build/a\n.a/b\n.b/c\n.c/d\n.d/e\n.e/f" } else { "No files found" }.to_owned())
    });
    insta::assert_snapshot!(overview, @r"
    # Overview of the workspace

    There are no files of its own in it. 6 files are left out: what looks like build output in `build/`; what is hidden in `.a/`, `.b/`, `.c/` and 2 more.

    To have your own question answered, configure a model.
    ");
}

#[test]
fn without_tools_it_says_so() {
    let mut conversation = Conversation::begun();
    let overview = conversation.overview(|name, _| Err(format!("there is no tool `{name}`")));
    insta::assert_snapshot!(overview, @r"
    # Overview of the workspace

    The files could not be listed: there is no tool `glob`

    The search for TODO or FIXME failed: there is no tool `grep`

    To have your own question answered, configure a model.
    ");
}

#[test]
fn calls_without_an_answer_are_no_obstacle() {
    let mut conversation = Conversation::begun();
    conversation.step(small);
    conversation.0.messages.truncate(2);
    let step = next_step(&conversation.0);
    assert!(step.tool_calls.is_empty());
    assert!(step.text.unwrap().contains("The files could not be listed."));
}

#[test]
fn each_message_of_a_person_begins_anew_with_new_ids() {
    let mut conversation = Conversation::begun();
    let first = conversation.overview(small);
    conversation.says("And now?");
    let again = conversation.step(small);
    assert_eq!(ids(&again), ["demo-8", "demo-9", "demo-10", "demo-11"]);
    conversation.step(small);
    assert_eq!(conversation.step(small).text.as_deref(), Some(&*first));
}

#[test]
fn what_plugins_add_does_not_begin_anew() {
    let mut conversation = Conversation::begun();
    conversation.step(small);
    conversation.push(Role::User, text("a note"), Source::plugin("notes"));
    assert!(conversation.step(small).tool_calls.iter().all(|call| &*call.name == "read"));
}

#[test]
fn it_reads_the_project_s_own_files_four_at_most() {
    let read = |listed: &str, key_files: &str| {
        let mut conversation = Conversation::begun();
        conversation.step(|_, arguments| {
            Ok(match pattern(arguments) {
                glob if glob == own_files() => listed.to_owned(),
                KEY_FILES => key_files.to_owned(),
                OPEN_ENDS => "No matches found".to_owned(),
                _ => "No files found".to_owned(),
            })
        });
        let step = next_step(&conversation.0);
        let path =
            |call: &ToolCall| Json::parse(&call.arguments).unwrap().get("file_path").map(Json::to_text);
        step.tool_calls.iter().filter_map(path).collect::<Vec<_>>().join(" ")
    };
    let many = "Makefile\nGemfile\nREADME.rst\nREADME.md\ngo.mod\npackage.json\nCargo.toml";
    assert_eq!(read("x", many), r#""README.md" "Cargo.toml" "package.json" "go.mod""#);
    assert_eq!(read("x", "README-ja.md\nREADME.md"), r#""README.md""#);
    let nested =
        "fixtures/README.md\na/b/c/README.md\n.b/README.md\na/b/README.md\na/b/Cargo.toml\na/tests/Makefile";
    assert_eq!(read(nested, "No files found"), r#""a/b/README.md" "a/b/Cargo.toml""#);
    assert_eq!(read("docs/README.md\nCargo.toml\na/Makefile", "Cargo.toml"), r#""Cargo.toml""#);
    assert_eq!(read("README.md", "README.md"), r#""README.md""#);
    assert_eq!(read("a.txt", "No files found"), "");
}

#[test]
fn only_the_root_s_introduction_speaks_for_the_workspace() {
    let overview = Conversation::begun()
        .overview(|name, _| Ok(if name == "read" { "1: # Part" } else { "part/README" }.to_owned()));
    assert!(overview.contains("`part/README` (1 line)") && !overview.contains("**Part**"), "{overview}");
}

#[test]
fn an_introduction_is_found_in_any_form() {
    let heading = |lines: &str| {
        let mut conversation = Conversation::begun();
        let text = conversation.overview(|name, _| {
            let numbered: Vec<_> =
                lines.lines().zip(1..).map(|(line, number)| format!("{number}: {line}")).collect();
            Ok(if name == "read" { numbered.join("\n") } else { "README".to_owned() })
        });
        let line = text.lines().nth(2).unwrap().to_owned();
        line.strip_prefix("**").map(|line| line.replace("**, says `README`", ""))
    };
    let check = |lines: &str, want: Option<&str>| assert_eq!(heading(lines).as_deref(), want);
    check("# One\n# Two", Some("One."));
    check("text\n\n## Second level", Some("Second level."));
    check("Title\n=====\n# Later", Some("Title."));
    check("Title\n-----\nText", Some("Title: Text"));
    check("#!shebang\n#no heading\ntext", None);
    check("", None);
    check(&format!("# {}", "é".repeat(300)), Some(&format!("{}….", "é".repeat(100))));
    check("# A\n\n[![x](y)](z)\n<p>\n\n- one\n* two\n\nIt is\nso.\n\nMore.", Some("A: It is so."));
    check("# A\n\n## B\n\ntext", Some("A."));
    check("# A\n\n```\n```\n**A** is\n```\nx", Some("A: **A** is"));
}
