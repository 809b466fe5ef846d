use proptest::prelude::*;

use super::*;

fn variables() -> Variables {
    [("model", Some("m-1")), ("sly", Some("{{model}}")), ("cwd", None), ("a_1", Some(""))]
        .into_iter()
        .map(|(name, value)| (name.into(), value.map(Into::into)))
        .collect()
}

#[track_caller]
fn fills(text: &str, want: &str) {
    assert_eq!(interpolate(text, &variables()).as_deref(), Ok(want));
}

#[track_caller]
fn refuses(text: &str, want: &str) {
    assert_eq!(interpolate(text, &variables()).map_err(|problem| problem.to_string()), Err(want.to_owned()));
}

#[test]
fn groups_are_filled_in() {
    fills("", "");
    fills("plain { } }} text", "plain { } }} text");
    fills("{{model}}", "m-1");
    fills("a {{model}} b {{model}}{{a_1}}!", "a m-1 b m-1!");
    fills("é{{model}}é", "ém-1é");
    fills("{{model}} and } } }}", "m-1 and } } }}");
}

#[test]
fn values_are_not_looked_through_again() {
    fills("{{sly}}", "{{model}}");
    fills("{{sly}}}}", "{{model}}}}");
}

#[test]
fn opening_braces_without_closing_ones_are_text() {
    fills("if {{ then", "if {{ then");
    fills("{{model}} {{", "m-1 {{");
    fills("{{}", "{{}");
}

#[test]
fn a_variable_must_exist_and_have_a_value() {
    refuses(
        "{{constructor}}",
        "unknown variable \"constructor\" at byte 0; registered: a_1, cwd, model, sly",
    );
    refuses("in {{cwd}}", "variable \"cwd\" at byte 3 has no value here");
    let none = interpolate("{{model}}", &Variables::new()).map_err(|problem| problem.to_string());
    assert_eq!(none, Err("unknown variable \"model\" at byte 0; registered: (none)".to_owned()));
}

#[test]
fn a_group_must_be_a_name() {
    refuses("{{ model }}", "\"{{ model }}\" at byte 0 is not a variable; write {{name}} without spaces");
    refuses("x{{}}", "\"{{}}\" at byte 1 is not a variable; write {{name}} without spaces");
    refuses("{{Model}}", "\"{{Model}}\" at byte 0 is not a variable; write {{name}} without spaces");
    refuses("{{1a}}", "\"{{1a}}\" at byte 0 is not a variable; write {{name}} without spaces");
}

#[test]
fn opening_braces_must_begin_a_group_when_closing_ones_follow() {
    refuses("{{model {{model}}", "the opening braces at byte 0 begin no {{name}} group");
    refuses("{{{model}}}", "the opening braces at byte 0 begin no {{name}} group");
    refuses("{{a}b}}", "the opening braces at byte 0 begin no {{name}} group");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_is_filled_or_refused(text in "[{}a é]{0,12}") {
        let outcome = interpolate(&text, &variables());
        if !text.contains("{{") {
            prop_assert_eq!(outcome.as_deref(), Ok(text.as_str()));
        }
    }

    #[test]
    fn what_surrounds_a_group_stays(before in "[a-z é}]{0,8}", after in "[a-z é}]{0,8}") {
        let text = format!("{before}{{{{model}}}}{after}");
        let filled = interpolate(&text, &variables()).map(Cow::into_owned);
        prop_assert_eq!(filled, Ok(format!("{before}m-1{after}")));
    }
}
