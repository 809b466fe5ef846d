use dsh_llm::{ContentBlock, Finish, Role, Source, text};

use super::*;

/// A conversation in which the demonstration speaks and the test answers.
#[derive(Default)]
struct Conversation(Vec<Arc<Message>>);

impl Conversation {
    fn begun() -> Self {
        let mut conversation = Self::default();
        conversation.says("What is this?");
        conversation
    }

    fn push(&mut self, role: Role, content: dsh_llm::Content, source: Source) {
        let id = format!("m{}", self.0.len()).into();
        self.0.push(Arc::new(Message { id, role, content, source }));
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
        ("glob", ALL_FILES) => {
            "README.md\nCargo.toml\n.gitignore\nsrc/main.rs\nsrc/lib.rs\ndocs/a.md\nMakefile"
        }
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
const SMALL_README: &str = "<path>README.md</path>\n<type>file</type>\n<content>\n1: \n2: # Sorting hat\n3: \n\
    4: It sorts.\n\n(End of the file, 4 lines in all.)\n</content>";
const SMALL_MANIFEST: &str = "<path>Cargo.toml</path>\n<type>file</type>\n<content>\n1: [package]\n\
    2: name = \"x\"\n\n(Lines 1-2 of 40. Go on with offset 3.)\n</content>";

#[test]
fn it_looks_around_then_closer_then_writes() {
    let mut conversation = Conversation::begun();
    let first = conversation.step(small);
    assert_eq!(first.text.as_deref(), Some(LOOKING_AROUND));
    assert_eq!(first.finish, Finish::ToolCalls);
    assert_eq!(first.tool_calls.len(), 3);
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
        (vec!["demo-1", "demo-2", "demo-3"], vec!["demo-4", "demo-5", "demo-6"])
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

    This is the demonstration model: it writes this overview whatever it is asked. Configure a model to have your own question answered.
    ");
}

/// A tree of which the tools show only pages.
fn huge(name: &str, arguments: &Json) -> Result<String, String> {
    let path = arguments.get("path").and_then(Json::as_str);
    let page = |shown: &str, total: usize| {
        format!(
            "{shown}\n\n(These are the first 5 of {total} files. Narrow the pattern or the path to see the others.)"
        )
    };
    match (name, pattern(arguments), path) {
        ("glob", ALL_FILES, None) => Ok(page("x/a.py\nx/b.py\ny/c.py\ny/d.c-backup\nz.txt", 120_034)),
        ("glob", "*.py", None) => Ok(page("x/a.py\nx/b.py\ny/c.py\ny/e.py\ny/f.py", 90_000)),
        ("glob", "*.txt", None) => Ok("z.txt".to_owned()),
        ("glob", "*", Some("x")) => Ok(page("x/a.py\nx/b.py\nx/1\nx/2\nx/3", 30_000)),
        ("glob", "*", Some("y")) => Ok(page("y/c.py\ny/d.py\ny/1\ny/2\ny/3", 90_033)),
        ("glob", KEY_FILES, None) => Ok("No files found".to_owned()),
        ("grep", _, None) => {
            Err("SEARCH_RAW_OUTPUT_OVERFLOW: the results are larger than 20000000 bytes".to_owned())
        }
        _ => panic!("unexpected call: {name} {arguments}"),
    }
}

#[test]
fn where_a_listing_is_a_page_it_counts() {
    let mut conversation = Conversation::begun();
    conversation.step(huge);
    let second = conversation.step(huge);
    assert_eq!(
        calls(&second),
        [
            r#"glob {"pattern":"*.py"}"#,
            r#"glob {"pattern":"*.txt"}"#,
            r#"glob {"pattern":"*","path":"x"}"#,
            r#"glob {"pattern":"*","path":"y"}"#,
        ]
    );
    insta::assert_snapshot!("overview_of_a_huge_tree", conversation.step(huge).text.unwrap());
}

#[test]
fn without_tools_it_says_so() {
    let mut conversation = Conversation::begun();
    let overview = conversation.overview(|name, _| Err(format!("there is no tool `{name}`")));
    insta::assert_snapshot!(overview, @r"
    # Overview of the workspace

    The files could not be listed: there is no tool `glob`

    ## Open ends

    The search for them failed: there is no tool `grep`

    This is the demonstration model: it writes this overview whatever it is asked. Configure a model to have your own question answered.
    ");
}

#[test]
fn calls_without_an_answer_are_no_obstacle() {
    let mut conversation = Conversation::begun();
    conversation.step(small);
    conversation.0.truncate(2);
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
    assert_eq!(ids(&again), ["demo-7", "demo-8", "demo-9"]);
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
                ALL_FILES => listed.to_owned(),
                KEY_FILES => key_files.to_owned(),
                _ => "No matches found".to_owned(),
            })
        });
        let step = next_step(&conversation.0);
        let path =
            |call: &ToolCall| Json::parse(&call.arguments).unwrap().get("file_path").map(Json::to_text);
        step.tool_calls.iter().filter_map(path).collect::<Vec<_>>().join(" ")
    };
    let many = "Makefile\nGemfile\nREADME.rst\nREADME.md\ngo.mod\npackage.json\nCargo.toml";
    assert_eq!(read("x", many), r#""README.md" "Cargo.toml" "package.json" "go.mod""#);
    let nested = "node_modules/a/package.json\na/b/c/README.md\n.b/README.md\na/b/README.md\na/b/Cargo.toml\ntarget/Makefile";
    assert_eq!(read(nested, "No files found"), r#""a/b/README.md" "a/b/Cargo.toml""#);
    assert_eq!(read("docs/README.md\nCargo.toml", "Cargo.toml"), r#""Cargo.toml" "docs/README.md""#);
    assert_eq!(read("README.md", "README.md"), r#""README.md""#);
    assert_eq!(read("a.txt", "No files found"), "");
}

#[test]
fn only_the_root_s_introduction_speaks_for_the_workspace() {
    let overview = Conversation::begun()
        .overview(|name, _| Ok(if name == "read" { "1: # Part" } else { "part/README" }.to_owned()));
    assert!(overview.contains("- `part/README`: 1 line\n") && !overview.contains("**Part**"), "{overview}");
}

#[test]
fn a_heading_is_found_in_any_form() {
    let heading = |lines: &str| {
        let mut conversation = Conversation::begun();
        let text = conversation.overview(|name, _| {
            let numbered: Vec<_> =
                lines.lines().zip(1..).map(|(line, number)| format!("{number}: {line}")).collect();
            Ok(if name == "read" { numbered.join("\n") } else { "README".to_owned() })
        });
        let line = text.lines().nth(2).unwrap().to_owned();
        line.split_once("**, says `README`.").map(|(heading, _)| heading.trim_start_matches('*').to_owned())
    };
    let check = |lines: &str, want: Option<&str>| assert_eq!(heading(lines).as_deref(), want);
    check("# One\n# Two", Some("One"));
    check("text\n\n## Second level", Some("Second level"));
    check("Title\n=====\n# Later", Some("Title"));
    check("Title\n-----", Some("Title"));
    check("#!shebang\n#no heading\ntext", None);
    check("", None);
    check(&format!("# {}", "é".repeat(300)), Some(&format!("{}…", "é".repeat(100))));
}
