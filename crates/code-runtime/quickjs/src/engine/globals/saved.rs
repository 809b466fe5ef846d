//! The parts of the language that the globals are made of, saved before the program runs.

use rquickjs::atom::PredefinedAtom;
use rquickjs::function::This;
use rquickjs::{Constructor, Ctx, Function, IntoJs, Object, Result, Value};

use super::class::Classes;

/// Constructors, methods and getters of the engine's own; what a program overwrites is not this.
pub(in crate::engine) struct Saved<'js> {
    pub(super) buffer: BufferParts<'js>,
    pub(super) view: ViewParts<'js>,
    pub(super) map: CollectionParts<'js>,
    pub(super) set: CollectionParts<'js>,
    pub(super) weak_map: WeakMapParts<'js>,
    pub(super) date: Constructor<'js>,
    pub(super) date_time: Function<'js>,
    pub(super) pattern: Constructor<'js>,
    pub(super) pattern_source: Function<'js>,
    /// By name; `Error` is the first.
    pub(super) errors: Vec<(&'static str, Constructor<'js>)>,
    pub(super) dom_exception: Constructor<'js>,
    dom_exception_prototype: Object<'js>,
    /// `Object`, which puts a primitive into an object.
    pub(super) object: Function<'js>,
    /// `Object.hasOwn`.
    pub(super) has_own: Function<'js>,
    pub(super) concat: Function<'js>,
    pub(super) iterator_prototype: Object<'js>,
    /// What an object is that has one of these among its prototypes.
    pub(super) kinds: Vec<(Object<'js>, Kind<'js>)>,
    pub(super) classes: Classes<'js>,
}

/// What an object is inside.
#[derive(Clone)]
pub(super) enum Kind<'js> {
    Map,
    Set,
    Date,
    Pattern,
    Buffer,
    /// A typed array or a `DataView`.
    View,
    /// A primitive in an object; this is its `valueOf`.
    Boxed(Function<'js>),
    /// Of this class, which has no copies.
    Closed(&'static str),
}

/// Of `ArrayBuffer`.
pub(super) struct BufferParts<'js> {
    pub(super) make: Constructor<'js>,
    pub(super) bytes: Function<'js>,
    pub(super) max_bytes: Function<'js>,
    pub(super) resizable: Function<'js>,
    pub(super) detached: Function<'js>,
    pub(super) transfer: Function<'js>,
}

/// Of typed arrays and `DataView`.
pub(super) struct ViewParts<'js> {
    pub(super) is_view: Function<'js>,
    /// The name of a typed array's class; undefined for anything else.
    pub(super) typed_name: Function<'js>,
    pub(super) typed_length: Function<'js>,
    pub(super) typed: ViewGetters<'js>,
    pub(super) data: ViewGetters<'js>,
    pub(super) put: Function<'js>,
    pub(super) to_hex: Function<'js>,
    /// By name; `Uint8Array` is the first and `DataView` the last.
    pub(super) make: Vec<(&'static str, Constructor<'js>)>,
}

/// Where a view lies in its buffer.
pub(super) struct ViewGetters<'js> {
    pub(super) buffer: Function<'js>,
    pub(super) offset: Function<'js>,
    pub(super) bytes: Function<'js>,
}

/// Of `Map` or `Set`.
pub(super) struct CollectionParts<'js> {
    pub(super) make: Constructor<'js>,
    pub(super) each: Function<'js>,
    pub(super) put: Function<'js>,
}

/// Of `WeakMap`.
pub(super) struct WeakMapParts<'js> {
    pub(super) make: Constructor<'js>,
    pub(super) get: Function<'js>,
    pub(super) set: Function<'js>,
}

