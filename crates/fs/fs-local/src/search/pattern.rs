//! Globs and regular expressions, as searches understand them (spec 07 §7.2, §7.3).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use dsh_fs::SearchError;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

/// The memory that one compiled regular expression may take, and again its cache: the error names it.
const REGEX_BYTES: usize = 10 * 1024 * 1024;

/// The longest pattern that is compiled, in bytes. Time and memory for it grow with its length.
const PATTERN_BYTES: usize = 64 * 1024;

/// At most so many bytes of what is wrong with a pattern are told: compilers repeat the whole of it.
const REASON_BYTES: usize = 2000;

/// A compiled glob.
pub(super) struct PathGlob {
    set: GlobSet,
    against: Against,
    /// Whether the pattern began with `!`.
    inverted: bool,
}

/// What a glob is compared with.
enum Against {
    /// The name of the file: the pattern has no `/`.
    Name,
    /// The path below the search root, or the path as shown.
    Path,
    /// The path below the search root, or the absolute path: the pattern begins with `/`.
    Anchored,
}

/// The places that a glob may mean a file by.
pub(super) struct Place<'a> {
    /// The search root as results show it.
    pub(super) root_shown: &'a str,
    /// The search root, absolute.
    pub(super) root_path: &'a Path,
    /// The path below the search root.
    pub(super) below: &'a [u8],
}

impl PathGlob {
    /// Compiles a glob: `*` and `?` stop at `/`, `**` does not, braces are alternatives, a backslash quotes.
    pub(super) fn new(pattern: &str) -> Result<Self, SearchError> {
        within_length(pattern)?;
        let (inverted, body) = match pattern.strip_prefix('!') {
            Some(body) => (true, body),
            None => (false, pattern),
        };
        let body = body.strip_prefix("./").unwrap_or(body);
        // A directory stands for all that is in it.
        let mut body = if body.ends_with('/') { format!("{body}**") } else { body.to_owned() };
        let against = if body.starts_with('/') {
            body.remove(0);
            Against::Anchored
        } else if body.contains('/') {
            Against::Path
        } else {
            Against::Name
        };
        let glob = GlobBuilder::new(&body)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|error| invalid(&error))?;
        let set = GlobSetBuilder::new().add(glob).build().map_err(|error| invalid(&error))?;
        Ok(Self { set, against, inverted })
    }

    /// Whether the glob means this file.
    pub(super) fn matches(&self, file: &Place<'_>) -> bool {
        let below = Path::new(OsStr::from_bytes(file.below));
        let matched = match self.against {
            Against::Name => {
                let start = memchr::memrchr(b'/', file.below).map_or(0, |at| at + 1);
                self.set.is_match(OsStr::from_bytes(file.below.get(start..).unwrap_or_default()))
            }
            Against::Path => {
                self.set.is_match(below)
                    || (file.root_shown != "." && self.set.is_match(Path::new(file.root_shown).join(below)))
            }
            Against::Anchored => {
                let absolute = file.root_path.join(below);
                self.set.is_match(below)
                    || absolute.strip_prefix("/").is_ok_and(|path| self.set.is_match(path))
            }
        };
        matched != self.inverted
    }
}

/// Compiles a regular expression that looks at one line at a time.
pub(super) fn line_matcher(pattern: &str) -> Result<RegexMatcher, SearchError> {
    within_length(pattern)?;
    RegexMatcherBuilder::new()
        .multi_line(true)
        .unicode(true)
        .octal(false)
        .size_limit(REGEX_BYTES)
        .dfa_size_limit(REGEX_BYTES)
        .line_terminator(Some(b'\n'))
        .crlf(true)
        .build(pattern)
        .map_err(|error| {
            if let grep_regex::ErrorKind::NotAllowed(literal) = error.kind() {
                let reason = format!("{literal:?} can't match, because each line is searched on its own");
                SearchError::InvalidPattern { reason }
            } else {
                invalid(&error)
            }
        })
}

fn within_length(pattern: &str) -> Result<(), SearchError> {
    if pattern.len() <= PATTERN_BYTES {
        return Ok(());
    }
    let reason = format!("it has {} bytes, and at most {PATTERN_BYTES} work", pattern.len());
    Err(SearchError::InvalidPattern { reason })
}

fn invalid(error: &dyn std::error::Error) -> SearchError {
    SearchError::InvalidPattern { reason: shortened(error.to_string()) }
}

