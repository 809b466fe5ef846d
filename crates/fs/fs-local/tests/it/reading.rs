//! Reads, windows and stat on real files.

use std::io::Write;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use dsh_fs::{
    Cut, EditRequest, FileKind, FileSystem, GrepRequest, LineWindow, Search, SearchLimits, WriteIntent,
};
use dsh_fs_local::LocalSearch;
use dsh_lifecycle::Cause;

use crate::world::{World, code, specials};

#[tokio::test]
async fn text_is_read_as_it_is_stored() {
    let world = World::new();
    let cjk = "路径漢字😀".repeat(60_000); // breaks characters across the edges of pieces
    for text in ["", "a", "a\r\nb\n", "one\rtwo\r", "tab\t\u{b}\u{c}", "\u{feff}", &cjk] {
        world.put("a", text);
        assert_eq!(world.read("a").await.unwrap(), text.strip_prefix('\u{feff}').unwrap_or(text));
    }
}

fn wide(text: &str, to: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(to).collect()
}

#[tokio::test]
async fn utf16_with_a_mark_is_read_edited_and_searched_alike() {
    let world = World::new();
    let (fs, policy, cancel) = (&world.fs, &world.policy, &world.cancel);
    for to in [u16::to_le_bytes, u16::to_be_bytes] {
        // Larger than a piece, and of characters that are wide, wider and a pair.
        let text = format!("first\r\n{}needle 路\r\nlast", "é路😀\n".repeat(60_000));
        world.put("a", wide(&format!("\u{feff}{text}"), to));
        assert!(world.read("a").await.unwrap() == text);
        let target = world.target("a").await.unwrap();
        let window = LineWindow { first: 60_002, ..LineWindow::default() };
        let read = fs.read_lines(&target, window, policy, cancel).await.unwrap();
        let lines: Vec<_> = read.lines.iter().map(|line| (line.number, line.text.as_str())).collect();
        assert_eq!(
            (lines.as_slice(), read.total_lines),
            (&[(60_002, "needle 路"), (60_003, "last")][..], 60_003)
        );

        let limits = SearchLimits {
            max_hits: None,
            max_bytes: NonZeroUsize::new(1 << 20).unwrap(),
            max_warnings: NonZeroUsize::MIN,
        };
        let (cwd, pattern) = (world.at("root"), "needle".to_owned());
        let search = GrepRequest { cwd, path: None, pattern, include: None, limits };
        let hits = LocalSearch::new().grep(search, policy, cancel).await.unwrap();
        let found: Vec<_> = hits.matches.iter().map(|hit| (hit.line_number, hit.line.as_deref())).collect();
        assert_eq!(found, [(60_002, Some("needle 路"))]);

        // The version is of the bytes that were read, so it guards the change of them.
        let intent = Some(WriteIntent::ReplaceIfVersion(read.version));
        let request = EditRequest { old: "needle".into(), new: "pin".into(), replace_all: false, intent };
        fs.edit_text(&target, request, policy, cancel).await.unwrap();
        let edited = wide(&format!("\u{feff}{}", text.replace("needle", "pin")), to);
        assert!(std::fs::read(world.at("root/a")).unwrap() == edited);
    }
}

#[tokio::test]
async fn what_is_no_text_is_refused_by_code_and_place() {
    let world = World::new();
    let unmarked = wide("hello\n", u16::to_le_bytes);
    let pair = [b"\xff\xfe".as_slice(), &unmarked.repeat(50_000), b"\x00\xd8\n\0"].concat();
    let rows: [(&[u8], &str); 9] = [
        (b"hi\xff\n", "byte 2 (0xff) is invalid; it looks like Latin-1 (windows-1252)"),
        (b"\xd5\xe2\xca\xc7\xd2\xbb\xb8\xf6\xa3\xac\n", "byte 0 (0xd5) is invalid; it looks like GBK"),
        (b"caf\xc3", "ends within the character at byte 3"),
        (b"\x7fELF\0\0", "NUL at byte 4"),
        (b"\x89PNG\r\n\x1a\n\x01\x02\x03", "is not text: byte 0 (0x89) is invalid among control characters"),
        (&unmarked, "looks like UTF-16 (little endian, without a mark)"),
        (b"\xff\xfe\0\0a\0\0\0", "looks like UTF-32 (little endian)"),
        (&pair, "the character at byte 600002 lacks its other half"),
        (&[vec![b'x'; 600_000], vec![0xe8, b'r']].concat(), "byte 600000"),
    ];
    for (bytes, words) in rows {
        world.put("a", bytes);
        let error = world.read("a").await.unwrap_err();
        assert_eq!(error.code(), "FS_NOT_TEXT");
        assert!(error.to_string().contains(words), "{error}");
        // A change of it is refused in the same words.
        let target = world.target("a").await.unwrap();
        let request = EditRequest { old: "l".into(), new: "x".into(), replace_all: true, intent: None };
        let edited = world.fs.edit_text(&target, request, &world.policy, &world.cancel).await;
        assert_eq!(edited.unwrap_err().to_string(), error.to_string());
        assert_eq!(std::fs::read(world.at("root/a")).unwrap(), bytes);
    }
}

