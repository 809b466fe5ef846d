//! Declarations in TypeScript, read by a parser: they are what the frame says, and nothing else.

use dsh_tool_sdk::Binding;
use oxc_allocator::Allocator;
use oxc_ast::ast::{Statement, TSSignature};
use oxc_parser::Parser;
use oxc_span::SourceType;

/// Levels of a schema up to which the parser, which recurses, is asked.
const DEPTH: usize = 60;

/// Panics unless the declarations are six statements, with a member for each tool in both maps.
pub(crate) fn declares(text: &str, tools: &[Binding], depth: usize) {
    if depth > DEPTH {
        return;
    }
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, SourceType::d_ts()).parse();
    let complaint = parsed.diagnostics.iter().next();
    assert!(complaint.is_none() && !parsed.panicked, "{complaint:?}\n{text}");
    let statements = &parsed.program.body;
    assert_eq!(statements.len(), 6, "{text}");
    let mut maps = 0;
    for statement in statements {
        let Statement::TSInterfaceDeclaration(map) = statement else { continue };
        maps += 1;
        let members = &map.body.body;
        let are_fields = members.iter().all(|member| matches!(member, TSSignature::TSPropertySignature(_)));
        assert!(are_fields && members.len() == tools.len(), "{text}");
    }
    assert_eq!(maps, 2, "{text}");
}
