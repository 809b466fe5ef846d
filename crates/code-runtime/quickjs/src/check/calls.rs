//! The calls of a program that name a function of a namespace, and what else it does with the namespace.

use std::collections::HashSet;

use dsh_code_runtime::BindingSchemas;
use dsh_json::Json;
use dsh_json_schema::nearest;
use oxc_ast::ast::{
    BinaryExpression, BindingIdentifier, BindingPattern, CallExpression, Class, ComputedMemberExpression,
    Expression, Function, IdentifierReference, MemberExpression, Program, StaticMemberExpression,
    TSClassImplements, TSEnumDeclaration, TSIndexSignature, TSInterfaceDeclaration, TSNamespaceDeclaration,
    TSThisParameter, TSType, TSTypeAliasDeclaration, TSTypeParameter, TryStatement, VariableDeclaration,
    VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_syntax::operator::BinaryOperator;
use oxc_syntax::scope::ScopeFlags;

use super::{Finding, LISTED, arguments};

/// Names that are listed when none is near.
const NAMES: usize = 20;
/// The longest name that a finding repeats, in characters.
const NAME: usize = 80;

/// What is wrong with the calls of a program, in its order: at most one more than are listed.
pub(super) fn findings(program: &Program<'_>, namespaces: &[&dyn BindingSchemas]) -> Vec<Finding> {
    let namespaces = namespaces.iter().map(|schemas| Namespace::new(*schemas)).collect();
    let mut calls = Calls { namespaces, prepared: 0 };
    calls.visit_program(program);
    let mut found: Vec<_> = calls.namespaces.into_iter().flat_map(Namespace::findings).collect();
    found.sort_by_key(|finding| finding.at);
    found.truncate(LISTED + 1);
    found
}

struct Calls<'a, 'b> {
    namespaces: Vec<Namespace<'a, 'b>>,
    /// Surrounding constructs that take the failure of a call.
    prepared: usize,
}

/// A namespace, and what the program does with it.
struct Namespace<'a, 'b> {
    schemas: &'b dyn BindingSchemas,
    name: &'b str,
    /// The program may have made something else of the name.
    doubtful: bool,
    /// Functions that the program asks for without calling them.
    asked: HashSet<&'a str>,
    /// Calls of functions that there are not.
    unknown: Vec<(u32, &'a str)>,
    /// Calls with arguments that can't fit.
    misfits: Vec<Finding>,
}

/// `tools.name`, or `tools[…]` without a name.
struct Member<'a, 'x> {
    namespace: usize,
    name: Option<(u32, &'a str)>,
    /// What stands in the brackets.
    key: Option<&'x Expression<'a>>,
}

impl<'a> Calls<'a, '_> {
    /// The namespace that an expression is, if nothing has changed that.
    fn namespace(&self, expression: &Expression<'a>) -> Option<usize> {
        let Expression::Identifier(identifier) = expression.get_inner_expression() else { return None };
        self.namespaces.iter().position(|namespace| namespace.name == identifier.name)
    }

    fn doubt(&mut self, name: &str) {
        let direct_eval = name == "eval";
        for namespace in self.namespaces.iter_mut().filter(|it| direct_eval || it.name == name) {
            namespace.doubtful = true;
        }
    }

    fn member<'x>(&self, expression: &'x Expression<'a>) -> Option<Member<'a, 'x>> {
        let member = expression.get_inner_expression().as_member_expression()?;
        let namespace = self.namespace(member.object())?;
        let name = member.static_property_info().map(|(span, name)| (span.start, name));
        let key = match member {
            MemberExpression::ComputedMemberExpression(member) => Some(&member.expression),
            MemberExpression::StaticMemberExpression(_) => None,
            MemberExpression::PrivateFieldExpression(_) => return None,
        };
        Some(Member { namespace, name, key })
    }

    /// The program reads, tests or writes a member without calling it.
    fn ask(&mut self, namespace: usize, name: Option<&'a str>) {
        let Some(namespace) = self.namespaces.get_mut(namespace) else { return };
        match name {
            Some(name) => _ = namespace.asked.insert(name),
            None => namespace.doubtful = true,
        }
    }

    /// The program calls a member.
    fn judge(&mut self, member: &Member<'a, '_>, call: &CallExpression<'a>) {
        let Some((at, name)) = member.name.filter(|_| self.prepared == 0) else { return };
        let Some(namespace) = self.namespaces.get_mut(member.namespace) else { return };
        match namespace.schemas.parameters(name) {
            None => namespace.unknown.push((at, name)),
            Some(_) if namespace.misfits.len() > LISTED => {}
            Some(schema) => {
                if let Some(misfit) = arguments::misfit(call, schema, &spelled(namespace.name, name)) {
                    namespace.misfits.push(misfit);
                }
            }
        }
    }

    fn prepared(&mut self, prepared: bool, visit: impl FnOnce(&mut Self)) {
        self.prepared += usize::from(prepared);
        visit(self);
        self.prepared -= usize::from(prepared);
    }
}

impl<'a> Visit<'a> for Calls<'a, '_> {
    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if let Some(member) = self.member(&it.callee) {
            if it.optional {
                self.ask(member.namespace, member.name.map(|(_, name)| name));
            } else {
                self.judge(&member, it);
            }
            if let Some(key) = member.key {
                self.visit_expression(key);
            }
            return self.visit_arguments(&it.arguments);
        }
        let method = it.callee.get_inner_expression().as_member_expression();
        let method = method.and_then(MemberExpression::static_property_name).unwrap_or_default();
        let catches = method == "catch" || method == "then" && it.arguments.len() > 1;
        self.prepared(catches, |this| this.visit_expression(&it.callee));
        self.prepared(method == "allSettled", |this| this.visit_arguments(&it.arguments));
    }

    fn visit_try_statement(&mut self, it: &TryStatement<'a>) {
        self.prepared(it.handler.is_some(), |this| this.visit_block_statement(&it.block));
        if let Some(handler) = &it.handler {
            self.visit_catch_clause(handler);
        }
        if let Some(finalizer) = &it.finalizer {
            self.visit_block_statement(finalizer);
        }
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        match self.namespace(&it.object) {
            Some(namespace) => self.ask(namespace, Some(it.property.name.as_str())),
            None => walk::walk_static_member_expression(self, it),
        }
    }

    fn visit_computed_member_expression(&mut self, it: &ComputedMemberExpression<'a>) {
        let Some(namespace) = self.namespace(&it.object) else {
            return walk::walk_computed_member_expression(self, it);
        };
        self.ask(namespace, it.static_property_name().map(|name| name.as_str()));
        self.visit_expression(&it.expression);
    }

    fn visit_binary_expression(&mut self, it: &BinaryExpression<'a>) {
        let namespace = self.namespace(&it.right).filter(|_| it.operator == BinaryOperator::In);
        let Some(namespace) = namespace else { return walk::walk_binary_expression(self, it) };
        let written = if let Expression::StringLiteral(text) = it.left.get_inner_expression() {
            Some(text.value.as_str())
        } else {
            None
        };
        self.ask(namespace, written);
        self.visit_expression(&it.left);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        let taken_apart = matches!(it.id, BindingPattern::ObjectPattern(_))
            && it.init.as_ref().is_some_and(|init| self.namespace(init).is_some());
        if taken_apart {
            self.visit_binding_pattern(&it.id);
        } else {
            walk::walk_variable_declarator(self, it);
        }
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.doubt(&it.name);
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        self.doubt(&it.name);
    }

    // What is erased does not count.

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        if !it.declare {
            walk::walk_variable_declaration(self, it);
        }
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if !it.declare && it.body.is_some() {
            walk::walk_function(self, it, flags);
        }
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        if !it.declare {
            walk::walk_class(self, it);
        }
    }

    fn visit_ts_type(&mut self, _: &TSType<'a>) {}
    fn visit_ts_type_parameter(&mut self, _: &TSTypeParameter<'a>) {}
    fn visit_ts_type_alias_declaration(&mut self, _: &TSTypeAliasDeclaration<'a>) {}
    fn visit_ts_interface_declaration(&mut self, _: &TSInterfaceDeclaration<'a>) {}
    fn visit_ts_class_implements(&mut self, _: &TSClassImplements<'a>) {}
    fn visit_ts_index_signature(&mut self, _: &TSIndexSignature<'a>) {}
    fn visit_ts_this_parameter(&mut self, _: &TSThisParameter<'a>) {}
    fn visit_ts_enum_declaration(&mut self, _: &TSEnumDeclaration<'a>) {}
    fn visit_ts_namespace_declaration(&mut self, _: &TSNamespaceDeclaration<'a>) {}
}

impl<'b> Namespace<'_, 'b> {
    fn new(schemas: &'b dyn BindingSchemas) -> Self {
        let name = schemas.namespace();
        Self {
            schemas,
            name,
            doubtful: false,
            asked: HashSet::new(),
            unknown: Vec::new(),
            misfits: Vec::new(),
        }
    }

    /// What is certain when the whole program was seen. Of an unknown function only the first call.
    fn findings(self) -> Vec<Finding> {
        if self.doubtful {
            return Vec::new();
        }
        let Self { schemas, name: namespace, mut asked, unknown, misfits, .. } = self;
        let mut found = misfits;
        let unknown = unknown.into_iter().filter(|(_, name)| asked.insert(name)).take(LISTED + 1);
        found.extend(
            unknown.map(|(at, name)| Finding { at, what: unknown_function(schemas, namespace, name) }),
        );
        found
    }
}

fn unknown_function(schemas: &dyn BindingSchemas, namespace: &str, name: &str) -> String {
    let names = schemas.names();
    let route = match (nearest(name, names.iter().copied()), names.split_at_checked(NAMES)) {
        (Some(near), _) => format!("did you mean `{}`?", spelled(namespace, near)),
        (None, _) if names.is_empty() => format!("`{namespace}` has no functions here"),
        (None, None | Some((_, []))) => format!("available: {}", names.join(", ")),
        (None, Some((listed, more))) => format!("available: {} and {} more", listed.join(", "), more.len()),
    };
    format!("there is no `{}`; {route}", spelled(namespace, name))
}

/// How a program names a function.
fn spelled(namespace: &str, name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
    if name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty() {
        return format!("{namespace}.{}", short(name));
    }
    format!("{namespace}[{}]", Json::from(short(name)).to_text())
}

fn short(name: &str) -> String {
    match name.char_indices().nth(NAME) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
        None => name.to_owned(),
    }
}
