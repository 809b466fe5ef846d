//! What a configuration may not say, and where it is found.

use std::path::Path;

use dsh_harness::ConfigText;
use dsh_tools_core::Presentation;

use crate::world::{World, config};

/// The keys at the top: settings, then the rows in their order.
const KNOWN: &str = "mode, readRoots, sandbox-policy, system-prompt, model, agent-loop, user-approval, permission-presets, permission-rules, timeout-policy, repeat-reminder, spill-local, spill-policy, fs-local, observation-policy, tool-fs, tool-fs-search, mcp-server, code-mode";

#[test]
fn what_nobody_understands_is_refused_with_its_place() {
    let rows = [
        ("mode = 'native'\n[spill]\n", "2:2: spill: unknown key; expected one of {KNOWN}"),
        ("modes = 1", "1:1: modes: unknown key; expected one of {KNOWN}"),
        ("tool-fs = 3", "1:11: tool-fs: expected a table, found integer"),
        ("[[tool-fs]]", "1:1: tool-fs: expected a table, found array"),
        (
            "[tool-fs]\nreadLimit = 3\nreadLimits = 3\n",
            "3:1: tool-fs.readLimits: unknown field `readLimits`, expected one of `readLimit`, `readMaxLineLength`, `readMaxBytes`, `readStreamMinSize`, `readStoredMs`",
        ),
        (
            "[tool-fs]\nreadLimit = '3'\n",
            "2:13: tool-fs.readLimit: invalid type: string \"3\", expected a nonzero u64",
        ),
        (
            "[tool-fs]\nreadLimit = 0\n",
            "2:13: tool-fs.readLimit: invalid value: integer `0`, expected a nonzero u64",
        ),
        (
            "[agent-loop]\nmaxStepsPerTurn = 5_000_000_000\n",
            "2:19: agent-loop.maxStepsPerTurn: invalid value: integer `5000000000`, expected a nonzero u32",
        ),
        (
            "[agent-loop]\nmaxParallelToolCalls = -1\n",
            "2:24: agent-loop.maxParallelToolCalls: invalid value: integer `-1`, expected a nonzero usize",
        ),
        (
            "[agent-loop]\nmaxParallelToolCalls = 1.5\n",
            "2:24: agent-loop.maxParallelToolCalls: invalid type: floating point `1.5`, expected a nonzero usize",
        ),
        ("mode = 'fast'", "1:8: mode: unknown variant `fast`, expected one of `native`, `code`, `both`"),
        ("mode = 1", "1:8: mode: wanted string or table"),
        ("readRoots = '/opt'", "1:13: readRoots: invalid type: string \"/opt\", expected a sequence"),
        (
            "readRoots = [\n  '/opt',\n  3,\n]",
            "3:3: readRoots[1]: invalid type: integer `3`, expected path string",
        ),
        (
            "[sandbox-policy]\nmode = 'open'",
            "2:8: sandbox-policy.mode: unknown variant `open`, expected one of `read-only`, `workspace-write`, `danger-full-access`",
        ),
        ("[model]\nuse = ['demo']", "2:7: model.use: invalid type: sequence, expected a string"),
        (
            "[model]\nname = 'demo'",
            "2:1: model.name: unknown field `name`, expected one of `use`, `deepseek`, `openai`",
        ),
        ("[code-mode]\nmaxWallMs = 0", "1:1: code-mode: maxWallMs is 0, expected 1 to 2147483647"),
        (
            "[code-mode]\nisolation = 'container'",
            "2:13: code-mode.isolation: unknown variant `container`, expected `process` or `thread`",
        ),
        (
            "[code-mode]\nmaxWall = 3",
            "2:1: code-mode.maxWall: unknown field `maxWall`, expected one of `maxParallelSubCalls`, `maxUncommittedSubCalls`, `maxSdkBytes`, `maxWallMs`, `maxComputeMs`, `maxMemoryBytes`, `maxOutputBytes`, `maxSubCalls`, `maxInFlightBytes`, `isolation`, `idleWorkers`, `maxWorkers`",
        ),
        ("[tool-fs\nreadLimit = 3", "1:9: syntax: unclosed table, expected `]`"),
        ("[tool-fs]\n[tool-fs]", "2:2: syntax: duplicate key"),
        ("mode = 'native'\nmode = 'native'", "2:1: syntax: duplicate key"),
        (
            "readRoots = ['/数据'] # 数据\nsystem-prompt = { persona = '你好，世界', personna = '再见' }",
            "2:38: system-prompt.personna: unknown field `personna`, expected one of `includeHarnessIdentity`, `includeRuntimeContext`, `persona`, `toolOrder`",
        ),
        (
            "# 一\n# 二\nsystem-prompt.persona = '三' 四",
            "3:29: syntax: unexpected key or value, expected newline, `#`",
        ),
    ];
    let world = World::new();
    for (text, expected) in rows {
        let error = world.builder().config(config(Path::new("dsh.toml"), text)).build().err().unwrap();
        assert_eq!(error.to_string(), format!("dsh.toml:{}", expected.replace("{KNOWN}", KNOWN)), "{text}");
    }
}

