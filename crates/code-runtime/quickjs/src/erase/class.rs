//! Types in classes: modifiers, members that are only declared, clauses.

use oxc_ast::ast::{
    Class, ClassElement, MethodDefinition, PropertyDefinition, PropertyDefinitionType, PropertyKey,
};
use oxc_ast_visit::{Visit as _, walk};
use oxc_span::{GetSpan as _, Span};

use super::types::Types;

/// Modifiers that have no meaning at run time.
const MODIFIERS: [&str; 7] =
    ["public", "private", "protected", "readonly", "override", "abstract", "declare"];

impl Types<'_> {
    pub(super) fn class(&mut self, it: &Class<'_>) {
        if it.declare {
            return self.blanks.remove(it.span);
        }
        if it.r#abstract {
            let start = self.blanks.token(it.span.start);
            self.blank_word(start);
        }
        if let (Some(first), Some(last)) = (it.implements.first(), it.implements.last()) {
            let start = self.implements(it, first.span.start);
            self.blanks.blank(Span::new(start, last.span.end));
        }
        walk::walk_class(self, it);
    }

    /// Where the word `implements` is.
    fn implements(&self, it: &Class<'_>, first: u32) -> u32 {
        let heritage = it.heritage.as_ref().map(|heritage| match &heritage.type_arguments {
            Some(arguments) => arguments.span.end,
            None => heritage.expression.span().end,
        });
        let before = heritage
            .or(it.type_parameters.as_ref().map(|parameters| parameters.span.end))
            .or(it.id.as_ref().map(|id| id.span.end));
        let mut at = self.blanks.token(before.unwrap_or(it.span.start));
        while at < first && self.blanks.word(at) != "implements" {
            let word = u32::try_from(self.blanks.word(at).len()).unwrap_or(1);
            at = self.blanks.token(at + word.max(1));
        }
        at
    }

    pub(super) fn class_element(&mut self, it: &ClassElement<'_>) {
        match it {
            ClassElement::StaticBlock(block) => self.visit_static_block(block),
            ClassElement::MethodDefinition(method) => self.method(method),
            ClassElement::PropertyDefinition(property) => self.property(property),
            ClassElement::AccessorProperty(accessor) => {
                self.refuse(accessor.span, "`accessor` is not supported: write a getter and a setter");
            }
            ClassElement::TSIndexSignature(signature) => self.blanks.remove(signature.span),
        }
    }

    fn method(&mut self, it: &MethodDefinition<'_>) {
        if it.value.body.is_none() {
            return self.blanks.remove(it.span);
        }
        self.modifiers(it.span.start, it.key.span().start);
        if it.optional {
            self.blank_mark(self.after_key(&it.key, it.computed));
        }
        walk::walk_method_definition(self, it);
    }

    fn property(&mut self, it: &PropertyDefinition<'_>) {
        if it.declare || it.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition {
            return self.blanks.remove(it.span);
        }
        self.modifiers(it.span.start, it.key.span().start);
        let mark = self.blank_mark(self.after_key(&it.key, it.computed));
        walk::walk_property_definition(self, it);
        if it.value.is_none()
            && let Some(at) = mark.or(it.type_annotation.as_ref().map(|annotation| annotation.span.start))
        {
            // A field called `get` is none without an end.
            self.blanks.put(at, b';');
        }
    }

    /// Blanks the modifiers of a member. The first leaves a `;`, so that the member does not join the one before.
    fn modifiers(&mut self, start: u32, key: u32) {
        let mut at = self.blanks.token(start);
        let mut first = true;
        while at < key {
            let word = self.blanks.word(at);
            let length = u32::try_from(word.len()).unwrap_or(0);
            if MODIFIERS.contains(&word) {
                self.blank_word(at);
                if first {
                    self.blanks.put(at, b';');
                }
            }
            first = false;
            at = self.blanks.token(at + length.max(1));
        }
    }

    fn after_key(&self, key: &PropertyKey<'_>, computed: bool) -> u32 {
        let end = key.span().end;
        if computed { self.blanks.token(end) + 1 } else { end }
    }

    fn blank_word(&mut self, at: u32) {
        let length = u32::try_from(self.blanks.word(at).len()).unwrap_or(0);
        self.blanks.blank(Span::new(at, at + length));
    }
}
