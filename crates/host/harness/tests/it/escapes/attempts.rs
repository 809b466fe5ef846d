//! What is attempted: each row once for each of its tools. `docs/security.md` lists the rows.
//!
//! An attempt that is not refused happens. So places of the machine itself are only looked at, and of these only such
//! as hold nothing private; whatever is written or edited lies on the ground of the test.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;

use dsh_harness::SandboxMode;
use dsh_json::{Json, Object};

use super::ground::Ground;

/// One way out, or to what is not for tools.
pub(crate) struct Attempt {
    /// In a few words.
    pub(crate) what: &'static str,
    /// What the tools are called with. Capital words stand for places of the ground.
    pub(crate) with: With,
    pub(crate) mode: SandboxMode,
    /// Where the log of the session lies, if it is a file.
    pub(crate) log: Option<&'static str>,
    /// What others did to the workspace before.
    pub(crate) prepare: fn(&Ground),
    /// Which tools are called, in this order, and how each call ends.
    pub(crate) ends: Vec<(Tools, End)>,
}

#[derive(Clone, Copy)]
pub(crate) enum With {
    /// This path, and otherwise what each tool needs.
    Path(&'static str),
    /// These arguments.
    Arguments(&'static str),
}

/// How a call ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// It is refused with this code.
    Code(&'static str),
    /// It is refused in words alone.
    Refused,
    /// It searches what is inside, and finds nothing.
    Nothing,
    /// It does its work inside, and there alone.
    Inside,
}

pub(crate) type Tools = &'static [&'static str];

pub(crate) const EVERY: Tools = &["read", "write", "edit", "glob", "grep"];
const LOOKS: Tools = &["read", "glob", "grep"];
const CHANGES: Tools = &["write", "edit"];
const BUT_WRITE: Tools = &["read", "edit", "glob", "grep"];
const DENIED: End = End::Code("FS_SANDBOX_DENIED");
const NOT_FOUND: End = End::Code("FS_NOT_FOUND");
const IO_ERROR: End = End::Code("FS_IO_ERROR");
const NOT_REGULAR: End = End::Code("FS_NOT_REGULAR_FILE");
const INVALID: End = End::Code("INVALID_ARGS");

/// All but those [by rules](by_rules).
pub(crate) fn attempts() -> Vec<Attempt> {
    let groups = [
        by_path(),
        by_the_systems_names(),
        by_link(),
        by_chain(),
        by_swap(),
        by_words(),
        by_pattern(),
        by_special_file(),
        by_argument(),
        to_what_is_only_read(),
    ];
    groups.into_iter().flatten().collect()
}

impl Attempt {
    /// The arguments of a call of this tool.
    pub(crate) fn arguments(&self, tool: &str, ground: &Ground) -> String {
        let path = match self.with {
            With::Path(path) => ground.with_places(path),
            With::Arguments(arguments) => return ground.with_places(arguments),
        };
        let mut object = Object::new();
        match tool {
            "glob" => object.insert("pattern", "*"),
            "grep" => object.insert("pattern", "secret"),
            "write" => object.insert("content", "mine\n"),
            "edit" => {
                object.insert("old_string", "line");
                object.insert("replace_all", true);
                object.insert("new_string", "mine")
            }
            _ => None,
        };
        object.insert(if LOOKS.contains(&tool) && tool != "read" { "path" } else { "file_path" }, path);
        Json::from(object).to_text()
    }

    fn ends<const N: usize>(self, ends: [(Tools, End); N]) -> Self {
        Self { ends: ends.into(), ..self }
    }

    fn logged(self, log: &'static str) -> Self {
        Self { log: Some(log), ..self }
    }

