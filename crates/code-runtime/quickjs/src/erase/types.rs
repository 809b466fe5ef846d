//! Where the types of a program are, and what they hold together.
//!
//! A type may stand between two things that would mean something else side by side. So a removed statement leaves a `;`, an
//! assertion at the end of a line too, and parentheses of arrow functions move to where lines may not break.

use oxc_ast::ast::{
    ArrowFunctionExpression, BinaryExpression, Class, ClassElement, Decorator, ExportAllDeclaration,
    ExportDeclaration, ExportDefaultDeclaration, ExportFromDeclaration, ExportNamedDeclaration, Expression,
    FormalParameter, Function, ImportDeclaration, ImportExpression, TSAsExpression, TSEnumDeclaration,
    TSExportAssignment, TSExternalModuleDeclaration, TSGlobalDeclaration, TSImportEqualsDeclaration,
    TSInstantiationExpression, TSInterfaceDeclaration, TSNamespaceDeclaration, TSNamespaceExportDeclaration,
    TSNonNullExpression, TSSatisfiesExpression, TSTypeAliasDeclaration, TSTypeAnnotation, TSTypeAssertion,
    TSTypeParameterDeclaration, TSTypeParameterInstantiation, VariableDeclaration, VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan as _, Span};
use oxc_syntax::scope::ScopeFlags;

use super::blanks::Blanks;

/// Blanks types as it meets them; remembers the first thing that can't be erased.
pub(super) struct Types<'s> {
    pub(super) blanks: Blanks<'s>,
    pub(super) refused: Option<(usize, &'static str)>,
}

impl<'s> Types<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        Self { blanks: Blanks::new(source), refused: None }
    }

    pub(super) fn refuse(&mut self, span: Span, what: &'static str) {
        let at = usize::try_from(span.start).unwrap_or(usize::MAX);
        self.refused.get_or_insert((at, what));
    }

    /// Blanks a `?` or `!` that is the next token.
    pub(super) fn blank_mark(&mut self, from: u32) -> Option<u32> {
        let at = self.blanks.token(from);
        matches!(self.blanks.byte(at), b'?' | b'!').then(|| {
            self.blanks.blank(Span::new(at, at + 1));
            at
        })
    }

    /// Blanks what follows an expression. Where TypeScript would end the statement, JavaScript has to as well.
    fn blank_after(&mut self, start: u32, end: u32) {
        self.blanks.blank(Span::new(start, end));
        let next = self.blanks.token(end);
        if self.blanks.breaks(end, next) && matches!(self.blanks.byte(next), b'(' | b'[' | b'`') {
            self.blanks.put(start, b';');
        }
    }

    fn assertion(&mut self, expression: &Expression<'_>, span: Span) {
        self.blank_after(self.blanks.token(expression.span().end), span.end);
    }

    /// A declaration that TypeScript alone knows, or that only `declare` makes so.
    fn ambient(&mut self, declare: bool, span: Span, what: &'static str) {
        if declare { self.blanks.remove(span) } else { self.refuse(span, what) }
    }
}