/// A long text without its middle: the pattern begins it, and what is wrong ends it.
fn shortened(text: String) -> String {
    if text.len() <= REASON_BYTES {
        return text;
    }
    let head = text.get(..text.floor_char_boundary(REASON_BYTES / 2)).unwrap_or_default();
    let tail = text.get(text.ceil_char_boundary(text.len() - REASON_BYTES / 2)..).unwrap_or_default();
    format!("{head} … {tail}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use grep_matcher::Matcher as _;

    #[test]
    fn globs_mean_names_paths_and_anchored_paths() {
        // pattern, path below the root `src` of the directory `/w`, meant?
        let rows = [
            ("*.rs", "a.rs", true),
            ("*.rs", "deep/er/a.rs", true),
            ("*.rs", "a.rs.bak", false),
            ("a.rs", "x/a.rs", true),
            ("?.rs", "e.rs", true),
            ("*", ".hidden", true),
            ("[ab].{rs,toml}", "x/b.toml", true),
            ("{a,b/c}.rs", "b/c.rs", true),
            ("x/*.rs", "x/a.rs", true),
            ("x/*.rs", "x/y/a.rs", false),
            ("x/*.rs", "y/x/a.rs", false),
            ("x/**/*.rs", "x/a.rs", true),
            ("x/**/*.rs", "x/y/z/a.rs", true),
            ("**/y/*.rs", "y/a.rs", true),
            ("**/y/*.rs", "x/y/a.rs", true),
            ("src/x/*.rs", "x/a.rs", true),
            ("./x/*.rs", "x/a.rs", true),
            ("/x/*.rs", "x/a.rs", true),
            ("/x/*.rs", "y/x/a.rs", false),
            ("/w/src/x/*.rs", "x/a.rs", true),
            ("x/", "x/y/a.rs", true),
            ("x/", "y/a.rs", false),
            ("!*.rs", "a.rs", false),
            ("!*.rs", "a.md", true),
            (r"\!a", "!a", true),
            (r"a\*", "a*", true),
            (r"a\*", "ab", false),
            ("*.RS", "a.rs", false),
            ("a\nb", "a\nb", true),
        ];
        for (pattern, below, meant) in rows {
            let glob = PathGlob::new(pattern).unwrap();
            let file = Place { root_shown: "src", root_path: Path::new("/w/src"), below: below.as_bytes() };
            assert_eq!(glob.matches(&file), meant, "{pattern} {below}");
        }
    }

    #[test]
    fn names_that_are_not_utf8_are_compared_as_bytes() {
        let glob = PathGlob::new("*.rs").unwrap();
        let file = Place { root_shown: ".", root_path: Path::new("/w"), below: b"d/\xff.rs" };
        assert!(glob.matches(&file));
    }

    #[test]
    fn bad_patterns_say_what_is_wrong() {
        let rows = [
            (PathGlob::new("[a").err(), "unclosed character class"),
            (PathGlob::new("{a,b").err(), "unclosed alternate group"),
            (line_matcher("a(b").err(), "unclosed group"),
            (line_matcher(r"a\nb").err(), "each line is searched on its own"),
            (line_matcher(r"(?:(?:\w{100}){100}){100}").err(), "size limit"),
            (line_matcher(r"(a)\1").err(), "backreferences are not supported"),
        ];
        for (error, part) in rows {
            let error = error.unwrap();
            assert_eq!(error.code(), "SEARCH_INVALID_PATTERN");
            assert!(error.to_string().contains(part), "{error}");
        }
    }

    #[test]
    fn long_patterns_are_refused_and_not_repeated() {
        let long = "é".repeat(PATTERN_BYTES / 2);
        assert!(PathGlob::new(&long).is_ok() && line_matcher(&long).is_ok());
        let words =
            format!("invalid pattern: it has {} bytes, and at most {PATTERN_BYTES} work", long.len() + 1);
        for error in [PathGlob::new(&format!("{long}a")).err(), line_matcher(&format!("a{long}")).err()] {
            assert_eq!(error.unwrap().to_string(), words);
        }
        let nested = "{".repeat(9000);
        let open = "(".repeat(9000);
        for (error, what) in [
            (PathGlob::new(&format!("é{nested}")).err(), "nested"),
            (line_matcher(&format!("é{open}")).err(), "unclosed group"),
        ] {
            let text = error.unwrap().to_string();
            assert!(text.len() < REASON_BYTES + 100 && text.contains(what), "{text}");
        }
    }

    #[test]
    fn lines_end_before_a_crlf_too() {
        let matcher = line_matcher("b$").unwrap();
        assert!(matcher.is_match(b"ab\r\n").unwrap() && matcher.is_match(b"ab\n").unwrap());
        assert!(!matcher.is_match(b"abc\r\n").unwrap());
    }
}
