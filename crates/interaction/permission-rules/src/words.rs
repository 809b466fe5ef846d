//! What the model reads, and the person who is asked.

use dsh_tools_core::short_name;

use crate::config::List;

/// Why a person is asked. It stands after "needs a person's approval" as well as by itself.
pub(crate) fn asked(rule: Option<&str>) -> String {
    match rule {
        Some(rule) => format!("by the rule {}", named(List::Ask, rule)),
        None => "by the rule [permission-rules] otherwise = \"ask\", as no list names this tool".to_owned(),
    }
}

/// A call that does not run, whoever allows it.
pub(crate) fn denied(tool: &str, rule: Option<&str>) -> String {
    let rule = match rule {
        Some(rule) => named(List::Deny, rule),
        None => "[permission-rules] otherwise = \"deny\", as no list names this tool".to_owned(),
    };
    format!(
        "`{}` is denied by the rule {rule}. It did not run, and does not run from a program either. Do without it; if \
         the task needs it, tell the user, who can change the rule.",
        short_name(tool)
    )
}

/// A call that somebody let through without the question.
pub(crate) fn unasked(tool: &str, rule: Option<&str>) -> String {
    format!(
        "`{}` needs a person's approval ({}) and nobody was asked, so it did not run. Do without it, or tell the user.",
        short_name(tool),
        asked(rule)
    )
}

/// A call of a tool that nobody could be asked about, since the agent has none of this name.
pub(crate) fn not_there(tool: &str) -> String {
    format!(
        "there is no tool `{}` here, so nobody was asked whether it may run. Use one of the tools that there are.",
        short_name(tool)
    )
}

fn named(list: List, rule: &str) -> String {
    format!("[permission-rules] {list} = {rule:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told() {
        let told = [
            asked(Some("bash*")),
            asked(None),
            denied("bash_rm", Some("bash*")),
            denied("bash_rm", None),
            unasked("bash", Some("bash*")),
            unasked("bash", None),
            not_there("bsh"),
        ];
        insta::assert_snapshot!(told.join("\n"));
    }
}
