//! The section as a whole: order, frame, prose, bindings, bounds (spec 05 §§1, 2, 5; checklist 4, 5, 29–31).

use std::sync::Arc;

use dsh_json::{Json, Object, object};
use dsh_tool_sdk::{Language, Limits, Place, SdkError, UnknownLanguage, render};

use crate::tools::{Python, TypeScript, closed, declarations, described, gives, rendered, takes};

/// In order.
const NAMES: [&str; 17] =
    ["", "$", "-", "10", "9", "A1", "B", "_", "a", "a-b", "a.b", "a1", "a_b", "b", "é", "😀", "\u{ffee}"];

#[test]
fn tools_are_in_utf16_order_whatever_the_input() {
    let tools = NAMES.map(|name| described(name, ""));
    let mut other = tools.clone();
    other.reverse();
    other.swap(2, 9);
    for language in Language::ALL {
        let sdk = rendered(language, &tools);
        assert_eq!(sdk, rendered(language, &other));
        let names: Vec<&str> = sdk.bindings().iter().map(|binding| &*binding.name).collect();
        assert_eq!(names, NAMES);
        let places: Vec<usize> =
            NAMES.iter().filter_map(|name| sdk.declarations().find(&format!("tools[\"{name}\"]"))).collect();
        assert!(places.is_sorted());
    }
}

#[test]
fn properties_keep_their_order() {
    let keys = ["z", "10", "4294967295", "9", "a", "01", "-1"];
    let text = declarations(TypeScript, &[takes("t", &closed(keys.map(|key| (key, object! {})), []))]);
    let places =
        keys.map(|key| text.find(&format!(" {key}?: ")).or_else(|| text.find(&format!(" \"{key}\"?: "))));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
}

#[test]
fn the_bindings_are_exactly_the_tools() {
    let names = ["read", "class", "_x", "a-b", "quo\"te", "é", "$"];
    let tools = names.map(|name| described(name, ""));
    let calls = |language| {
        let sdk = rendered(language, &tools);
        let calls = sdk.bindings().iter().map(|binding| (binding.name.to_string(), binding.call.clone()));
        calls.collect::<Vec<_>>()
    };
    let expected = |calls: [(&str, &str); 7]| calls.map(|(name, call)| (name.to_owned(), call.to_owned()));
    let typescript = [
        ("$", "tools.$"),
        ("_x", "tools._x"),
        ("a-b", "tools[\"a-b\"]"),
        ("class", "tools.class"),
        ("quo\"te", "tools[\"quo\\\"te\"]"),
        ("read", "tools.read"),
        ("é", "tools[\"é\"]"),
    ];
    assert_eq!(calls(TypeScript), expected(typescript));
    let python = [
        ("$", "tools[\"$\"]"),
        ("_x", "tools[\"_x\"]"),
        ("a-b", "tools[\"a-b\"]"),
        ("class", "tools[\"class\"]"),
        ("quo\"te", "tools[\"quo\\\"te\"]"),
        ("read", "tools.read"),
        ("é", "tools.é"),
    ];
    assert_eq!(calls(Python), expected(python));
}

#[test]
fn a_name_is_declared_once() {
    let error = render(
        TypeScript,
        &[described("a", "x"), described("b", ""), described("a", "y")],
        &Limits::default(),
    );
    let error = error.unwrap_err();
    assert_eq!(
        (error.code(), error.clone()),
        ("SDK_DUPLICATE_TOOL", SdkError::DuplicateTool { name: "a".into() })
    );
    assert_eq!(error.to_string(), "two tools are called \"a\"; rename one or leave it out");
}

#[test]
fn the_section_is_prose_and_one_block() {
    for (language, fence) in [(TypeScript, "ts"), (Python, "python")] {
        let hostile = "```\n```\n## heading";
        let sdk = rendered(language, &[described("a", hostile), described("```", hostile)]);
        let (prose, block) = sdk.section().split_once("\n\n```").unwrap();
        assert!(prose.starts_with("## ") && prose.ends_with("The tools:"));
        assert_eq!(block, format!("{fence}\n{}\n```", sdk.declarations()));
        let fences = sdk.section().lines().filter(|line| line.trim_start().starts_with("```"));
        assert_eq!(fences.count(), 2);
    }
}

