//! What does a search cost beside ripgrep's own program, started anew for each search as a tool would start it?
//!
//! Goal: at most 1.5 times as long, for names and for contents, whatever the pattern. Ours and the program take turns on
//! one tree, and the medians of both are printed with their ratio; where no `rg` is in the path, ours stands alone.

use std::error::Error;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use dsh_benches::{median, one_thread};
use dsh_fs::{GlobRequest, GrepRequest, Search as _, SearchLimits};
use dsh_fs_local::{LocalSearch, canonical_policy};
use dsh_lifecycle::Cancel;
use dsh_sandbox_policy::{SandboxMode, SandboxPolicy};

/// The directories of the tree, and the files in each.
const TREE: (usize, usize) = (2_000, 8);

/// The directories that version control systems keep their own data in.
const VERSION_CONTROL: [&str; 6] = [".git", ".svn", ".hg", ".bzr", ".jj", ".sl"];

/// One search: its name, and what it looks for.
enum Question {
    Glob(&'static str),
    Grep(&'static str, Option<&'static str>),
}

const QUESTIONS: [Question; 9] = [
    Question::Glob("*"),
    Question::Glob("*.rs"),
    Question::Glob("d1/**/*.md"),
    Question::Glob("*.none"),
    Question::Grep("needle", None),
    Question::Grep("nothing of this", None),
    Question::Grep(r"fn \w+_1\d*777\(", None),
    Question::Grep("needle", Some("*.rs")),
    Question::Grep("needle", Some("*.zig")),
];

#[expect(clippy::print_stdout, reason = "the answers of this program")]
fn main() -> Result<(), Box<dyn Error>> {
    // `--test` shows that it works.
    let test = std::env::args().any(|argument| argument == "--test");
    let ((dirs, files), rounds) = if test { ((20, 3), 1) } else { (TREE, 41) };
    let root = plant(dirs, files)?;
    let policy = canonical_policy(SandboxMode::ReadOnly, &root, []);
    let has_program = Command::new("rg").arg("--version").stdout(Stdio::null()).status().is_ok();
    println!("{} files in {dirs} directories, median of {rounds}:", dirs * files);
    for question in &QUESTIONS {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            ours.push(ask(question, &policy)?);
            if has_program {
                theirs.push(run(question, &policy.workspace_root)?);
            }
        }
        let name = match question {
            Question::Glob(pattern) => format!("glob {pattern}"),
            Question::Grep(pattern, None) => format!("grep {pattern}"),
            Question::Grep(pattern, Some(include)) => format!("grep {pattern} in {include}"),
        };
        match (median(ours), median(theirs)) {
            (Some(ours), Some(theirs)) => {
                let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
                println!("{name:30} {ours:>10.2?}  rg {theirs:>10.2?}  {ratio:.2}");
            }
            (Some(ours), None) => println!("{name:30} {ours:>10.2?}"),
            (None, _) => {}
        }
    }
    Ok(())
}

/// Ours, from the request to the result.
fn ask(question: &Question, policy: &SandboxPolicy) -> Result<Duration, Box<dyn Error>> {
    let (search, cwd, cancel) = (LocalSearch::new(), policy.workspace_root.clone(), Cancel::new());
    let most = NonZeroUsize::new(20_000_000).unwrap_or(NonZeroUsize::MIN);
    let limits = SearchLimits { max_hits: None, max_bytes: most, max_warnings: most };
    let runtime = one_thread()?;
    match question {
        Question::Glob(pattern) => {
            let request = GlobRequest { cwd, path: None, pattern: (*pattern).to_owned(), limits };
            timed(|| Ok(runtime.block_on(search.glob(request, policy, &cancel))?))
        }
        Question::Grep(pattern, include) => {
            let (pattern, include) = ((*pattern).to_owned(), include.map(str::to_owned));
            let request = GrepRequest { cwd, path: None, pattern, include, limits };
            timed(|| Ok(runtime.block_on(search.grep(request, policy, &cancel))?))
        }
    }
}

/// The program, with the arguments that give the same result (spec 07 §7.2, §7.3). Its output is not read.
fn run(question: &Question, root: &Path) -> Result<Duration, Box<dyn Error>> {
    let mut program = Command::new("rg");
    program.arg("--no-config").current_dir(root).stdin(Stdio::null()).stdout(Stdio::null());
    match question {
        Question::Glob(pattern) => {
            program.arg("--files").arg(format!("--glob={pattern}"));
            program.args(["--sort=modified", "--no-ignore", "--hidden"]);
            for name in VERSION_CONTROL {
                program.args([format!("--glob=!**/{name}"), format!("--glob=!**/{name}/**")]);
            }
        }
        Question::Grep(pattern, include) => {
            program.arg("--json").arg(format!("--regexp={pattern}"));
            program.args(include.map(|include| format!("--glob={include}")));
        }
    }
    program.args(["--", "."]);
    timed(|| Ok(program.status()?))
}

#[expect(clippy::disallowed_methods, reason = "a measurement looks at the clock")]
fn timed<T>(work: impl FnOnce() -> Result<T, Box<dyn Error>>) -> Result<Duration, Box<dyn Error>> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

/// A repository below `target/tmp`: directories in three levels, files of 2 KB, some rules of what to ignore.
fn plant(dirs: usize, files: usize) -> Result<PathBuf, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("search-{dirs}-{files}"));
    if root.join("planted").exists() {
        return Ok(root);
    }
    fs::create_dir_all(root.join(".git"))?;
    fs::write(root.join(".gitignore"), "*.log\n/build/\n*.tmp\n")?;
    let line = |at: usize| format!("pub fn item_{at}(value: &str) -> usize {{ value.len() }}\n");
    for dir in 0..dirs {
        let path = root.join(format!("d{}/e{}/f{dir}", dir % 10, dir % 100));
        fs::create_dir_all(&path)?;
        if dir % 20 == 0 {
            fs::write(path.join(".gitignore"), "*.bak\nlocal/\n")?;
        }
        for file in 0..files {
            let ending = ["rs", "md", "ts", "json", "log"].get(file % 5).copied().unwrap_or_default();
            let mut text: String = (0..40).map(|at| line(dir * 100 + file + at)).collect();
            if (dir + file) % 50 == 0 {
                text.push_str("// a needle\n");
            }
            fs::write(path.join(format!("name{file}.{ending}")), text)?;
        }
    }
    fs::write(root.join("planted"), "")?;
    Ok(root)
}
