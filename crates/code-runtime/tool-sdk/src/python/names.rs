//! Names in Python: which can stand by themselves, and those of classes (spec 05 §§4.2–4.5).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use unicode_ident::{is_xid_continue, is_xid_start};
use unicode_normalization::{UnicodeNormalization as _, is_nfkc};

/// The most UTF-16 units of a class name, its counter aside.
const LONGEST: usize = 120;

/// Whether a name is an identifier, and the same after Python has normalised it.
pub(crate) fn is_bare(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(starts) && chars.all(continues) && (name.is_ascii() || is_nfkc(name))
}

/// Whether an identifier is a hard keyword, or one that can't be assigned.
pub(crate) fn is_reserved(name: &str) -> bool {
    matches!(
        name,
        "False"
            | "None"
            | "True"
            | "and"
            | "as"
            | "assert"
            | "async"
            | "await"
            | "break"
            | "class"
            | "continue"
            | "def"
            | "del"
            | "elif"
            | "else"
            | "except"
            | "finally"
            | "for"
            | "from"
            | "global"
            | "if"
            | "import"
            | "in"
            | "is"
            | "lambda"
            | "nonlocal"
            | "not"
            | "or"
            | "pass"
            | "raise"
            | "return"
            | "try"
            | "while"
            | "with"
            | "yield"
            | "__debug__"
    )
}

/// Whether a name can be that of a field. One that a class body would mangle can't.
pub(crate) fn is_field(name: &str) -> bool {
    let is_mangled = name.starts_with("__") && !name.ends_with("__");
    is_bare(name) && !is_reserved(name) && !is_mangled
}

/// The beginning of a class name, from any name.
pub(crate) fn camel(name: &str) -> String {
    let pieces = name.split(|c| c == '_' || !continues(c)).filter(|piece| !piece.is_empty());
    let mut joined = String::with_capacity(name.len());
    for piece in pieces {
        let mut chars = piece.chars();
        match chars.next() {
            Some(first) if first.is_ascii() => joined.push(first.to_ascii_uppercase()),
            // The original looks at one UTF-16 unit, and leaves what has two.
            Some(first) if first.len_utf16() == 1 => joined.extend(first.to_uppercase()),
            Some(first) => joined.push(first),
            None => {}
        }
        joined.push_str(chars.as_str());
    }
    let normal = normalised(joined);
    if normal.chars().next().is_some_and(is_xid_start) {
        return normal;
    }
    normalised(format!("Tool{normal}"))
}

/// A name with a piece behind it, normalised and capped.
pub(crate) fn appended(name: &str, piece: &str) -> String {
    capped(normalised([name, piece].concat()))
}

/// The class names of one rendering.
pub(crate) struct ClassNames {
    taken: HashSet<Arc<str>>,
    /// For a name that was asked for again: the next counter to try.
    counters: HashMap<Arc<str>, usize>,
}

impl ClassNames {
    /// None are taken; there is room for those that so many tools mostly have.
    pub(crate) fn for_tools(tools: usize) -> Self {
        Self { taken: HashSet::with_capacity(8 * tools), counters: HashMap::new() }
    }

    /// The name itself, or with the smallest counter that makes it new.
    pub(crate) fn allocate(&mut self, name: &Arc<str>) -> Arc<str> {
        if self.taken.insert(Arc::clone(name)) {
            return Arc::clone(name);
        }
        let counter = self.counters.entry(Arc::clone(name)).or_insert(2);
        loop {
            let next: Arc<str> = format!("{name}{counter}").into();
            *counter += 1;
            if self.taken.insert(Arc::clone(&next)) {
                return next;
            }
        }
    }
}

/// Whether a character can begin an identifier.
fn starts(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphabetic() || c == '_' } else { is_xid_start(c) }
}

/// Whether a character can go on an identifier. Younger Unicode adds the joiners, which Python 3.11 refuses.
fn continues(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    is_xid_continue(c) && !matches!(c, '\u{200c}' | '\u{200d}')
}

fn normalised(name: String) -> String {
    if name.is_ascii() { name } else { name.nfkc().collect() }
}

/// As much of a name as has at most [`LONGEST`] units.
fn capped(mut name: String) -> String {
    if name.len() <= LONGEST {
        return name;
    }
    let mut units = 0;
    let end = name.char_indices().find(|(_, c)| {
        units += c.len_utf16();
        units > LONGEST
    });
    if let Some((end, _)) = end {
        name.truncate(end);
    }
    name
}
