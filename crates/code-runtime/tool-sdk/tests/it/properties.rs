//! What holds for any tools.

use dsh_tool_sdk::Language;
use proptest::prelude::*;

use crate::schemas::tools;
use crate::tools::rendered;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_same_tools_give_the_same_bytes((tools, other) in tools().prop_flat_map(|tools| (Just(tools.clone()), Just(tools).prop_shuffle()))) {
        for language in Language::ALL {
            prop_assert_eq!(rendered(language, &tools), rendered(language, &other));
        }
    }

    #[test]
    fn nothing_in_a_tool_ends_what_it_stands_in(tools in tools()) {
        for language in Language::ALL {
            let sdk = rendered(language, &tools);
            let text = sdk.declarations();
            let is_bad = |c: char| c.is_control() && c != '\n';
            for line in text.lines() {
                let line = line.trim_start();
                prop_assert!(!line.starts_with("```"));
                let is_comment = line.starts_with("/** ") || line.starts_with("# ") && !line.starts_with("# tools[");
                prop_assert!(!is_comment || !line.contains(is_bad), "{:?}", line);
                if line.starts_with("/**") {
                    prop_assert_eq!(line.find("*/"), Some(line.len() - 2), "{}", line);
                }
            }
            prop_assert_eq!(sdk.bindings().len(), tools.len());
            for tool in &tools {
                prop_assert!(sdk.bindings().iter().any(|binding| binding.name == tool.name));
            }
        }
    }
}