    fn under(self, mode: SandboxMode) -> Self {
        Self { mode, ..self }
    }
}

/// A path, tried by every tool and denied.
fn path(what: &'static str, path: &'static str, prepare: fn(&Ground)) -> Attempt {
    let mode = SandboxMode::WorkspaceWrite;
    Attempt { what, with: With::Path(path), mode, log: None, prepare, ends: vec![(EVERY, DENIED)] }
}

/// A place of the machine, looked at and denied.
fn look(what: &'static str, place: &'static str) -> Attempt {
    path(what, place, as_it_is).ends([(LOOKS, DENIED)])
}

/// Arguments of these tools.
fn call(
    what: &'static str,
    arguments: &'static str,
    prepare: fn(&Ground),
    tools: Tools,
    end: End,
) -> Attempt {
    Attempt { with: With::Arguments(arguments), ..path(what, "", prepare) }.ends([(tools, end)])
}

fn as_it_is(_: &Ground) {}

fn by_path() -> Vec<Attempt> {
    vec![
        path("an absolute path to a file", "OUTSIDE/secret.txt", as_it_is),
        path("an absolute path to a directory", "OUTSIDE", as_it_is),
        path("an absolute path to nothing", "OUTSIDE/nothing.txt", as_it_is),
        path("a new directory outside", "OUTSIDE/new/deeper/a.txt", as_it_is),
        path("below a file outside", "OUTSIDE/secret.txt/a.txt", as_it_is),
        path("the top of the disk", "/", as_it_is).ends([(&["read"], DENIED)]),
        look("a file of the system", "/etc/hostname"),
        path("the directory above the root", "..", as_it_is),
        path(".. at the start", "../outside/secret.txt", as_it_is),
        path(".. in the middle", "sub/../../outside/secret.txt", as_it_is),
        path(".. at the end", "../outside/dir/..", as_it_is),
        path(".. behind a file", "inside.txt/../../outside/secret.txt", as_it_is),
        path(".. behind what is missing", "no/such/../../../outside/secret.txt", as_it_is),
        path(".. behind the root's own path", "ROOT/../outside/secret.txt", as_it_is),
        path("out and in and out", "../root/../outside/secret.txt", as_it_is),
        path("more .. than directories", "../../../../../../../../../../OUTSIDE/secret.txt", as_it_is),
        path("a . before each ..", "./.././outside/./secret.txt", as_it_is),
        path("doubled slashes", "..//outside///secret.txt", as_it_is),
        path("two slashes at the start", "//OUTSIDE/secret.txt", as_it_is),
        path("a slash at the end", "../outside/secret.txt/", as_it_is),
        path("a dot at the end", "../outside/secret.txt/.", as_it_is),
        path("a sibling whose name begins like the root's", "BESIDE/../rootling/secret.txt", as_it_is),
        path("capitals", "../OutSide/Secret.txt", as_it_is),
        path(".. out of a directory that may be read", "SHARED/../outside/secret.txt", as_it_is),
        path("a sibling of a directory that may be read", "SHAREDx/notes.txt", as_it_is),
    ]
}

fn by_the_systems_names() -> Vec<Attempt> {
    vec![
        path("the root of the process", "/proc/self/root/OUTSIDE/secret.txt", as_it_is),
        path("the root of the first process", "/proc/1/root/OUTSIDE/secret.txt", as_it_is),
        path("the root of a thread", "/proc/thread-self/root/OUTSIDE/secret.txt", as_it_is),
        look("the directory of the process", "/proc/self/cwd/Cargo.toml"),
        look("the state of the process", "/proc/self/status"),
        look("the descriptors of the process", "/proc/self/fd"),
        look("the first descriptor", "/proc/self/fd/0"),
        look("a descriptor as a device", "/dev/fd/0"),
        look("the input as a device", "/dev/stdin"),
        look("an empty device", "/dev/null"),
        look("a terminal", "/dev/tty"),
        path("a link to a descriptor of a file", "held", |ground| {
            std::fs::write(ground.path("outside/held"), "a line\n").unwrap();
            ground.link_to_descriptor("held", "OUTSIDE/held");
        }),
        path("a link to a descriptor of a directory", "held/secret.txt", |ground| {
            ground.link_to_descriptor("held", "OUTSIDE");
        }),
        path("a link to the root of the process", "top/OUTSIDE/secret.txt", |ground| {
            ground.link("top", "/proc/self/root");
        }),
        path("a link to a device", "device", |ground| ground.link("device", "/dev/null"))
            .ends([(LOOKS, DENIED)]),
    ]
}

fn by_link() -> Vec<Attempt> {
    vec![
        path("a link to a file", "link", |ground| ground.link("link", "OUTSIDE/secret.txt")),
        path("a link to a directory", "link", |ground| ground.link("link", "OUTSIDE")),
        path("a file below a linked directory", "link/secret.txt", |ground| ground.link("link", "OUTSIDE")),
        path("a file below a linked file", "link/a.txt", |ground| ground.link("link", "OUTSIDE/secret.txt")),
        path("nothing below a linked directory", "link/nothing.txt", |ground| ground.link("link", "OUTSIDE")),
        path("a new directory below a linked one", "link/new/deeper/a.txt", |ground| {
            ground.link("link", "OUTSIDE");
        }),
        path("a slash behind a link", "link/", |ground| ground.link("link", "OUTSIDE/secret.txt")),
        path("a dot behind a link", "link/.", |ground| ground.link("link", "OUTSIDE")),
        path("a link that climbs", "link", |ground| ground.link("link", "../outside/secret.txt")),
        path("a link that climbs from below", "sub/link", |ground| {
            ground.link("sub/link", "../../outside/secret.txt");
        }),
        path("a link that climbs through a missing directory", "link", |ground| {
            ground.link("link", "no/../../outside/secret.txt");
        }),
        path("a link with odd slashes", "link", |ground| ground.link("link", ".././/outside//secret.txt")),
        path("a link to the directory above", "up/outside/secret.txt", |ground| ground.link("up", "..")),
        path("a link to the top of the disk", "top/OUTSIDE/secret.txt", |ground| ground.link("top", "/")),
        path("a link to nothing", "link", |ground| ground.link("link", "OUTSIDE/nothing.txt")),
        path("a link into a missing directory", "link/a.txt", |ground| ground.link("link", "OUTSIDE/new")),
        path("a link whose own name has a line break", "line\nbreak", |ground| {
            ground.link("line\nbreak", "OUTSIDE/secret.txt");
        }),
        path("a link to a name that is not UTF-8", "link", |ground| {
            let name = OsStr::from_bytes(b"caf\xe9.txt");
            ground.link_path(Path::new("link"), &ground.path("outside").join(name));
        }),
        path("a link in a directory that may be read", "SHARED/link", |ground| {
            ground.link("../shared/link", "../outside/secret.txt");
        }),
    ]
}

fn by_chain() -> Vec<Attempt> {
    vec![
        path("a link to a link", "a", |ground| {
            ground.link("a", "b");
            ground.link("b", "sub/c");
            ground.link("sub/c", "../../outside/secret.txt");
        }),
        path("a linked directory behind another", "a/b/secret.txt", |ground| {
            ground.link("a", "sub");
            ground.link("sub/b", "OUTSIDE/dir");
        }),
        path("a link to nothing behind a link", "a/b", |ground| {
            ground.link("a", "sub");
            ground.link("sub/b", "../../outside/nothing.txt");
        }),
        path("a chain that is as long as may be", "l1", |ground| chain(ground, 40)),
        path("a chain that is too long", "l1", |ground| chain(ground, 41)).ends([(EVERY, IO_ERROR)]),
        path("a circle", "a", |ground| {
            ground.link("a", "b");
            ground.link("b", "a");
        })
        .ends([(EVERY, IO_ERROR)]),
        path("a circle through the outside", "a", |ground| ground.link("a", "../outside/../root/a"))
            .ends([(EVERY, IO_ERROR)]),
    ]
}

/// `l1` leads to `l2` and so on; the last leads out.
fn chain(ground: &Ground, length: usize) {
    for number in 1..length {
        ground.link(&format!("l{number}"), &format!("l{}", number + 1));
    }
    ground.link(&format!("l{length}"), "OUTSIDE/secret.txt");
}

fn by_swap() -> Vec<Attempt> {
    vec![
        path("the root became a link", "inside.txt", |ground| ground.replace_by_link("root", "OUTSIDE")),
        path("the root, by its own path, became a link", "ROOT/inside.txt", |ground| {
            ground.replace_by_link("root", "OUTSIDE");
        }),
        path("a directory became a link", "sub/inside.txt", |ground| {
            ground.replace_by_link("root/sub", "OUTSIDE/sub");
        }),
        path("a file became a link", "sub/inside.txt", |ground| {
            ground.replace_by_link("root/sub/inside.txt", "OUTSIDE/sub/inside.txt");
        }),
        path("a directory that may be read became a link", "SHARED/secret.txt", |ground| {
            ground.replace_by_link("shared", "OUTSIDE");
        }),
        path("a directory moved out, and a link led after it", "sub/inside.txt", |ground| {
            std::fs::rename(ground.path("root/sub"), ground.path("outside/moved")).unwrap();
            ground.link("sub", "OUTSIDE/moved");
        }),
    ]
}

/// Words that mean a place elsewhere, and here are names like all others.
fn by_words() -> Vec<Attempt> {
    let name =
        |what, name| path(what, name, as_it_is).ends([(BUT_WRITE, NOT_FOUND), (&["write"], End::Inside)]);
    let blank = |what, name| path(what, name, as_it_is).ends([(EVERY, End::Refused)]);
    vec![
        name("a home directory", "~/secret.txt").ends([(BUT_WRITE, NOT_FOUND)]),
        name("somebody's home directory", "~nobody/secret.txt").ends([(BUT_WRITE, NOT_FOUND)]),
        name("a variable", "$HOME/secret.txt").ends([(BUT_WRITE, NOT_FOUND)]),
        name("a command", "$(echo ..)/outside/secret.txt"),
        name("a URL", "file://OUTSIDE/secret.txt"),
        name("an encoded ..", "%2e%2e/outside/secret.txt"),
        name("backslashes", "..\\outside\\secret.txt"),
        name("dots of another alphabet", "\u{ff0e}\u{ff0e}/outside/secret.txt"),
        name("a blank before ..", " ../outside/secret.txt"),
        name("three dots", ".../outside/secret.txt"),
        path("a link, then ..", "link/../secret.txt", |ground| ground.link("link", "OUTSIDE/dir"))
            .ends([(BUT_WRITE, NOT_FOUND), (&["write"], End::Inside)]),
        path("a character that ends texts elsewhere", "inside.txt\0/../../outside/secret.txt", as_it_is)
            .ends([(EVERY, NOT_FOUND)]),
        name("an option", "--follow"),
        blank("nothing", ""),
        blank("a blank", " "),
    ]
}

fn by_pattern() -> Vec<Attempt> {
    let with_link: fn(&Ground) = |ground| ground.link("link", "OUTSIDE");
    let glob = |what, arguments| call(what, arguments, as_it_is, &["glob"], End::Nothing);
    let grep = |what, arguments| call(what, arguments, as_it_is, &["grep"], End::Nothing);
    vec![
        glob("a pattern with ..", r#"{"pattern": "../outside/**"}"#),
        glob("a pattern with .. behind a name", r#"{"pattern": "sub/../../outside/*"}"#),
        glob("a pattern with .. behind stars", r#"{"pattern": "**/../../outside/*"}"#),
        glob("a pattern with .. in braces", r#"{"pattern": "{..,sub}/outside/*"}"#),
        glob("a pattern with .. in a class", r#"{"pattern": "[.][.]/outside/*"}"#),
        glob("an absolute pattern", r#"{"pattern": "OUTSIDE/**"}"#),
        glob("an absolute pattern in braces", r#"{"pattern": "{OUTSIDE,sub}/secret.txt"}"#),
        glob("a pattern like an option", r#"{"pattern": "--follow"}"#),
        call("a pattern through a link", r#"{"pattern": "link/**"}"#, with_link, &["glob"], End::Nothing),
        call("a pattern for what is linked", r#"{"pattern": "secret*"}"#, with_link, &["glob"], End::Nothing),
        call("a search over links", r#"{"pattern": "secret"}"#, with_link, &["grep"], End::Nothing),
        call(
            "a search over links, included by name",
            r#"{"pattern": "secret", "include": "*"}"#,
            |ground| {
                ground.link("link", "OUTSIDE");
                ground.link("file.txt", "OUTSIDE/secret.txt");
                ground.link_path(
                    Path::new(OsStr::from_bytes(b"caf\xe9.txt")),
                    &ground.path("outside/secret.txt"),
                );
                ground.link("line\nbreak", "OUTSIDE/secret.txt");
                ground.hard_link("sub/hard.txt", "ROOT/inside.txt");
            },
            &["grep"],
            End::Nothing,
        ),
        grep("an include with ..", r#"{"pattern": "secret", "include": "../outside/*"}"#),
        grep("an absolute include", r#"{"pattern": "secret", "include": "OUTSIDE/*"}"#),
        grep("an include of a hidden parent", r#"{"pattern": "secret", "include": "..*/**"}"#),
    ]
}

/// Files with rules for what a search leaves out: what they say would show in it.
pub(crate) fn by_rules() -> Vec<Attempt> {
    let search = |what, prepare| call(what, r#"{"pattern": "line"}"#, prepare, &["grep"], End::Inside);
    vec![
        search("rules behind a link", |ground| {
            ground.put(".git/HEAD", "");
            ground.link("sub/.gitignore", "OUTSIDE/secret.txt");
        }),
        search("rules of this search behind a link", |ground| {
            ground.link("sub/.rgignore", "OUTSIDE/secret.txt");
        }),
        search("rules of all searches behind a link", |ground| {
            ground.link("sub/.ignore", "OUTSIDE/secret.txt");
        }),
        search("rules of the root behind a link", |ground| ground.link(".ignore", "OUTSIDE/secret.txt")),
        search("a repository's rules behind a link", |ground| {
            ground.link(".git/info/exclude", "OUTSIDE/repo/info/exclude");
        }),
        search("a repository's directory of rules behind a link", |ground| {
            ground.link(".git/info", "OUTSIDE/repo/info");
        }),
        search("a repository behind a link", |ground| ground.link(".git", "OUTSIDE/repo")),
        search("a repository elsewhere, by its name", |ground| ground.put(".git", "gitdir: OUTSIDE/repo\n")),
        search("a repository's common directory elsewhere", |ground| {
            ground.put(".git", "gitdir: ROOT/.own\n");
            ground.put(".own/commondir", "OUTSIDE/repo\n");
        }),
        search("the name of a common directory behind a link", |ground| {
            ground.put("rules/info/exclude", "inside.txt\n");
            ground.put(".git", "gitdir: ROOT/.own\n");
            ground.link(".own/commondir", "OUTSIDE/repo/commondir");
        }),
        search("the name of a repository behind a link", |ground| {
            ground.put("rules/commondir", "../rules\n");
            ground.put("rules/info/exclude", "inside.txt\n");
            ground.link(".git", "OUTSIDE/pointer");
        }),
        search("a repository below the root, elsewhere", |ground| {
            ground.put("sub/.git", "gitdir: OUTSIDE/repo\n");
        }),
    ]
}

fn by_special_file() -> Vec<Attempt> {
    let not_regular: [(Tools, End); 2] =
        [(&["read", "write", "glob", "grep"], NOT_REGULAR), (&["edit"], End::Code("FS_NOT_OBSERVED"))];
    let special = |what, prepare| path(what, "special", prepare).ends(not_regular);
    vec![
        special("a pipe", |ground| ground.pipe("special")),
        special("a socket", |ground| drop(UnixListener::bind(ground.path("root/special")).unwrap())),
        path("a pipe as a directory", "special/a.txt", |ground| ground.pipe("special"))
            .ends([(EVERY, NOT_FOUND)]),
        path("the root itself", ".", as_it_is).ends([(&["read", "write"], NOT_REGULAR)]),
        path("a link to a pipe outside", "link", |ground| {
            ground.pipe("../outside/pipe");
            ground.link("link", "OUTSIDE/pipe");
        }),
    ]
}

fn by_argument() -> Vec<Attempt> {
    let read = |what, arguments| call(what, arguments, as_it_is, &["read"], INVALID);
    let asks = r#"{"file_path": "../outside/secret.txt", "content": "", "old_string": "line", "new_string": "", "sandbox_permissions": "danger-full-access", "justification": "So it is."}"#;
    vec![
        read("one name twice", r#"{"file_path": "inside.txt", "file_path": "OUTSIDE/secret.txt"}"#)
            .ends([(&["read"], DENIED)]),
        read("half a character", r#"{"file_path": "\ud800/../../outside/secret.txt"}"#)
            .ends([(&["read"], End::Code("JSON_STRING"))]),
        read("a list of paths", r#"{"file_path": ["OUTSIDE/secret.txt"]}"#),
        read("an object for a path", r#"{"file_path": {"path": "OUTSIDE/secret.txt"}}"#),
        read("no path", r#"{"file_path": null}"#),
        call("more reach for one call, with nobody to grant it", asks, as_it_is, CHANGES, INVALID),
        call(
            "arguments that nobody knows",
            r#"{"file_path": "OUTSIDE/secret.txt", "cwd": "OUTSIDE", "mode": "danger-full-access", "policy": null}"#,
            as_it_is,
            &["read"],
            DENIED,
        ),
    ]
}

/// Not refused: nobody can tell a file's names apart.
pub(crate) fn by_second_name() -> Attempt {
    path("a second name of a file", "second.txt", as_it_is)
}

/// Within reach of reading, and not of writing.
fn to_what_is_only_read() -> Vec<Attempt> {
    let change = |what, name, prepare| path(what, name, prepare).ends([(CHANGES, DENIED)]);
    let make =
        |what, name, prepare| path(what, name, prepare).ends([(&["write"], DENIED), (&["edit"], NOT_FOUND)]);
    let read_only = |what, name| change(what, name, as_it_is).under(SandboxMode::ReadOnly);
    let read_only_new = |what, name| make(what, name, as_it_is).under(SandboxMode::ReadOnly);
    vec![
        change("a file that may be read", "SHARED/notes.txt", as_it_is),
        make("a new file where may be read", "SHARED/new.txt", as_it_is),
        change("a link to a file that may be read", "link", |ground| ground.link("link", "SHARED/notes.txt")),
        make("a link to a directory that may be read", "link/new.txt", |ground| {
            ground.link("link", "SHARED");
        }),
        change("the configuration", "dsh.toml", as_it_is),
        change("the configuration by a link", "link", |ground| ground.link("link", "dsh.toml")),
        make("a configuration further down", "sub/dsh.toml", as_it_is),
        change("the log of the session", ".log/session.jsonl", as_it_is).logged("root/.log/session.jsonl"),
        change("the log by a link", "link", |ground| ground.link("link", ".log/session.jsonl"))
            .logged("root/.log/session.jsonl"),
        read_only("a file, where nothing is written", "inside.txt"),
        read_only_new("a new file, where nothing is written", "new.txt"),
        read_only_new("a new directory, where nothing is written", "new/deeper/a.txt"),
        read_only("outside, where nothing is written", "OUTSIDE/secret.txt"),
    ]
}