const ERRORS: [&str; 7] =
    ["Error", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"];
const VIEWS: [&str; 13] = [
    "Uint8Array",
    "Int8Array",
    "Uint8ClampedArray",
    "Int16Array",
    "Uint16Array",
    "Int32Array",
    "Uint32Array",
    "BigInt64Array",
    "BigUint64Array",
    "Float16Array",
    "Float32Array",
    "Float64Array",
    "DataView",
];
const BOXES: [&str; 3] = ["Boolean", "Number", "BigInt"];
const CLOSED: [&str; 5] = ["FinalizationRegistry", "SharedArrayBuffer", "Symbol", "WeakRef", "WeakSet"];

impl<'js> Saved<'js> {
    pub(in crate::engine) fn new(ctx: &Ctx<'js>) -> Result<Self> {
        let world = World::new(ctx)?;
        let (buffer, data) = (world.class("ArrayBuffer")?, world.class("DataView")?);
        let bytes = world.class("Uint8Array")?;
        let typed = bytes.prototype.get_prototype().unwrap_or_else(|| bytes.prototype.clone());
        let (map, set) = (world.class("Map")?, world.class("Set")?);
        let (date, pattern) = (world.class("Date")?, world.class("RegExp")?);
        let (weak_map, dom_exception) = (world.class("WeakMap")?, world.class("DOMException")?);
        let text = world.class("String")?;
        let mut kinds = vec![
            (map.prototype.clone(), Kind::Map),
            (set.prototype.clone(), Kind::Set),
            (date.prototype.clone(), Kind::Date),
            (pattern.prototype.clone(), Kind::Pattern),
            (buffer.prototype.clone(), Kind::Buffer),
            (typed.clone(), Kind::View),
            (data.prototype.clone(), Kind::View),
            (text.prototype.clone(), Kind::Boxed(text.prototype.get("valueOf")?)),
            (dom_exception.prototype.clone(), Kind::Closed("DOMException")),
            (weak_map.prototype.clone(), Kind::Closed("WeakMap")),
        ];
        for name in BOXES {
            let prototype = world.class(name)?.prototype;
            let value_of = prototype.get("valueOf")?;
            kinds.push((prototype, Kind::Boxed(value_of)));
        }
        for name in CLOSED {
            kinds.push((world.class(name)?.prototype, Kind::Closed(name)));
        }
        let iterator_prototype = world.class("Iterator")?.prototype;
        kinds.push((iterator_prototype.clone(), Kind::Closed("Iterator")));
        Ok(Self {
            view: ViewParts {
                is_view: buffer.constructor.get("isView")?,
                typed_name: world.getter(&typed, world.to_string_tag.clone())?,
                typed_length: world.getter(&typed, "length")?,
                put: typed.get("set")?,
                to_hex: bytes.prototype.get("toHex")?,
                typed: world.places(&typed)?,
                data: world.places(&data.prototype)?,
                make: world.constructors(&VIEWS)?,
            },
            buffer: BufferParts {
                bytes: world.getter(&buffer.prototype, "byteLength")?,
                max_bytes: world.getter(&buffer.prototype, "maxByteLength")?,
                resizable: world.getter(&buffer.prototype, "resizable")?,
                detached: world.getter(&buffer.prototype, "detached")?,
                transfer: buffer.prototype.get("transfer")?,
                make: buffer.constructor,
            },
            map: CollectionParts {
                each: map.prototype.get("forEach")?,
                put: map.prototype.get("set")?,
                make: map.constructor,
            },
            set: CollectionParts {
                each: set.prototype.get("forEach")?,
                put: set.prototype.get("add")?,
                make: set.constructor,
            },
            weak_map: WeakMapParts {
                get: weak_map.prototype.get("get")?,
                set: weak_map.prototype.get("set")?,
                make: weak_map.constructor,
            },
            date_time: date.prototype.get("getTime")?,
            date: date.constructor,
            pattern_source: world.getter(&pattern.prototype, "source")?,
            pattern: pattern.constructor,
            errors: world.constructors(&ERRORS)?,
            dom_exception_prototype: dom_exception.prototype,
            dom_exception: dom_exception.constructor,
            has_own: world.object.get("hasOwn")?,
            object: world.object,
            concat: text.prototype.get("concat")?,
            iterator_prototype,
            kinds,
            classes: Classes::default(),
        })
    }

    /// Whether an object is a `DOMException`, which is an error although the engine does not count it as one.
    pub(in crate::engine) fn is_dom_exception(&self, object: &Object<'js>) -> bool {
        prototypes(object).any(|prototype| prototype == self.dom_exception_prototype)
    }
}

/// The prototypes of an object that is no proxy, as far as they can be had without running the program's code, and not too many.
pub(super) fn prototypes<'js>(object: &Object<'js>) -> impl Iterator<Item = Object<'js>> {
    let plain = |object: Object<'js>| (!object.is_proxy()).then_some(object);
    std::iter::successors(object.get_prototype().and_then(plain), move |prototype| {
        prototype.get_prototype().and_then(plain)
    })
    .take(PROTOTYPES)
}

/// Levels of prototypes that are looked at.
const PROTOTYPES: usize = 100;

/// The engine's world before anything has happened in it.
struct World<'js> {
    globals: Object<'js>,
    object: Function<'js>,
    lookup_getter: Function<'js>,
    to_string_tag: Value<'js>,
}

struct Intrinsic<'js> {
    constructor: Constructor<'js>,
    prototype: Object<'js>,
}

impl<'js> World<'js> {
    fn new(ctx: &Ctx<'js>) -> Result<Self> {
        let globals = ctx.globals();
        let object: Function<'js> = globals.get("Object")?;
        let lookup_getter =
            object.get::<_, Object<'js>>(PredefinedAtom::Prototype)?.get("__lookupGetter__")?;
        let to_string_tag = globals.get::<_, Object<'js>>("Symbol")?.get("toStringTag")?;
        Ok(Self { globals, object, lookup_getter, to_string_tag })
    }

    fn class(&self, name: &str) -> Result<Intrinsic<'js>> {
        let constructor: Constructor<'js> = self.globals.get(name)?;
        let prototype = constructor.get(PredefinedAtom::Prototype)?;
        Ok(Intrinsic { constructor, prototype })
    }

    fn constructors<const N: usize>(
        &self,
        names: &[&'static str; N],
    ) -> Result<Vec<(&'static str, Constructor<'js>)>> {
        names.iter().map(|name| Ok((*name, self.globals.get(*name)?))).collect()
    }

    fn getter(&self, prototype: &Object<'js>, key: impl IntoJs<'js>) -> Result<Function<'js>> {
        self.lookup_getter.call((This(prototype.clone()), key))
    }

    fn places(&self, prototype: &Object<'js>) -> Result<ViewGetters<'js>> {
        Ok(ViewGetters {
            buffer: self.getter(prototype, "buffer")?,
            offset: self.getter(prototype, "byteOffset")?,
            bytes: self.getter(prototype, "byteLength")?,
        })
    }
}