impl<'a> Visit<'a> for Types<'_> {
    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.blanks.blank(it.span);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.blanks.blank(it.span);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.blanks.blank(it.span);
    }

    fn visit_ts_type_alias_declaration(&mut self, it: &TSTypeAliasDeclaration<'a>) {
        self.blanks.remove(it.span);
    }

    fn visit_ts_interface_declaration(&mut self, it: &TSInterfaceDeclaration<'a>) {
        self.blanks.remove(it.span);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.visit_expression(&it.expression);
        self.assertion(&it.expression, it.span);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.visit_expression(&it.expression);
        self.assertion(&it.expression, it.span);
    }

    fn visit_ts_instantiation_expression(&mut self, it: &TSInstantiationExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank_after(it.type_arguments.span.start, it.type_arguments.span.end);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blanks.blank(Span::new(it.span.end - 1, it.span.end));
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        if it.declare { self.blanks.remove(it.span) } else { walk::walk_variable_declaration(self, it) }
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if it.definite {
            self.blank_mark(it.id.span().end);
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if it.declare || it.body.is_none() {
            return self.blanks.remove(it.span);
        }
        if let Some(this) = &it.this_param {
            let comma = self.blanks.token(this.span.end);
            let end = if self.blanks.byte(comma) == b',' { comma + 1 } else { this.span.end };
            self.blanks.blank(Span::new(this.span.start, end));
        }
        walk::walk_function(self, it, flags);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        if it.accessibility.is_some() || it.readonly || it.r#override {
            self.refuse(it.span, "a parameter property can't be erased: declare a field and assign it");
        }
        if it.optional {
            self.blank_mark(it.pattern.span().end);
        }
        walk::walk_formal_parameter(self, it);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        walk::walk_arrow_function_expression(self, it);
        if let Some(parameters) = &it.type_parameters {
            // `async` and `return` must not be alone on their line.
            let start = parameters.span.start;
            let paren = self.blanks.token(parameters.span.end);
            if self.blanks.breaks(start, paren) {
                self.blanks.blank(Span::new(paren, paren + 1));
                self.blanks.put(start, b'(');
            }
        }
        if let Some(returns) = &it.return_type {
            // Nor must `=>` be.
            let paren = it.params.span.end - 1;
            if self.blanks.breaks(paren, returns.span.end) {
                self.blanks.blank(Span::new(paren, paren + 1));
                self.blanks.put(returns.span.end - 1, b')');
            }
        }
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        self.class(it);
    }

    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        self.class_element(it);
    }

    fn visit_binary_expression(&mut self, it: &BinaryExpression<'a>) {
        let operator = self.blanks.token(it.left.span().end);
        if (0..4).map(|n| self.blanks.byte(operator + n)).eq(*b"<!--") {
            // To a script it is the start of a comment.
            self.refuse(Span::new(operator, operator), "`<!--` is ambiguous: write `< !--`");
        }
        walk::walk_binary_expression(self, it);
    }

    fn visit_ts_enum_declaration(&mut self, it: &TSEnumDeclaration<'a>) {
        self.ambient(
            it.declare,
            it.span,
            "an enum can't be erased: use a plain object, or a union of strings",
        );
    }

    fn visit_ts_namespace_declaration(&mut self, it: &TSNamespaceDeclaration<'a>) {
        self.ambient(it.declare, it.span, "a namespace can't be erased: use a plain object");
    }

    fn visit_ts_external_module_declaration(&mut self, it: &TSExternalModuleDeclaration<'a>) {
        self.ambient(it.declare, it.span, "a module can't be erased: use a plain object");
    }

    fn visit_ts_global_declaration(&mut self, it: &TSGlobalDeclaration<'a>) {
        self.ambient(it.declare, it.span, "`global` can't be erased: use globalThis");
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        self.refuse(it.span, "`<T>value` can't be erased: write `value as T`");
    }

    fn visit_decorator(&mut self, it: &Decorator<'a>) {
        self.refuse(it.span, "a decorator can't be erased: call the function yourself");
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        self.refuse(it.span, NO_MODULES);
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        self.refuse(it.span, NO_MODULES);
    }

    fn visit_ts_import_equals_declaration(&mut self, it: &TSImportEqualsDeclaration<'a>) {
        self.refuse(it.span, NO_MODULES);
    }

    fn visit_export_declaration(&mut self, it: &ExportDeclaration<'a>) {
        self.refuse(it.span, NO_EXPORTS);
    }

    fn visit_export_named_declaration(&mut self, it: &ExportNamedDeclaration<'a>) {
        self.refuse(it.span, NO_EXPORTS);
    }

    fn visit_export_from_declaration(&mut self, it: &ExportFromDeclaration<'a>) {
        self.refuse(it.span, NO_EXPORTS);
    }

    fn visit_export_default_declaration(&mut self, it: &ExportDefaultDeclaration<'a>) {
        self.refuse(it.span, NO_EXPORTS);
    }

    fn visit_export_all_declaration(&mut self, it: &ExportAllDeclaration<'a>) {
        self.refuse(it.span, NO_EXPORTS);
    }

    fn visit_ts_export_assignment(&mut self, it: &TSExportAssignment<'a>) {
        self.refuse(it.span, NO_EXPORTS);
    }

    fn visit_ts_namespace_export_declaration(&mut self, it: &TSNamespaceExportDeclaration<'a>) {
        self.refuse(it.span, NO_EXPORTS);
    }
}

const NO_MODULES: &str = "a program can't import: it has the language, and the functions that it was given";
const NO_EXPORTS: &str = "a program can't export: it is the body of an async function, so return the value";
