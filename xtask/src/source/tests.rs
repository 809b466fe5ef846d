use super::{Source, names_in};

#[test]
fn comments_and_literals_are_not_code() {
    let rows = [
        ("a // b", "a"),
        ("a /* b /* c */ d */ e", "a e"),
        (r#"f("x // y", '"', 'z')"#, "f( , , )"),
        (r##"r#"quote " inside"# x"##, "x"),
        (r#"b"bytes" x br"raw" y c"c" z"#, "x y z"),
        (r"'\'' x '\u{41}' y", "x y"),
        ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
        ("r#type::new()", "r#type::new()"),
        (r#""a\"b" x"#, "x"),
        (r#""open"#, ""),
    ];
    for (text, expected) in rows {
        let code = Source::new(text).code;
        assert_eq!(code.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{text}");
        assert_eq!(code.chars().count(), text.chars().count(), "{text}");
    }
}

#[test]
fn lines_keep_their_numbers() {
    let source = Source::new("/* one\ntwo */ three\n\"four\nfive\" six // seven\n");
    assert_eq!(source.code.lines().nth(1).map(str::trim), Some("three"));
    assert_eq!(source.code.lines().nth(3).map(str::trim), Some("six"));
    assert_eq!(source.comments.lines().nth(3).map(str::trim), Some("// seven"));
}

#[test]
fn what_only_tests_compile_is_taken_out() {
    let source = Source::new(
        "#[cfg(test)]\nmod tests;\nfn a() {}\n#[cfg(test)]\nmod inner {\n fn b() { c([1; 2]) }\n}\nfn d() {}\n",
    );
    let (code, modules) = source.without_tests();
    assert_eq!(code.split_whitespace().collect::<Vec<_>>().join(" "), "fn a() {} fn d() {}");
    assert_eq!(modules, ["tests"]);
    assert_eq!(code.lines().nth(7), Some("fn d() {}"));
}

#[test]
fn imports_are_followed() {
    let rows = [
        ("use std::fs;\nfs::read(p)", "1 std::fs; 2 std::fs::read; 2 p"),
        ("use std::{io, fs::{self, File}};", "1 std::io; 1 std::fs; 1 std::fs::File"),
        ("use std::time as t;\nt::Instant::now()", "1 std::time; 2 std::time::Instant::now"),
        ("use tokio::time::Instant;\nInstant::now", "1 tokio::time::Instant; 2 tokio::time::Instant::now"),
        ("use std::env::*;", "1 std::env::*"),
        ("let x = ::std::net::lookup;", "1 let; 1 x; 1 std::net::lookup"),
        ("std::env!(A)", "1 A"),
        ("fn f() -> impl use<'a> {}", "1 fn; 1 f; 1 impl; 1 use; 1 a"),
        ("use {std::fs, std::net as n,};", "1 std::fs; 1 std::net"),
    ];
    for (code, expected) in rows {
        let names: Vec<String> =
            names_in(code).iter().map(|named| format!("{} {}", named.line, named.path.join("::"))).collect();
        assert_eq!(names.join("; "), expected, "{code}");
    }
}