#[test]
fn the_prose_says_what_holds() {
    let both = [
        "## Writing",
        "`run_code`",
        "two required arguments",
        "`code`",
        "`description`",
        "async function",
        "`await`",
        "tools.NAME(args)",
        "tools[\"NAME\"]",
        "JSON value",
        "lossless JSON",
        "`ToolCallError`",
        "`toolName`",
        "message",
        "Catch it",
        "may overlap",
        "run alone",
        "in the order",
        "prints",
        "returns",
        "image",
        "attached after the run",
        "stays inside the program",
    ];
    let typescript = ["TypeScript", "Promise.all", "erased", "stripped", "`bigint`", "console.log"];
    let python = [
        "Python",
        "asyncio.gather",
        "static stub",
        "plain dicts and lists",
        "`NameError`",
        "Exactly two of the names",
    ];
    for (language, own, other) in
        [(TypeScript, &typescript[..], &python[..]), (Python, &python[..], &typescript[..])]
    {
        let sdk = rendered(language, &[]);
        let prose = sdk.section().split_once("```").unwrap().0;
        for point in both.iter().chain(own) {
            assert!(prose.contains(point), "{language}: {point}");
        }
        assert!(!other.iter().any(|point| prose.contains(point)), "{language}");
    }
}

#[test]
fn the_whole_section_reads_well() {
    insta::assert_snapshot!("section_in_typescript", rendered(TypeScript, &[]).section());
    insta::assert_snapshot!("section_in_python", rendered(Python, &[]).section());
}

#[test]
fn a_language_is_known_by_its_own_name_only() {
    for language in Language::ALL {
        assert_eq!(language.name().parse(), Ok(language));
    }
    for name in ["ruby", "constructor", "TypeScript", "", "ts"] {
        let error = name.parse::<Language>().unwrap_err();
        assert_eq!(error, UnknownLanguage { name: name.to_owned() });
        let expected =
            format!("there is no SDK for language {name:?}; known are \"typescript\" and \"python\"");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_long_description_is_cut_and_says_so() {
    let limits = Limits::default();
    for language in Language::ALL {
        let text = declarations(language, &[described("a", &"é ".repeat(1 << 19))]);
        let expected = format!("é é… [description cut at {} characters]", limits.description_chars);
        assert!(text.contains(&expected));
        assert!(text.len() < 2 * limits.description_chars);
    }
}

#[test]
fn declarations_that_do_not_fit_are_an_error() {
    let tools = ["b", "a"].map(|name| takes(name, &closed([("field", object! { "type": "string" })], [])));
    for language in Language::ALL {
        let whole = declarations(language, &tools).len();
        let bounded = |bytes| {
            let limits = Limits { declarations_bytes: bytes, ..Limits::default() };
            render(language, &tools, &limits).map(|sdk| sdk.declarations().len())
        };
        assert_eq!(bounded(whole), Ok(whole));
        for bytes in 0..whole {
            let SdkError::TooLarge { limit, .. } = bounded(bytes).unwrap_err() else {
                panic!("another error")
            };
            assert_eq!(limit, bytes);
        }
    }
    let limits = Limits { declarations_bytes: 150, ..Limits::default() };
    let error = render(TypeScript, &tools, &limits).unwrap_err();
    let place = Place::Tool("a".into());
    assert_eq!((error.code(), &error), ("SDK_TOO_LARGE", &SdkError::TooLarge { limit: 150, place }));
    assert_eq!(
        error.to_string(),
        "the declarations take more than 150 bytes (declarations_bytes) at tool \"a\"; show fewer tools, make the \
         schema smaller, or raise the limit"
    );
}

#[test]
fn what_is_shared_many_times_stops_at_the_bound() {
    let long: Arc<str> = "x".repeat(1 << 16).into();
    let literals: Json = vec![Json::from(&long); 1_000].into();
    let literals = object! { "type": "string", "enum": literals };
    let properties = Object::from_iter([(long, object! {})]);
    let object = object! { "type": "object", "properties": properties };
    let branches = object! { "oneOf": vec![object; 1_000] };
    for language in Language::ALL {
        for schema in [&literals, &branches] {
            let error = render(language, &[gives(schema)], &Limits::default()).unwrap_err();
            assert_eq!(error.code(), "SDK_TOO_LARGE");
        }
    }
}
