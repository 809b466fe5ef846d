//! Stored results, read by locators that are no paths (spec 08 §1.2).

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use dsh_fs::{FsError, FsObservation, FsTarget, FsVersion, Intents, WriteIntent};
use dsh_lifecycle::{Cause, Registration};
use dsh_sandbox_policy::SandboxMode;
use dsh_session::Header;
use dsh_tool_fs::FsToolsConfig;
use dsh_tools_core::{Json, ToolResult, object};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::shelf::{Does, Shelf};
use crate::world::{World, of_session};

fn session(id: &str) -> Header {
    Header::new(id, 0).unwrap()
}

fn read(locator: &str) -> Json {
    object! { "file_path": locator }
}

fn code(result: &Arc<ToolResult>) -> Option<&str> {
    result.error().and_then(|error| error.code())
}

fn text(result: &Arc<ToolResult>) -> String {
    dsh_llm::plain_text(&result.content)
}

/// A world with a store, and the mount of that.
fn with(does: Does, config: FsToolsConfig) -> (World, Arc<Shelf>, Registration) {
    let (world, shelf) = (World::with(SandboxMode::WorkspaceWrite, config), Shelf::new(does));
    let mounted = world.spill.provide(Arc::clone(&shelf) as _).unwrap();
    (world, shelf, mounted)
}

fn impatient() -> FsToolsConfig {
    FsToolsConfig { read_stored_ms: NonZeroU64::new(70).unwrap(), ..FsToolsConfig::default() }
}

/// Every window of a stored text is that of a file with the same content, in what the model reads and in the value.
#[tokio::test]
async fn a_stored_text_is_shown_as_a_file_of_the_same_content_is() {
    let small = |number| NonZeroU64::new(number).unwrap();
    let config = FsToolsConfig {
        read_limit: small(5),
        read_max_line_length: small(12),
        read_max_bytes: small(90),
        ..FsToolsConfig::default()
    };
    let (world, shelf, _mounted) = with(Does::Keep, config);
    let long = format!("{}\r\nlast 😀路", "x路😀\n\n".repeat(200_000));
    let texts =
        ["", "\n", "one", "one\r\ntwo\n", "a\nbb\nccc\ndddd\neeeee\nffffff\n", &"é路😀".repeat(40), &long];
    for content in texts {
        world.put("file", content);
        let (locator, file) = (shelf.keep("s", content), world.dir().join("file"));
        for (offset, limit, column) in [(1, 5, 1), (2, 2, 1), (1, 1, 9), (400_001, 5, 1), (900_000, 1, 1)] {
            let call = async |path: &str| {
                let arguments =
                    object! { "file_path": path, "offset": offset, "limit": limit, "column": column };
                let result = world.call_of(session("s"), "read", arguments).await;
                let value = result.value().map(ToString::to_string).unwrap_or_default().replace(path, "PATH");
                let told = text(&result).replace(path, "PATH");
                (told, value, code(&result).map(ToOwned::to_owned), result.meta.is_some())
            };
            let (stored, file) = (call(&locator).await, call(file.to_str().unwrap()).await);
            assert_eq!(stored, file, "{offset} {limit} {column}");
        }
    }
    let asked = shelf.asked.lock();
    assert!(asked.iter().all(|range| range.end - range.start == 256 * 1024), "{asked:?}");
    assert!(asked.iter().any(|range| range.start > 1_000_000), "long texts come in ranges");
}

#[tokio::test]
async fn a_text_is_read_by_its_session_and_by_a_fork_of_it_and_by_no_other() {
    let (world, shelf, _mounted) = with(Does::Keep, FsToolsConfig::default());
    let locator = shelf.keep("s", "secret\n");
    for header in [session("s"), session("child").forked_from("s", 0).unwrap()] {
        let result = world.call_of(header, "read", read(&locator)).await;
        assert!(text(&result).contains("1: secret\n"), "{result:?}");
    }
    let strangers = [session("other"), session("s2").forked_from("other", 0).unwrap(), session("mem:1")];
    for header in strangers {
        let theirs = world.call_of(header.clone(), "read", read(&locator)).await;
        let nobodys = world.call_of(header, "read", read("mem:7")).await;
        assert_eq!((code(&theirs), code(&nobodys)), (Some("SPILL_NOT_FOUND"), Some("SPILL_NOT_FOUND")));
        // What is another's looks like what is not there.
        assert_eq!(text(&theirs).replace("mem:1", "mem:7"), text(&nobodys));
    }
    assert_eq!(
        code(&world.call("read", read(&locator)).await),
        Some("SPILL_NOT_FOUND"),
        "a call of no session"
    );
}

/// What was noted of files.
#[derive(Default)]
struct Noted(Mutex<usize>);

impl Intents for Noted {
    fn write_intent(&self, _: &FsTarget, _: Option<&str>) -> Result<Option<WriteIntent>, FsError> {
        Ok(None)
    }

    fn edit_intent(&self, _: &FsTarget, _: Option<&str>) -> Result<Option<FsVersion>, FsError> {
        Ok(None)
    }

    fn observed(&self, _: &FsTarget, _: FsObservation, _: Option<&str>) {
        *self.0.lock() += 1;
    }
}