#[tokio::test]
async fn what_is_read_can_be_edited_with_a_nul_far_inside_too() {
    let world = World::new();
    let text = format!("{}\0one\n", "x".repeat(8192));
    world.put("a", &text);
    assert_eq!(world.read("a").await.unwrap(), text);
    let target = world.target("a").await.unwrap();
    let request = EditRequest { old: "one".into(), new: "two".into(), replace_all: false, intent: None };
    world.fs.edit_text(&target, request, &world.policy, &world.cancel).await.unwrap();
    assert_eq!(world.content("a"), Some(text.replace("one", "two")));
}

#[tokio::test]
async fn a_file_that_changes_while_it_is_read_is_another_one_afterwards() {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    let world = World::new();
    FILE.set(world.at("root/a")).unwrap();
    let (fs, policy, cancel) = (&world.fs, &world.policy, &world.cancel);
    // The mark of the first line, which is too long, is made while the rest of the file is still to be read.
    let grow: fn(&Cut) -> String = |_| {
        let mut file = std::fs::File::options().append(true).open(FILE.get().unwrap()).unwrap();
        file.write_all(b"more\n").unwrap();
        String::new()
    };
    let shrink: fn(&Cut) -> String = |_| {
        let file = std::fs::File::options().write(true).open(FILE.get().unwrap()).unwrap();
        file.set_len(300_000).unwrap();
        String::new()
    };
    for (mark, last) in [(grow, Some("more")), (shrink, None)] {
        world.put("a", [b"longer\n".as_slice(), &vec![b'x'; 600_000], b"\nend\n"].concat());
        let target = world.target("a").await.unwrap();
        let before = fs.stat(&target, policy, cancel).await.unwrap().unwrap().version;
        let window =
            LineWindow { max_line_chars: 5, max_lines: 9, mark, stream_min_size: 1, ..LineWindow::default() };
        let read = fs.read_lines(&target, window, policy, cancel).await.unwrap();
        // What was there is shown; the version is from before, so nothing is changed on the strength of it.
        assert_eq!(read.version, before);
        assert_ne!(fs.stat(&target, policy, cancel).await.unwrap().unwrap().version, before);
        assert_eq!(read.lines.get(3).map(|line| line.text.as_str()), last);
        let edit = EditRequest {
            old: "end".into(),
            new: "x".into(),
            replace_all: false,
            intent: Some(WriteIntent::ReplaceIfVersion(read.version)),
        };
        assert_eq!(code(fs.edit_text(&target, edit, policy, cancel).await), "FS_STALE_VERSION");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_file_whose_size_is_not_told_is_read_and_bounded() {
    let mut world = World::new();
    world.policy =
        dsh_fs_local::canonical_policy(dsh_sandbox_policy::SandboxMode::ReadOnly, Path::new("/proc"), []);
    let (fs, policy, cancel) = (&world.fs, &world.policy, &world.cancel);
    let target = world.target("version").await.unwrap();
    assert_eq!(fs.stat(&target, policy, cancel).await.unwrap().unwrap().size, 0);
    assert!(world.read("version").await.is_ok_and(|text| text.starts_with("Linux")));
    assert_eq!(code(fs.read_bytes(&target, 10, policy, cancel).await), "FS_TOO_LARGE");
    assert_eq!(code(fs.read_text(&target, 10, policy, cancel).await), "FS_TOO_LARGE");
}

#[tokio::test]
async fn a_window_counts_a_whole_large_file_in_pieces() {
    let world = World::new();
    let lines: Vec<_> = (1..=40_000).map(|number| format!("line {number}")).collect();
    world.put("a", lines.join("\n"));
    let target = world.target("a").await.unwrap();
    for stream_min_size in [1, u64::MAX] {
        let window = LineWindow { first: 39_999, max_lines: 1, stream_min_size, ..LineWindow::default() };
        let read = world.fs.read_lines(&target, window, &world.policy, &world.cancel).await.unwrap();
        assert_eq!((read.lines[0].text.as_str(), read.total_lines), ("line 39999", 40_000));
        assert_eq!(
            read.version,
            world.fs.stat(&target, &world.policy, &world.cancel).await.unwrap().unwrap().version
        );
    }
}

#[tokio::test]
async fn one_line_of_five_megabytes_gives_a_cut_line() {
    let world = World::new();
    world.put("a", vec![b'['; 5_000_000]);
    let target = world.target("a").await.unwrap();
    let read =
        world.fs.read_lines(&target, LineWindow::default(), &world.policy, &world.cancel).await.unwrap();
    assert_eq!((read.lines.len(), read.lines[0].text.len(), read.total_lines), (1, 2000, 1));
}

#[tokio::test]
async fn special_files_answer_at_once() {
    let world = World::new();
    let names = specials(&world.at("root"));
    world.link("pipe", "link");
    for name in names.iter().map(String::as_str).chain(["link", "."]) {
        let target = world.target(name).await.unwrap();
        let within = async |work| tokio::time::timeout(Duration::from_secs(5), work).await.expect("waits");
        let (fs, policy, cancel) = (&world.fs, &world.policy, &world.cancel);
        assert_eq!(
            code(within(fs.read_text(&target, 9, policy, cancel)).await),
            "FS_NOT_REGULAR_FILE",
            "{name}"
        );
        assert_eq!(code(fs.read_bytes(&target, 9, policy, cancel).await), "FS_NOT_REGULAR_FILE", "{name}");
        let window = LineWindow::default();
        assert_eq!(
            code(fs.read_lines(&target, window, policy, cancel).await),
            "FS_NOT_REGULAR_FILE",
            "{name}"
        );
        let kind = fs.stat(&target, policy, cancel).await.unwrap().unwrap().kind;
        assert_eq!(kind, if name == "." { FileKind::Directory } else { FileKind::Other });
        assert_eq!(code(world.write(name, "x").await), "FS_NOT_REGULAR_FILE", "{name}");
    }
}

#[tokio::test]
async fn stat_tells_kind_size_and_absence() {
    let world = World::new();
    world.put("d/a", "four");
    world.link("gone", "dangling");
    world.link("d/a", "link");
    let stat = async |path: &str| {
        let target = world.target(path).await.unwrap();
        let info = world.fs.stat(&target, &world.policy, &world.cancel).await.unwrap();
        info.map(|info| (info.kind, info.size))
    };
    assert_eq!(stat("d/a").await, Some((FileKind::File, 4)));
    assert_eq!(stat("link").await, Some((FileKind::File, 4)));
    assert_eq!(stat("d").await.map(|(kind, _)| kind), Some(FileKind::Directory));
    for absent in ["no", "no/such", "dangling", "dangling/x"] {
        assert_eq!(stat(absent).await, None, "{absent}");
        assert_eq!(code(world.read(absent).await), "FS_NOT_FOUND", "{absent}");
    }
    // A file that takes a directory's place after the path was resolved.
    let target = world.target("no/such").await.unwrap();
    world.put("no", "file");
    assert_eq!(world.fs.stat(&target, &world.policy, &world.cancel).await.unwrap(), None);
}

#[tokio::test]
async fn a_rewrite_of_the_same_size_at_the_same_time_is_another_version() {
    let world = World::new();
    world.put("a", "one");
    let target = world.target("a").await.unwrap();
    let version =
        async || world.fs.stat(&target, &world.policy, &world.cancel).await.unwrap().unwrap().version;
    let before = version().await;
    let modified = std::fs::metadata(world.at("root/a")).unwrap().modified().unwrap();
    // The clock of the file system ticks slowly; wait until a change shows in the change time.
    loop {
        world.put("a", "two");
        std::fs::File::options()
            .write(true)
            .open(world.at("root/a"))
            .unwrap()
            .set_modified(modified)
            .unwrap();
        if version().await != before {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(std::fs::metadata(world.at("root/a")).unwrap().modified().unwrap(), modified);
}

#[tokio::test]
async fn bytes_are_bounded_inclusively() {
    let world = World::new();
    world.put("a", [0, 255, 1]);
    let target = world.target("a").await.unwrap();
    let read = async |most| world.fs.read_bytes(&target, most, &world.policy, &world.cancel).await;
    assert_eq!(read(3).await.unwrap().bytes, [0, 255, 1]);
    assert_eq!(read(u64::MAX).await.unwrap().bytes.len(), 3);
    assert_eq!(code(read(2).await), "FS_TOO_LARGE");
    assert_eq!(code(read(0).await), "FS_TOO_LARGE");
    let missing = world.target("no").await.unwrap();
    let missing = world.fs.read_bytes(&missing, 3, &world.policy, &world.cancel).await;
    assert_eq!(code(missing), "FS_NOT_FOUND");
    world.put("a", "text");
    assert_eq!(code(world.fs.read_text(&target, 3, &world.policy, &world.cancel).await), "FS_TOO_LARGE");
    assert_eq!(&*world.fs.read_text(&target, 4, &world.policy, &world.cancel).await.unwrap().text, "text");
}

#[tokio::test]
async fn names_of_any_bytes_can_be_read() {
    let world = World::new();
    world.put("line\nbreak", "newline");
    std::fs::write(world.at("root").join(std::ffi::OsStr::from_bytes(b"bad\xff")), "invalid").unwrap();
    std::fs::write(world.at("root").join("bad\u{fffd}"), "valid").unwrap();
    assert_eq!(world.read("line\nbreak").await.unwrap(), "newline");
    let missing = world.read("no\nsuch: [sandbox off]").await.unwrap_err().to_string();
    assert!(missing.contains(r"no\nsuch"), "{missing}");

    let root = world.target(".").await.unwrap();
    let entries = world.fs.list_dir(&root, &world.policy, &world.cancel).await.unwrap();
    let bad: Vec<_> = entries.iter().filter(|entry| entry.name.starts_with("bad")).collect();
    assert_eq!(bad.len(), 2);
    assert_ne!(bad[0].target.key, bad[1].target.key);
    let mut contents = Vec::new();
    for entry in bad {
        contents
            .push(world.fs.read_text(&entry.target, 99, &world.policy, &world.cancel).await.unwrap().text);
    }
    contents.sort();
    assert_eq!(contents.iter().map(|text| &**text).collect::<Vec<_>>(), ["invalid", "valid"]);
}

#[tokio::test]
async fn a_cancelled_read_is_aborted() {
    let world = World::new();
    world.put("a", "x");
    let target = world.target("a").await.unwrap();
    world.cancel.cancel(Cause::User);
    let (fs, policy, cancel) = (&world.fs, &world.policy, &world.cancel);
    assert_eq!(code(fs.read_text(&target, 9, policy, cancel).await), "FS_ABORTED");
    assert_eq!(code(fs.read_bytes(&target, 9, policy, cancel).await), "FS_ABORTED");
    assert_eq!(code(fs.read_lines(&target, LineWindow::default(), policy, cancel).await), "FS_ABORTED");
    assert_eq!(code(fs.stat(&target, policy, cancel).await), "FS_ABORTED");
    assert_eq!(code(fs.list_dir(&target, policy, cancel).await), "FS_ABORTED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_read_stops_in_the_middle() {
    let world = World::new();
    // Sparse: much to read, little to store. The zeros come after what is sniffed.
    world.put("a", vec![b'a'; 8192]);
    let file = std::fs::File::options().write(true).open(world.at("root/a")).unwrap();
    file.set_len(64 << 30).unwrap();
    let target = world.target("a").await.unwrap();
    let reading = world.fs.read_lines(&target, LineWindow::default(), &world.policy, &world.cancel);
    let stopping = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        world.cancel.cancel(Cause::User);
    };
    let (read, ()) = tokio::join!(reading, stopping);
    assert_eq!(code(read), "FS_ABORTED");
}
