//! The lists, and which of them counts for a tool.

use std::collections::BTreeSet;
use std::fmt;

use dsh_tools_core::Pattern;
use serde::Deserialize;

/// The configuration of the rules. Unknown keys are refused; so is what [`ConfigError`] lists, by
/// [`PermissionRules::new`](crate::PermissionRules::new).
///
/// Each list has names of tools in which `*` stands for anything, also for nothing. A tool that is named in several lists
/// has the strictest verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RulesConfig {
    /// Tools that no rule asks about. Default none.
    pub allow: Vec<String>,
    /// Tools of which a person has to allow each call. Default none.
    pub ask: Vec<String>,
    /// Tools that do not run. Default none.
    pub deny: Vec<String>,
    /// What holds for a tool that no list names. Default `allow`.
    pub otherwise: Verdict,
}

impl RulesConfig {
    /// The names in the lists that none of these tools has, as they would be written: a tool may come later, or a name be
    /// mistaken.
    pub fn nobodys<'a>(&'a self, tools: &[&str]) -> Vec<String> {
        let lists = [(List::Allow, &self.allow), (List::Ask, &self.ask), (List::Deny, &self.deny)];
        let nobodys = |name: &&'a String| {
            let pattern = Pattern::new(name);
            !tools.iter().any(|tool| pattern.matches(tool))
        };
        lists
            .iter()
            .flat_map(|(list, names)| {
                names.iter().filter(nobodys).map(move |name| format!("[permission-rules] {list} = {name:?}"))
            })
            .collect()
    }
}

/// What holds for a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No rule asks.
    #[default]
    Allow,
    /// A person has to allow each call.
    Ask,
    /// It does not run.
    Deny,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// One of the three lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// `allow`
    Allow,
    /// `ask`
    Ask,
    /// `deny`
    Deny,
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// Why a configuration is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A name without a character, which no tool has.
    #[error("`{0}` has an empty name, which names no tool; leave it out, or write `*` for every tool")]
    Empty(List),
    /// A name with a character that no tool's name has.
    #[error(
        "`{list}` has {pattern:?}, which no tool can be called: names have letters, digits, `_`, `-`, and here `*`"
    )]
    NoName {
        /// The list.
        list: List,
        /// The name.
        pattern: String,
    },
    /// A name that stands in one list twice.
    #[error("`{list}` has `{pattern}` twice")]
    Twice {
        /// The list.
        list: List,
        /// The name.
        pattern: String,
    },
}

/// A configuration that was looked at.
#[derive(Debug)]
pub(crate) struct Rules {
    allow: Vec<Rule>,
    ask: Vec<Rule>,
    deny: Vec<Rule>,
    otherwise: Verdict,
}

#[derive(Debug)]
struct Rule {
    text: String,
    pattern: Pattern,
}

/// What holds for one tool, and by which rule: the name as it stands in the list, or `None` for `otherwise`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ruling<'a> {
    Allow,
    Ask(Option<&'a str>),
    Deny(Option<&'a str>),
}

impl Rules {
    pub(crate) fn of(config: RulesConfig) -> Result<Self, ConfigError> {
        let RulesConfig { allow, ask, deny, otherwise } = config;
        Ok(Self {
            allow: rules(List::Allow, allow)?,
            ask: rules(List::Ask, ask)?,
            deny: rules(List::Deny, deny)?,
            otherwise,
        })
    }

    /// Whether there is no tool that a rule has something against.
    pub(crate) fn allow_everything(&self) -> bool {
        self.ask.is_empty() && self.deny.is_empty() && self.otherwise == Verdict::Allow
    }

    /// What holds for a tool. Of several rules in one list the first is named.
    pub(crate) fn ruling(&self, tool: &str) -> Ruling<'_> {
        let first = |rules| first_of(rules, tool);
        match (first(&self.deny), first(&self.ask), first(&self.allow), self.otherwise) {
            (Some(rule), ..) => Ruling::Deny(Some(rule)),
            (None, Some(rule), ..) => Ruling::Ask(Some(rule)),
            (None, None, Some(_), _) | (None, None, None, Verdict::Allow) => Ruling::Allow,
            (None, None, None, Verdict::Ask) => Ruling::Ask(None),
            (None, None, None, Verdict::Deny) => Ruling::Deny(None),
        }
    }
}

/// The first rule of a list that names the tool.
fn first_of<'a>(rules: &'a [Rule], tool: &str) -> Option<&'a str> {
    rules.iter().find(|rule| rule.pattern.matches(tool)).map(|rule| &*rule.text)
}

