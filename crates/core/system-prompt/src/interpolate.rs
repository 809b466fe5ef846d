//! Strict interpolation of `{{name}}` groups.

use std::borrow::Cow;

use crate::Variables;

/// Why a text can't be interpolated (spec 11 §A.5). There is no way to escape a brace; a literal `{{` is possible only
/// where no `}}` follows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InterpolationError {
    /// No such variable is registered.
    #[error("unknown variable \"{name}\" at byte {offset}; registered: {known}")]
    Unknown {
        /// The name in the braces.
        name: String,
        /// Where the group begins.
        offset: usize,
        /// The registered names, joined.
        known: String,
    },
    /// The variable is registered and has no value here.
    #[error("variable \"{name}\" at byte {offset} has no value here")]
    Undefined {
        /// The name in the braces.
        name: String,
        /// Where the group begins.
        offset: usize,
    },
    /// What is between the braces is not a name.
    #[error("\"{{{{{found}}}}}\" at byte {offset} is not a variable; write {{{{name}}}} without spaces")]
    Malformed {
        /// What is between the braces.
        found: String,
        /// Where the group begins.
        offset: usize,
    },
    /// Two opening braces that begin no group, with closing ones somewhere behind them.
    #[error("the opening braces at byte {offset} begin no {{{{name}}}} group")]
    Unopened {
        /// Where the braces are.
        offset: usize,
    },
}

/// Fills in every group. Values are taken as they are and never looked through again; a text without groups is not
/// copied.
pub(crate) fn interpolate<'t>(
    text: &'t str,
    variables: &Variables,
) -> Result<Cow<'t, str>, InterpolationError> {
    let Some(mut open) = text.find("{{") else { return Ok(Cow::Borrowed(text)) };
    let mut out = String::new();
    let mut done = 0;
    while let Some((inside, end)) = group_at(text, open) {
        let value = resolve(inside, open, variables)?;
        out.push_str(text.get(done..open).unwrap_or_default());
        out.push_str(value);
        done = end;
        let Some(next) = text.get(done..).and_then(|rest| rest.find("{{")) else { break };
        open = done + next;
    }
    if done == 0 {
        return Ok(Cow::Borrowed(text));
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Ok(Cow::Owned(out))
}

/// Whether a variable may have this name: `^[a-z][a-z0-9_]*$`.
pub(crate) fn is_variable_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// What is between the braces that open at `open`, and where the group ends; `None` when no closing braces follow.
fn group_at(text: &str, open: usize) -> Option<(&str, usize)> {
    let start = open + 2;
    let rest = text.get(start..)?;
    let length = rest.find("}}")?;
    Some((rest.get(..length)?, start + length + 2))
}

fn resolve<'v>(inside: &str, offset: usize, variables: &'v Variables) -> Result<&'v str, InterpolationError> {
    if inside.contains(['{', '}']) {
        return Err(InterpolationError::Unopened { offset });
    }
    if !is_variable_name(inside) {
        return Err(InterpolationError::Malformed { found: inside.to_owned(), offset });
    }
    let name = || inside.to_owned();
    match variables.get(inside) {
        Some(Some(value)) => Ok(value),
        Some(None) => Err(InterpolationError::Undefined { name: name(), offset }),
        None => {
            let known: Vec<_> = variables.keys().map(AsRef::as_ref).collect();
            let known = if known.is_empty() { "(none)".to_owned() } else { known.join(", ") };
            Err(InterpolationError::Unknown { name: name(), offset, known })
        }
    }
}

#[cfg(test)]
mod tests;
