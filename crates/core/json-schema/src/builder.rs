//! The author DSL as Rust values. An object has to be told whether it is open before it takes properties.

use std::collections::BTreeSet;
use std::sync::Arc;

use dsh_json::{Json, Object};

use crate::schema::Schema;
use crate::violation::JsonSchemaError;

/// A finished node, to put into a property, an array or a union.
///
/// Every [`Draft`] turns into one; `Draft`s are also taken directly wherever a node is.
#[derive(Clone, Debug)]
pub struct Node(Json);

/// A node of form `F` that still takes annotations, and what its form allows.
#[derive(Clone, Debug)]
pub struct Draft<F> {
    form: F,
    notes: Notes,
}

/// The form of strings, numbers, integers, booleans and nulls.
#[derive(Clone, Debug)]
pub struct ScalarForm {
    name: &'static str,
    allowed: Option<Json>,
    constant: Option<Json>,
}

/// The form of arrays.
#[derive(Clone, Debug)]
pub struct ArrayForm {
    items: Node,
}

/// The form of objects that are closed or open.
#[derive(Clone, Debug)]
pub struct ObjectForm {
    open: bool,
    members: Members,
}

/// The form of a choice between branches, exactly one of which matches.
#[derive(Clone, Debug)]
pub struct UnionForm {
    branches: Vec<Json>,
}

/// The form that takes any JSON.
#[derive(Clone, Debug)]
pub struct AnyForm(());

/// An object before its openness is said; it can do nothing else.
#[derive(Clone, Debug)]
#[must_use]
pub struct ObjectDraft(());

/// The parameters of a tool: an open object that does not say so (spec 04 §3.1).
#[derive(Clone, Debug, Default)]
pub struct Params {
    members: Members,
}

#[derive(Clone, Debug, Default)]
struct Notes {
    description: Option<Json>,
    title: Option<Json>,
    default: Option<Json>,
    examples: Option<Json>,
}

#[derive(Clone, Debug, Default)]
struct Members {
    properties: Object,
    required: BTreeSet<Arc<str>>,
}

/// The building blocks of the author DSL.
impl Schema {
    /// Parameters of a tool.
    pub fn params() -> Params {
        Params::default()
    }

    /// A string.
    pub fn string() -> Draft<ScalarForm> {
        scalar("string")
    }

    /// A number.
    pub fn number() -> Draft<ScalarForm> {
        scalar("number")
    }

    /// A number without fraction.
    pub fn integer() -> Draft<ScalarForm> {
        scalar("integer")
    }

    /// True or false.
    pub fn boolean() -> Draft<ScalarForm> {
        scalar("boolean")
    }

    /// Null.
    pub fn null() -> Draft<ScalarForm> {
        scalar("null")
    }

    /// An array of `items`.
    pub fn array(items: impl Into<Node>) -> Draft<ArrayForm> {
        Draft::new(ArrayForm { items: items.into() })
    }

    /// An object; say [`closed`](ObjectDraft::closed) or [`open`](ObjectDraft::open) next.
    pub fn object() -> ObjectDraft {
        ObjectDraft(())
    }

    /// Any JSON.
    pub fn any() -> Draft<AnyForm> {
        Draft::new(AnyForm(()))
    }

    /// Exactly one of at least two branches.
    pub fn one_of<N: Into<Node>>(branches: impl IntoIterator<Item = N>) -> Draft<UnionForm> {
        Draft::new(UnionForm { branches: branches.into_iter().map(|branch| branch.into().0).collect() })
    }
}

fn scalar(name: &'static str) -> Draft<ScalarForm> {
    Draft::new(ScalarForm { name, allowed: None, constant: None })
}

impl ObjectDraft {
    /// No other properties than the declared ones.
    pub fn closed(self) -> Draft<ObjectForm> {
        Draft::new(ObjectForm { open: false, members: Members::default() })
    }

    /// Other properties are allowed, with any JSON.
    pub fn open(self) -> Draft<ObjectForm> {
        Draft::new(ObjectForm { open: true, members: Members::default() })
    }
}

impl<F> Draft<F> {
    fn new(form: F) -> Self {
        Self { form, notes: Notes::default() }
    }

    /// What the node is for; models read it.
    #[must_use]
    pub fn description(mut self, text: impl Into<Arc<str>>) -> Self {
        self.notes.description = Some(Json::String(text.into()));
        self
    }

    /// A short name.
    #[must_use]
    pub fn title(mut self, text: impl Into<Arc<str>>) -> Self {
        self.notes.title = Some(Json::String(text.into()));
        self
    }

    /// The value that stands for an absent one. It is told, never applied.
    #[must_use]
    pub fn default(mut self, value: impl Into<Json>) -> Self {
        self.notes.default = Some(value.into());
        self
    }

    /// Example values.
    #[must_use]
    pub fn examples<V: Into<Json>>(mut self, values: impl IntoIterator<Item = V>) -> Self {
        self.notes.examples = Some(values.into_iter().map(Into::into).collect::<Vec<Json>>().into());
        self
    }
}

