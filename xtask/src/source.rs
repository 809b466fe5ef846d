//! Rust text told apart into code and comments, line by line; as much of the language as the gates need.
//!
//! This is a scanner, not a parser: it knows comments, literals, paths and `use` trees, and nothing of macros or scopes.

mod paths;
#[cfg(test)]
mod tests;

pub(crate) use paths::{Named, names_in};

/// One source file, twice: with everything but its code, and everything but its comments, replaced by spaces. Lines
/// keep their numbers in both.
pub(crate) struct Source {
    pub(crate) code: String,
    pub(crate) comments: String,
}

impl Source {
    pub(crate) fn new(text: &str) -> Self {
        let characters: Vec<char> = text.chars().collect();
        let mut source = Self { code: String::new(), comments: String::new() };
        let mut rest = characters.as_slice();
        while !rest.is_empty() {
            let (kind, length) = token(rest, source.code.chars().next_back());
            let (taken, left) = rest.split_at(length.clamp(1, rest.len()));
            match kind {
                Kind::Code => source.push(taken, true, false),
                Kind::Comment => source.push(taken, false, true),
                Kind::Literal => source.push(taken, false, false),
            }
            rest = left;
        }
        source
    }

    /// The code without what only tests compile, and the names of the modules that only tests compile.
    pub(crate) fn without_tests(&self) -> (String, Vec<String>) {
        const MARK: &str = "#[cfg(test)]";
        let mut code = self.code.clone();
        let mut modules = Vec::new();
        while let Some(start) = code.find(MARK) {
            let end = start + item_length(code.get(start..).unwrap_or_default());
            let item = code.get(start..end).unwrap_or_default();
            if let Some(name) = item.split("mod ").nth(1)
                && item.ends_with(';')
            {
                modules.push(name.trim_end_matches(';').trim().to_owned());
            }
            let blank: String = item.chars().map(blank).collect();
            code.replace_range(start..end, &blank);
        }
        (code, modules)
    }

    fn push(&mut self, taken: &[char], as_code: bool, as_comment: bool) {
        self.code.extend(taken.iter().map(|&c| if as_code { c } else { blank(c) }));
        self.comments.extend(taken.iter().map(|&c| if as_comment { c } else { blank(c) }));
    }
}

enum Kind {
    Code,
    Comment,
    Literal,
}

/// What stands at the start of `rest`, and how many characters it takes. `before` is the last character of code.
fn token(rest: &[char], before: Option<char>) -> (Kind, usize) {
    let in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    match rest {
        ['/', '/', ..] => (Kind::Comment, length_until(rest, |left| left.first() == Some(&'\n'))),
        ['/', '*', ..] => (Kind::Comment, block_comment(rest)),
        ['"', ..] => (Kind::Literal, quoted(rest, '"')),
        ['b' | 'c', '"', ..] if !in_word => {
            (Kind::Literal, 1 + quoted(rest.get(1..).unwrap_or_default(), '"'))
        }
        ['b' | 'c', 'r', '"' | '#', ..] if !in_word => (Kind::Literal, raw_string(rest, 2)),
        ['r', '"', ..] | ['r', '#', '"' | '#', ..] if !in_word => (Kind::Literal, raw_string(rest, 1)),
        ['\'', '\\', ..] => (Kind::Literal, quoted(rest, '\'')),
        ['\'', _, '\'', ..] => (Kind::Literal, 3),
        _ => (Kind::Code, 1),
    }
}

fn length_until(rest: &[char], stop: impl Fn(&[char]) -> bool) -> usize {
    (0..rest.len()).find(|&at| stop(rest.get(at..).unwrap_or_default())).unwrap_or(rest.len())
}

fn block_comment(rest: &[char]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    loop {
        match rest.get(at..).unwrap_or_default() {
            ['/', '*', ..] => {
                depth += 1;
                at += 2;
            }
            ['*', '/', ..] => {
                depth = depth.saturating_sub(1);
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            [] => return rest.len(),
            _ => at += 1,
        }
    }
}

fn quoted(rest: &[char], quote: char) -> usize {
    let mut at = 1;
    loop {
        match rest.get(at) {
            Some('\\') => at += 2,
            Some(c) if *c == quote => return at + 1,
            Some(_) => at += 1,
            None => return rest.len(),
        }
    }
}

fn raw_string(rest: &[char], prefix: usize) -> usize {
    let hashes = rest.iter().skip(prefix).take_while(|c| **c == '#').count();
    let open = prefix + hashes + 1;
    let body = rest.get(open..).unwrap_or_default();
    let close = length_until(body, |left| {
        left.first() == Some(&'"')
            && left.iter().skip(1).take(hashes).filter(|c| **c == '#').count() == hashes
    });
    open + close + 1 + hashes
}

/// How far the item at the start of `code` goes: to its `;`, or to the brace that closes its first block.
fn item_length(code: &str) -> usize {
    let mut depth = 0_i32;
    for (at, c) in code.char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => {
                depth -= 1;
                if c == '}' && depth <= 0 {
                    return at + 1;
                }
            }
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

fn blank(c: char) -> char {
    if c == '\n' { '\n' } else { ' ' }
}