#[tokio::test]
async fn a_stored_text_is_no_file() {
    let (world, shelf, mounted) = with(Does::Keep, FsToolsConfig::default());
    let noted = Arc::new(Noted::default());
    let _noting = world.intents.provide(Arc::clone(&noted) as _).unwrap();
    let locator = shelf.keep("s", "stored\n");
    for locator in [&*locator, "mem:9"] {
        world.call_of(session("s"), "read", read(locator)).await;
        for (tool, arguments) in [
            ("write", object! { "file_path": locator, "content": "x" }),
            ("edit", object! { "file_path": locator, "old_string": "stored", "new_string": "x" }),
        ] {
            let refused = world.call_of(session("s"), tool, arguments).await;
            assert_eq!(code(&refused), Some("FS_SANDBOX_DENIED"), "{tool}");
            let told = "is a stored result, not a file, and can't be changed. Give the path of a file.";
            assert_eq!(text(&refused), format!("Error: {locator} {told}"));
        }
    }
    assert_eq!((*noted.0.lock(), std::fs::read_dir(world.dir()).unwrap().count()), (0, 0));

    // A file of that name is one by its path, and by its name where no store takes that.
    world.put("mem:1", "a file\n");
    let told = async |path: &str| text(&world.call_of(session("s"), "read", read(path)).await);
    assert!(told("./mem:1").await.contains("1: a file\n"));
    assert!(told("mem:1").await.contains("1: stored\n"));
    assert!(told(" mem:1").await.contains("does not exist"), "the locator is taken word for word");
    drop(mounted);
    assert!(told("mem:1").await.contains("1: a file\n"));
}

#[tokio::test]
async fn a_stored_text_widens_nothing() {
    let (world, shelf, _mounted) = with(Does::Keep, FsToolsConfig::default());
    let locator = shelf.keep("s", "../../etc/passwd\n");
    world.call_of(session("s"), "read", read(&locator)).await;
    for path in ["/etc/passwd", "mem:../../../../../../etc/passwd", "mem:1/../../../../../../../etc/passwd"] {
        let refused = world.call_of(session("s"), "read", read(path)).await;
        assert!(matches!(code(&refused), Some("FS_SANDBOX_DENIED" | "SPILL_NOT_FOUND")), "{refused:?}");
    }
    // More reach is no more to be had for a locator than for a path.
    let wider =
        object! { "file_path": &*locator, "sandbox_permissions": "danger-full-access", "justification": "x" };
    let refused = world.call_of(session("s"), "read", wider).await;
    assert!(refused.is_error() && !text(&refused).contains("passwd"), "{refused:?}");
}

#[tokio::test(start_paused = true)]
async fn whatever_a_store_does_the_model_is_told_what_to_do() {
    let mut told = Vec::new();
    for (does, code_expected) in [
        (Does::GiveMore, "SPILL_WRONG_SIZE"),
        (Does::GiveNothing, "SPILL_WRONG_SIZE"),
        (Does::GiveBytes(b"ab\xff\n"), "SPILL_NOT_TEXT"),
        (Does::GiveBytes(b"ab\xe8\xb7"), "SPILL_NOT_TEXT"),
        (Does::MoveTheEnd, "SPILL_CHANGED"),
        (Does::Hang, "SPILL_LATE"),
        (Does::Panic, "SPILL_FAILED"),
        (Does::Fail, "SPILL_FAILED"),
        (Does::Refuse, "SPILL_IO_ERROR"),
        (Does::Boast, "SPILL_UNSUPPORTED"),
        (Does::Keep, "SPILL_NOT_FOUND"),
    ] {
        let (world, _shelf, _mounted) = with(does, impatient());
        let began = Instant::now();
        let result = world.call_of(session("s"), "read", read("mem:1\n")).await;
        assert_eq!(code(&result), Some(code_expected), "{does:?}");
        let waited = Duration::from_millis(if does == Does::Hang { 70 } else { 0 });
        assert_eq!(began.elapsed(), waited, "{does:?}");
        told.push(format!("{does:?}\n  {}", text(&result)));
        // The next call is not the worse for it.
        world.put("a", "x\n");
        assert!(!world.call_of(session("s"), "read", read("a")).await.is_error());
    }
    insta::assert_snapshot!(told.join("\n"));
}

/// The clock of this one goes, as the store is never waited for.
#[tokio::test]
async fn a_text_without_an_end_is_read_for_so_long_and_in_bounded_ranges() {
    let (world, shelf, _mounted) = with(Does::NeverEnd, impatient());
    let result = world.call_of(session("s"), "read", read("mem:1")).await;
    assert_eq!(code(&result), Some("SPILL_LATE"));
    assert!(shelf.asked.lock().iter().all(|range| range.end - range.start == 256 * 1024));
}

#[tokio::test]
async fn where_a_store_panics_over_a_path_the_path_is_that_of_a_file() {
    let (world, _shelf, _mounted) = with(Does::PanicOverLocators, FsToolsConfig::default());
    world.put("a", "x\n");
    assert!(text(&world.call("read", read("a")).await).contains("1: x\n"));
    assert_eq!(code(&world.call("read", read("mem:1")).await), Some("FS_NOT_FOUND"));
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_ends_the_reading_of_a_store_that_hangs() {
    let (world, _shelf, _mounted) = with(Does::Hang, FsToolsConfig::default());
    let call = of_session(session("s"), "read", read("mem:1"));
    let (cancel, began) = (call.cancel.clone(), Instant::now());
    let stop = async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        cancel.cancel(Cause::User);
    };
    let (result, ()) = tokio::join!(world.tools.execute(call), stop);
    assert_eq!((code(&result), began.elapsed()), (Some("ABORTED"), Duration::from_millis(30)));
}
