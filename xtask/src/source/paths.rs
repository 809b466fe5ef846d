//! Which paths a piece of code names, imports followed.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::slice::Iter;

/// A path that the code names, as far as the file's own imports tell.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// Counted from 1.
    pub(crate) line: usize,
    /// `["std", "fs", "read"]`; a glob import ends in `"*"`.
    pub(crate) path: Vec<String>,
}

/// Every path in `code`, which must be free of comments and literals. Imports are looked up for the whole file, whatever
/// scope they stand in. Macro calls (`std::env!`) are left out.
pub(crate) fn names_in(code: &str) -> Vec<Named> {
    let tokens = tokens(code);
    let (mut named, others) = split_uses(&tokens);
    let imports: BTreeMap<String, Vec<String>> =
        named.iter().map(|import| (import.local.clone(), import.named.path.clone())).collect();
    let mut found: Vec<Named> = named.drain(..).map(|import| import.named).collect();
    for Named { line, path } in others {
        let path = match path.split_first() {
            Some((first, rest)) if imports.contains_key(first) => {
                let mut full = imports.get(first).cloned().unwrap_or_default();
                full.extend_from_slice(rest);
                full
            }
            _ => path,
        };
        found.push(Named { line, path });
    }
    found
}

struct Import {
    local: String,
    named: Named,
}

#[derive(PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Colons,
    Other(char),
}

type Tokens<'t, 'a> = Peekable<Iter<'t, (usize, Token<'a>)>>;

fn tokens(code: &str) -> Vec<(usize, Token<'_>)> {
    let mut tokens = Vec::new();
    for (number, line) in code.lines().enumerate() {
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let (token, length) = if word > 0 {
                (Some(Token::Word(rest.get(..word).unwrap_or_default())), word)
            } else if rest.starts_with("::") {
                (Some(Token::Colons), 2)
            } else if first.is_whitespace() {
                (None, first.len_utf8())
            } else {
                (Some(Token::Other(first)), first.len_utf8())
            };
            tokens.extend(token.map(|token| (number + 1, token)));
            rest = rest.get(length..).unwrap_or_default();
        }
    }
    tokens
}

/// The imports, one for each leaf of each `use`, and every other path.
fn split_uses(tokens: &[(usize, Token<'_>)]) -> (Vec<Import>, Vec<Named>) {
    let mut rest = tokens.iter().peekable();
    let (mut imports, mut others) = (Vec::new(), Vec::new());
    while let Some((line, token)) = rest.next() {
        match token {
            // `use<'a>` in a return type is no import.
            Token::Word("use") if !matches!(rest.peek(), Some((_, Token::Other('<')))) => {
                use_tree(&mut rest, &[], &mut imports);
            }
            Token::Word(word) => {
                let mut path = vec![(*word).to_owned()];
                while let Some(next) = segment(&mut rest) {
                    path.push(next);
                }
                if !matches!(rest.peek(), Some((_, Token::Other('!')))) {
                    others.push(Named { line: *line, path });
                }
            }
            Token::Colons | Token::Other(_) => {}
        }
    }
    (imports, others)
}

/// `::word` at the front, taken.
fn segment(rest: &mut Tokens<'_, '_>) -> Option<String> {
    let mut ahead = rest.clone();
    match (ahead.next(), ahead.next()) {
        (Some((_, Token::Colons)), Some((_, Token::Word(word)))) => {
            *rest = ahead;
            Some((*word).to_owned())
        }
        _ => None,
    }
}

fn use_tree(rest: &mut Tokens<'_, '_>, above: &[String], imports: &mut Vec<Import>) {
    let mut path = above.to_vec();
    let mut line = rest.peek().map_or(0, |(line, _)| *line);
    while let Some((at, token)) = rest.peek() {
        match token {
            Token::Word("as") => {
                rest.next();
                let alias = match rest.next() {
                    Some((_, Token::Word(alias))) => (*alias).to_owned(),
                    _ => continue,
                };
                imports.push(Import { local: alias, named: Named { line, path } });
                return;
            }
            Token::Word(word) => {
                line = *at;
                if *word != "self" || path.is_empty() {
                    path.push((*word).to_owned());
                }
            }
            Token::Other('*') => path.push("*".to_owned()),
            Token::Other('{') => {
                rest.next();
                loop {
                    if rest.next_if(|(_, token)| *token == Token::Other('}')).is_some() {
                        return;
                    }
                    use_tree(rest, &path, imports);
                    if rest.next_if(|(_, token)| *token == Token::Other(',')).is_none() {
                        rest.next();
                        return;
                    }
                }
            }
            Token::Other(_) => break,
            Token::Colons => {}
        }
        rest.next();
    }
    if let Some(local) = path.last().cloned() {
        imports.push(Import { local, named: Named { line, path } });
    }
}