#[test]
fn the_nearest_file_upward_counts() {
    let world = World::new();
    world.put("root/dsh.toml", "mode = 'far'");
    let near = world.put("root/a/dsh.toml", "");
    std::fs::create_dir_all(world.file("a/b/c")).unwrap();
    let from = |root: &str| ConfigText::nearest(&world.file(root)).unwrap().file;
    assert_eq!(from("a/b/c"), near);
    assert_eq!(from("a"), near);
    assert_eq!(from(""), world.file("dsh.toml"));

    let build = |root: &str| dsh_harness::Harness::builder(world.environment().at(world.file(root))).build();
    assert_eq!(build("a/b").unwrap().config_file(), Some(&*near));
    let error = build("").err().unwrap();
    assert_eq!(
        world.shown(&error),
        "$DIR/root/dsh.toml:1:8: mode: unknown variant `far`, expected one of `native`, `code`, `both`"
    );
}

#[test]
fn a_file_that_cannot_be_read_is_refused_and_a_directory_passed_over() {
    let world = World::new();
    let file = world.file("dsh.toml");
    std::fs::create_dir(&file).unwrap();
    assert_eq!(world.builder().build().unwrap().config_file(), None);
    std::fs::remove_dir(&file).unwrap();

    let refused = |words: &str| {
        let error = world.builder().build().err().unwrap();
        assert_eq!(
            world.shown(&error),
            format!("failed to read the configuration $DIR/root/dsh.toml: {words}")
        );
        std::fs::remove_file(&file).unwrap();
    };
    assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
    refused("it is not a regular file");
    std::fs::write(&file, b"mode = \"\xff\"").unwrap();
    refused("stream did not contain valid UTF-8");
    std::fs::File::create(&file).unwrap().set_len(dsh_harness::MAX_CONFIG_BYTES + 1).unwrap();
    refused("it is larger than 1048576 bytes");
}

#[test]
fn a_byte_order_mark_moves_no_column() {
    let world = World::new();
    world.put("root/dsh.toml", "\u{feff}mode = 'far'");
    let error = world.builder().build().err().unwrap();
    assert!(world.shown(&error).starts_with("$DIR/root/dsh.toml:1:8: mode: "), "{error}");
}

#[test]
fn the_mode_that_is_asked_for_goes_before_the_configured_one() {
    let world = World::new();
    let text = || config(&world.file("dsh.toml"), "mode = 'both'");
    assert_eq!(world.builder().config(text()).build().unwrap().mode(), Presentation::Both);
    assert_eq!(
        world.builder().config(text()).mode(Presentation::Native).build().unwrap().mode(),
        Presentation::Native
    );
    assert_eq!(world.builder().build().unwrap().mode(), Presentation::Both);
}

#[test]
fn a_root_that_is_none_is_refused() {
    let world = World::new();
    let file = world.put("a.txt", "");
    let error = dsh_harness::Harness::builder(world.environment().at(file)).build().err().unwrap();
    assert_eq!(world.shown(&error), "the root $DIR/a.txt can't be used: Not a directory (os error 20)");
}