fn rules(list: List, names: Vec<String>) -> Result<Vec<Rule>, ConfigError> {
    let mut seen = BTreeSet::new();
    for name in &names {
        if name.trim().is_empty() {
            return Err(ConfigError::Empty(list));
        }
        let can_be = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'*');
        if !name.bytes().all(can_be) {
            return Err(ConfigError::NoName { list, pattern: name.clone() });
        }
        if !seen.insert(name) {
            return Err(ConfigError::Twice { list, pattern: name.clone() });
        }
    }
    Ok(names.into_iter().map(|text| Rule { pattern: Pattern::new(&text), text }).collect())
}

#[cfg(test)]
mod tests {
    use dsh_json::Json;

    use super::*;

    fn rules(text: &str) -> Result<Rules, String> {
        let config = Json::parse(text).unwrap().read::<RulesConfig>().map_err(|error| error.to_string())?;
        Rules::of(config).map_err(|error| error.to_string())
    }

    #[test]
    fn the_strictest_rule_wins_whatever_its_place() {
        use Ruling::{Allow, Ask, Deny};
        let lists =
            r#"{"allow": ["*", "bash"], "ask": ["bash*", "w*", "write"], "deny": ["*_rm", "bash_x*"]}"#;
        for (tool, ruling) in [
            ("read", Allow),
            ("bash", Ask(Some("bash*"))),
            ("write", Ask(Some("w*"))),
            ("bash_rm", Deny(Some("*_rm"))),
            ("bash_xy", Deny(Some("bash_x*"))),
            ("Bash", Allow),
            ("", Allow),
        ] {
            assert_eq!(rules(lists).unwrap().ruling(tool), ruling, "{tool}");
        }
    }

    #[test]
    fn otherwise_holds_for_what_no_list_names() {
        use Ruling::{Allow, Ask, Deny};
        for (otherwise, ruling) in [("allow", Allow), ("ask", Ask(None)), ("deny", Deny(None))] {
            let text =
                format!(r#"{{"allow": ["a"], "ask": ["b"], "deny": ["c"], "otherwise": "{otherwise}"}}"#);
            let rules = rules(&text).unwrap();
            let of = ["a", "b", "c", "d"].map(|tool| rules.ruling(tool));
            assert_eq!(of, [Allow, Ask(Some("b")), Deny(Some("c")), ruling], "{otherwise}");
        }
    }

    #[test]
    fn rules_that_are_against_nothing_are_known_as_such() {
        for (text, nothing) in [
            ("{}", true),
            (r#"{"allow": ["*"], "otherwise": "allow"}"#, true),
            (r#"{"ask": ["a"]}"#, false),
            (r#"{"deny": ["a"]}"#, false),
            (r#"{"otherwise": "ask"}"#, false),
            (r#"{"otherwise": "deny"}"#, false),
        ] {
            assert_eq!(rules(text).unwrap().allow_everything(), nothing, "{text}");
        }
    }

    #[test]
    fn names_that_no_tool_has_are_known() {
        let text = r#"{"allow": ["read"], "ask": ["w*", "Write"], "deny": ["wirte*", "run-code"]}"#;
        let config = Json::parse(text).unwrap().read::<RulesConfig>().unwrap();
        let nobodys = config.nobodys(&["read", "write", "run_code"]);
        let expected = ["ask = \"Write\"", "deny = \"wirte*\"", "deny = \"run-code\""];
        assert_eq!(nobodys, expected.map(|rule| format!("[permission-rules] {rule}")));
    }

    #[test]
    fn what_is_no_configuration_is_refused() {
        for (text, says) in [
            (r#"{"deny": ["a", ""]}"#, "`deny` has an empty name"),
            (r#"{"ask": [" "]}"#, "`ask` has an empty name"),
            (r#"{"deny": ["a", " write"]}"#, "`deny` has \" write\", which no tool can be called"),
            (r#"{"deny": ["read, write"]}"#, "`deny` has \"read, write\", which no tool can be called"),
            (r#"{"allow": ["a*", "b", "a*"]}"#, "`allow` has `a*` twice"),
            (r#"{"otherwise": "never"}"#, "never"),
            (r#"{"otherwise": "Deny"}"#, "Deny"),
            (r#"{"deny": "bash"}"#, "bash"),
            (r#"{"deny": [1]}"#, "1"),
            (r#"{"denied": ["bash"]}"#, "denied"),
        ] {
            let told = rules(text).expect_err(text);
            assert!(told.contains(says), "{text}: {told}");
        }
        // In two lists the same name is no mistake.
        assert!(rules(r#"{"ask": ["a"], "deny": ["a"]}"#).is_ok());
    }
}