impl<F> Draft<F>
where
    Self: Into<Node>,
{
    /// The asserted schema.
    ///
    /// # Errors
    /// What the assert refuses: literals of another type, an empty enumeration, a union of fewer than two
    /// branches, and the like, anywhere in the node.
    pub fn build(self) -> Result<Schema, JsonSchemaError> {
        let node: Node = self.into();
        node.build()
    }
}

impl Node {
    /// The asserted schema, as [`Draft::build`].
    ///
    /// # Errors
    /// What the assert refuses.
    pub fn build(self) -> Result<Schema, JsonSchemaError> {
        Schema::new(&self.0)
    }
}

impl Draft<ScalarForm> {
    /// The only values allowed.
    #[must_use]
    pub fn enumeration<V: Into<Json>>(mut self, values: impl IntoIterator<Item = V>) -> Self {
        self.form.allowed = Some(values.into_iter().map(Into::into).collect::<Vec<Json>>().into());
        self
    }

    /// The only value allowed.
    #[must_use]
    pub fn constant(mut self, value: impl Into<Json>) -> Self {
        self.form.constant = Some(value.into());
        self
    }
}

impl Draft<ObjectForm> {
    /// Declares a property that has to be there. A name given again replaces the earlier one.
    #[must_use]
    pub fn required(mut self, name: impl Into<Arc<str>>, node: impl Into<Node>) -> Self {
        self.form.members.add(name.into(), node.into(), true);
        self
    }

    /// Declares a property that may be absent. A name given again replaces the earlier one.
    #[must_use]
    pub fn optional(mut self, name: impl Into<Arc<str>>, node: impl Into<Node>) -> Self {
        self.form.members.add(name.into(), node.into(), false);
        self
    }
}

impl Params {
    /// Declares a parameter that has to be given. A name given again replaces the earlier one.
    #[must_use]
    pub fn required(mut self, name: impl Into<Arc<str>>, node: impl Into<Node>) -> Self {
        self.members.add(name.into(), node.into(), true);
        self
    }

    /// Declares a parameter that may be absent. A name given again replaces the earlier one.
    #[must_use]
    pub fn optional(mut self, name: impl Into<Arc<str>>, node: impl Into<Node>) -> Self {
        self.members.add(name.into(), node.into(), false);
        self
    }

    /// The asserted schema.
    ///
    /// # Errors
    /// What the assert refuses, as [`Draft::build`].
    pub fn build(self) -> Result<Schema, JsonSchemaError> {
        let mut product = Object::new();
        product.insert("type", "object");
        self.members.put_into(&mut product, true);
        Schema::new(&product.into())
    }
}

impl Members {
    fn add(&mut self, name: Arc<str>, node: Node, required: bool) {
        if required {
            self.required.insert(Arc::clone(&name));
        } else {
            self.required.remove(&name);
        }
        self.properties.insert(name, node.0);
    }

    /// `required` follows the order of the properties.
    fn put_into(self, product: &mut Object, even_if_empty: bool) {
        let required: Vec<Arc<str>> =
            self.properties.keys().filter(|name| self.required.contains(*name)).cloned().collect();
        if even_if_empty || !self.properties.is_empty() {
            product.insert("properties", self.properties);
        }
        if !required.is_empty() {
            product.insert("required", required);
        }
    }
}

impl Notes {
    fn put_into(self, product: &mut Object) {
        let notes = [
            ("description", self.description),
            ("title", self.title),
            ("default", self.default),
            ("examples", self.examples),
        ];
        for (key, value) in notes {
            if let Some(value) = value {
                product.insert(key, value);
            }
        }
    }
}

/// The beginning of a product that has a type.
fn typed(name: &'static str, notes: Notes) -> Object {
    let mut product = Object::new();
    product.insert("type", name);
    notes.put_into(&mut product);
    product
}

impl From<Draft<ScalarForm>> for Node {
    fn from(draft: Draft<ScalarForm>) -> Self {
        let mut product = typed(draft.form.name, draft.notes);
        for (key, value) in [("enum", draft.form.allowed), ("const", draft.form.constant)] {
            if let Some(value) = value {
                product.insert(key, value);
            }
        }
        Self(product.into())
    }
}

impl From<Draft<ArrayForm>> for Node {
    fn from(draft: Draft<ArrayForm>) -> Self {
        let mut product = typed("array", draft.notes);
        product.insert("items", draft.form.items.0);
        Self(product.into())
    }
}

impl From<Draft<ObjectForm>> for Node {
    fn from(draft: Draft<ObjectForm>) -> Self {
        let mut product = typed("object", draft.notes);
        product.insert("additionalProperties", draft.form.open);
        draft.form.members.put_into(&mut product, false);
        Self(product.into())
    }
}

impl From<Draft<UnionForm>> for Node {
    fn from(draft: Draft<UnionForm>) -> Self {
        let mut product = Object::new();
        product.insert("oneOf", draft.form.branches);
        draft.notes.put_into(&mut product);
        Self(product.into())
    }
}

impl From<Draft<AnyForm>> for Node {
    fn from(draft: Draft<AnyForm>) -> Self {
        let mut product = Object::new();
        draft.notes.put_into(&mut product);
        Self(product.into())
    }
}

/// The schema as a node of a larger one.
impl From<&Schema> for Node {
    fn from(schema: &Schema) -> Self {
        Self(schema.json().clone())
    }
}
