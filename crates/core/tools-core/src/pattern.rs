//! Names of tools: patterns with `*` in them, and how one of any length is shown.

/// A name of tools in which `*` stands for anything, also for nothing; every other character stands for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Vec<Box<str>>);

impl Pattern {
    /// A pattern; there is none that is wrong.
    pub fn new(text: &str) -> Self {
        Self(text.split('*').map(Into::into).collect())
    }

    /// Whether the whole name is meant. Takes no longer than the name and the pattern are long, together.
    pub fn matches(&self, name: &str) -> bool {
        let (Some(first), rest) = (self.0.first(), self.0.get(1..).unwrap_or_default()) else { return false };
        let Some((last, middle)) = rest.split_last() else { return **first == *name };
        let Some(mut left) = name.strip_prefix(&**first) else { return false };
        for part in middle {
            let Some((_, behind)) = left.split_once(&**part) else { return false };
            left = behind;
        }
        left.ends_with(&**last)
    }
}

/// A name that a model made up, in a message: as far as it helps, which is 100 bytes.
pub fn short_name(name: &str) -> String {
    const SHOWN: usize = 100;
    if name.len() <= SHOWN {
        return name.to_owned();
    }
    let end = name.floor_char_boundary(SHOWN);
    format!("{}…", name.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything_and_all_else_for_itself() {
        for (pattern, name, matches) in [
            ("probe", "probe", true),
            ("probe", "probes", false),
            ("pr.be", "probe", false),
            ("*", "", true),
            ("*", "anything", true),
            ("a*", "a", true),
            ("*z", "a-z", true),
            ("a*z", "az", true),
            ("a*a", "a", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("**", "x", true),
            ("[a]*", "[a]b", true),
            ("[a]*", "ab", false),
            ("", "", true),
            ("", "x", false),
        ] {
            assert_eq!(Pattern::new(pattern).matches(name), matches, "{pattern} {name}");
        }
    }

    #[test]
    fn a_name_is_shown_as_far_as_it_helps() {
        for (name, shown) in [
            ("a".repeat(100), "a".repeat(100)),
            ("a".repeat(101), format!("{}…", "a".repeat(100))),
            ("é".repeat(51), format!("{}…", "é".repeat(50))),
            (format!("a{}", "é".repeat(51)), format!("a{}…", "é".repeat(49))),
        ] {
            assert_eq!(short_name(&name), shown);
        }
    }
}
