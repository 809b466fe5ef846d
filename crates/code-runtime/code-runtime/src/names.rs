//! Which names may be offered to programs, the same in every language (spec 06 §7.7).

use std::collections::HashSet;

use thiserror::Error;

use crate::Namespace;

/// A name that no provider offers to programs.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NameError {
    /// It is no identifier of both languages.
    #[error("`{0}` is not an identifier: use ASCII letters, digits and `_`, not starting with a digit")]
    NotIdentifier(String),
    /// A language uses the word itself.
    #[error("`{0}` is a reserved word of TypeScript or Python: choose another name")]
    ReservedWord(String),
    /// The provider uses the name itself.
    #[error("`{0}` is taken by the runtime itself: choose another name")]
    Taken(String),
    /// Two globals, two classes, or a global and a class share it.
    #[error("`{0}` stands for two things: give each global and each error class a name of its own")]
    Duplicate(String),
    /// Two functions of a namespace share it.
    #[error("`{global}` has two functions `{name}`")]
    DuplicateFunction {
        /// The namespace.
        global: String,
        /// The function.
        name: String,
    },
    /// Errors already have a member of that name, or it is empty.
    #[error("`{0}` can't hold the called function's name: errors use it themselves, or it is empty")]
    Member(String),
}

/// Checks the names of all namespaces of a request.
///
/// # Errors
/// The first name that breaks a rule. What functions are called is free.
pub fn check_names(namespaces: &[Namespace]) -> Result<(), NameError> {
    let mut seen = HashSet::new();
    for namespace in namespaces {
        let class = namespace.error_class.as_ref();
        for name in [Some(&namespace.global), class.map(|class| &class.name)].into_iter().flatten() {
            check_identifier(name)?;
            if !seen.insert(&**name) {
                return Err(NameError::Duplicate(name.to_string()));
            }
        }
        if let Some(class) = class {
            check_member(&class.member_name_property)?;
        }
        let mut functions = HashSet::new();
        if let Some(twice) = namespace.functions.iter().find(|name| !functions.insert(&***name)) {
            let (global, name) = (namespace.global.to_string(), twice.to_string());
            return Err(NameError::DuplicateFunction { global, name });
        }
    }
    Ok(())
}

fn check_identifier(name: &str) -> Result<(), NameError> {
    let mut bytes = name.bytes();
    let starts = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    if !starts || !bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Err(NameError::NotIdentifier(name.to_owned()));
    }
    if RESERVED_WORDS.contains(&name) {
        return Err(NameError::ReservedWord(name.to_owned()));
    }
    if TAKEN.contains(&name) {
        return Err(NameError::Taken(name.to_owned()));
    }
    Ok(())
}

fn check_member(name: &str) -> Result<(), NameError> {
    let dunder = name.len() > 4 && name.starts_with("__") && name.ends_with("__");
    if name.is_empty() || dunder || ERROR_MEMBERS.contains(&name) {
        return Err(NameError::Member(name.to_owned()));
    }
    Ok(())
}

/// Of ECMAScript in strict mode and of Python, soft keywords included.
#[rustfmt::skip]
const RESERVED_WORDS: &[&str] = &[
    "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else",
    "enum", "export", "extends", "false", "finally", "for", "function", "if", "import", "in", "instanceof", "new",
    "null", "return", "super", "switch", "this", "throw", "true", "try", "typeof", "var", "void", "while", "with",
    "yield", "let", "static", "implements", "interface", "package", "private", "protected", "public", "arguments",
    "eval",
    "False", "None", "True", "and", "as", "assert", "async", "def", "del", "elif", "except", "from", "global", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "match", "type", "_",
];
const TAKEN: &[&str] = &["console", "__dsh_main__", "__builtins__", "__name__", "__debug__"];
const ERROR_MEMBERS: &[&str] = &["name", "message", "stack", "args", "with_traceback", "add_note"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorClass;

    #[test]
    fn names_are_identifiers_of_both_languages_and_free() {
        for name in ["tools", "helpers", "_x", "T1", "ToolCallError", "AsyncFunction", "print", "__", "__x"] {
            assert_eq!(check_names(&[space(name, None)]), Ok(()), "{name}");
        }
        for name in ["", "not valid!", "1x", "$tools", "a$b", "a-b", "é", "a\0"] {
            assert_eq!(check_names(&[space(name, None)]), Err(NameError::NotIdentifier(name.into())));
        }
        for name in
            ["await", "function", "lambda", "nonlocal", "class", "match", "type", "_", "None", "async"]
        {
            assert_eq!(check_names(&[space(name, None)]), Err(NameError::ReservedWord(name.into())));
        }
        for name in ["console", "__dsh_main__", "__builtins__", "__name__", "__debug__"] {
            assert_eq!(check_names(&[space(name, None)]), Err(NameError::Taken(name.into())));
        }
        assert!(!RESERVED_WORDS.contains(&"tools"));
    }

    #[test]
    fn error_classes_keep_the_same_rules_and_errors_keep_their_members() {
        let with = |name, member| check_names(&[space("tools", Some((name, member)))]);
        for member in ["toolName", "helper name", "__", "____", "__x", "x__", "é"] {
            assert_eq!(with("ToolCallError", member), Ok(()), "{member}");
        }
        for member in ["", "name", "message", "stack", "args", "with_traceback", "add_note", "__x__", "_____"]
        {
            assert_eq!(with("ToolCallError", member), Err(NameError::Member(member.into())));
        }
        assert_eq!(with("Tool Error", "toolName"), Err(NameError::NotIdentifier("Tool Error".into())));
        assert_eq!(with("__dsh_main__", "toolName"), Err(NameError::Taken("__dsh_main__".into())));
    }

    #[test]
    fn no_name_stands_for_two_things() {
        let duplicate = |name: &str| Err(NameError::Duplicate(name.into()));
        assert_eq!(check_names(&[space("a", None), space("a", None)]), duplicate("a"));
        assert_eq!(check_names(&[space("a", Some(("a", "m")))]), duplicate("a"));
        assert_eq!(
            check_names(&[space("a", Some(("E", "m"))), space("b", Some(("E", "m")))]),
            duplicate("E")
        );
        let mut functions = space("a", None);
        functions.functions = vec!["__proto__".into(), "x".into(), "x".into()];
        let twice = NameError::DuplicateFunction { global: "a".into(), name: "x".into() };
        assert_eq!(check_names(&[functions]), Err(twice));
    }

    fn space(global: &str, class: Option<(&str, &str)>) -> Namespace {
        let error_class =
            class.map(|(name, member)| ErrorClass { name: name.into(), member_name_property: member.into() });
        Namespace { global: global.into(), functions: Vec::new(), error_class }
    }
}
