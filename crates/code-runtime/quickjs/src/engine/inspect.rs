//! How `console` shows values: the form that Node's `inspect` has made familiar (spec 06 §8.5).
//!
//! Depth 4, 100 elements, 10,000 characters a string. Getters are named, not run; what a program overwrote is not asked. The whole
//! text has a bound, too, so that a wide value can't become a flood.

use rquickjs::function::This;
use rquickjs::object::Filter;
use rquickjs::{Atom, Function, Object, Type, Value};

use super::globals::Shown;
use super::realm::{Realm, length, quietly};

mod layout;
mod probes;

pub(super) use probes::Probes;

/// Levels of containers below the shown one.
const DEPTH: usize = 4;
/// Elements, entries or members of one list.
const ITEMS: usize = 100;
/// Characters of one string.
const CHARACTERS: usize = 10_000;
/// Bytes of the whole text, after which containers are only named.
const BYTES: usize = 1 << 20;

/// The text of one value.
pub(super) fn inspect<'js>(realm: &Realm<'js>, value: &Value<'js>) -> String {
    let mut view = View { realm, path: Vec::new(), circular: Vec::new(), indent: 0, deepest: 0, bytes: 0 };
    view.value(value, 0)
}

struct View<'a, 'js> {
    realm: &'a Realm<'js>,
    /// The containers around the shown part.
    path: Vec<Object<'js>>,
    /// Those that contain themselves, in the order of their numbers.
    circular: Vec<Object<'js>>,
    indent: usize,
    /// The level of the container that was shown last, which tells how nested a list is.
    deepest: usize,
    bytes: usize,
}

/// What stands around the entries of a container.
struct Frame {
    prefix: String,
    open: &'static str,
    close: &'static str,
    list: bool,
}

impl<'js> View<'_, 'js> {
    fn value(&mut self, value: &Value<'js>, level: usize) -> String {
        let text = match value.type_of() {
            Type::Undefined | Type::Uninitialized => "undefined".to_owned(),
            Type::Null => "null".to_owned(),
            Type::Bool => value.as_bool().unwrap_or_default().to_string(),
            Type::Float if value.as_float().is_some_and(|n| n == 0.0 && n.is_sign_negative()) => {
                "-0".to_owned()
            }
            Type::Int | Type::Float => self.primitive(value),
            Type::BigInt => self.primitive(value) + "n",
            Type::Symbol => self.symbol(value),
            Type::String => {
                let text = value.as_string().and_then(|text| self.realm.text(text).ok()).unwrap_or_default();
                self.string(&text, level)
            }
            Type::Proxy => {
                let target = value.as_proxy().and_then(|proxy| proxy.target().ok());
                return target
                    .map_or_else(|| "Proxy {}".to_owned(), |target| self.value(target.as_value(), level));
            }
            Type::Array
            | Type::Constructor
            | Type::Function
            | Type::Promise
            | Type::Exception
            | Type::Object
            | Type::Module
            | Type::Unknown => match value.as_object() {
                Some(object) => return self.object(object, level),
                None => "[unknown]".to_owned(),
            },
        };
        self.bytes += text.len();
        text
    }

    fn primitive(&self, value: &Value<'js>) -> String {
        self.realm.coerced(value.clone()).unwrap_or_default()
    }

    fn symbol(&self, value: &Value<'js>) -> String {
        let description = value.as_symbol().and_then(|symbol| symbol.description().ok());
        let text = description.and_then(|text| self.realm.text(text.as_string()?).ok()).unwrap_or_default();
        format!("Symbol({text})")
    }

    fn string(&self, text: &str, level: usize) -> String {
        let count = text.chars().count();
        let shown: String = text.chars().take(CHARACTERS).collect();
        let more = count.saturating_sub(CHARACTERS);
        let rest = match more {
            0 => String::new(),
            1 => "... 1 more character".to_owned(),
            _ => format!("... {more} more characters"),
        };
        // A long text of several lines is shown line by line.
        let lines = level > 0 && shown.len() > 16 && shown.len() + self.indent + 10 > layout::WIDTH;
        if lines && shown.trim_end_matches('\n').contains('\n') {
            let parts: Vec<_> = shown.split_inclusive('\n').map(layout::quoted).collect();
            return parts.join(&format!(" +\n{}", " ".repeat(self.indent + 2))) + &rest;
        }
        layout::quoted(&shown) + &rest
    }

    fn object(&mut self, object: &Object<'js>, level: usize) -> String {
        if self.path.contains(object) {
            let number = self.circular.iter().position(|known| known == object).unwrap_or_else(|| {
                self.circular.push(object.clone());
                self.circular.len() - 1
            });
            return format!("[Circular *{}]", number + 1);
        }
        let class = self.realm.class_name(object);
        if level > DEPTH || self.bytes > BYTES {
            let name = if object.is_array() { "Array".to_owned() } else { class_or_null(class.as_deref()) };
            return format!("[{name}]");
        }
        self.path.push(object.clone());
        self.deepest = level;
        let (frame, entries) = self.entries(object, class.as_deref(), level);
        self.path.pop();
        let mut prefix = frame.prefix;
        if let Some(number) = self.circular.iter().position(|known| known == object) {
            let mark = format!("<ref *{}>", number + 1);
            prefix = if prefix.is_empty() { mark } else { format!("{mark} {prefix}") };
        }
        if entries.is_empty() {
            let body = format!("{}{}", frame.open, frame.close);
            return match (prefix.is_empty(), frame.open.is_empty()) {
                (true, _) => body,
                (false, true) => prefix,
                (false, false) => format!("{prefix} {body}"),
            };
        }
        let (open, close) = if frame.open.is_empty() { ("{", "}") } else { (frame.open, frame.close) };
        let nested = self.deepest - level;
        let text = layout::arrange(entries, &prefix, open, close, frame.list, nested, self.indent);
        self.bytes += text.len();
        text
    }

    /// What a container is called, and its parts. An empty bracket stands for one that is named only, such as a function.
    fn entries(&mut self, object: &Object<'js>, class: Option<&str>, level: usize) -> (Frame, Vec<String>) {
        let realm = self.realm;
        let named = |prefix: String| Frame { prefix, open: "", close: "", list: false };
        let mut entries = Vec::new();
        let mut skip = 0;
        let frame = if object.is_array() {
            let prefix = match class {
                Some("Array") => String::new(),
                name => format!("{}({})", class_or_null(name), object.as_array().map_or(0, length)),
            };
            skip = self.elements(object, &mut entries, level);
            Frame { prefix, open: "[", close: "]", list: true }
        } else if object.is_function() {
            named(self.function(object, class))
        } else if realm.is_error(object) {
            named(self.error(object))
        } else if object.get_prototype().is_none_or(|prototype| prototype == realm.object_prototype) {
            let prefix = if class == Some("Object") { "" } else { "[Object: null prototype]" };
            Frame { prefix: prefix.to_owned(), open: "{", close: "}", list: false }
        } else if let Some(size) = realm.probes.map_size(object) {
            self.map(object, &mut entries, level);
            Frame { prefix: format!("{}({size})", class_or_null(class)), open: "{", close: "}", list: false }
        } else if let Some(size) = realm.probes.set_size(object) {
            self.set(object, &mut entries, level);
            Frame { prefix: format!("{}({size})", class_or_null(class)), open: "{", close: "}", list: false }
        } else if let Some(text) = realm.probes.date(object).or_else(|| realm.probes.pattern(object)) {
            named(text)
        } else if let Some(count) = realm.probes.typed_length(object) {
            skip = self.elements(object, &mut entries, level);
            Frame { prefix: format!("{}({count})", class_or_null(class)), open: "[", close: "]", list: true }
        } else if let Some(promise) = object.as_promise() {
            entries.push(match promise.state() {
                rquickjs::promise::PromiseState::Pending => "<pending>".to_owned(),
                rquickjs::promise::PromiseState::Resolved => match promise.result::<Value<'js>>() {
                    Some(Ok(value)) => self.indented(|view| view.value(&value, level + 1)),
                    Some(Err(_)) | None => "<unknown>".to_owned(),
                },
                rquickjs::promise::PromiseState::Rejected => "<rejected>".to_owned(),
            });
            Frame { prefix: class_or_null(class), open: "{", close: "}", list: false }
        } else {
            self.instance(object, &mut entries, level);
            Frame { prefix: class_or_null(class), open: "{", close: "}", list: false }
        };
        self.properties(object, skip, &mut entries, level);
        (frame, entries)
    }

    /// The elements of a list; how many of its first keys they are.
    fn elements(&mut self, object: &Object<'js>, entries: &mut Vec<String>, level: usize) -> usize {
        let keys: Vec<_> = keys(object).iter().map_while(index).collect();
        let total = object.as_array().map_or(keys.len(), length);
        let mut next = 0;
        for key in &keys {
            if entries.len() >= ITEMS {
                break;
            }
            if *key > next {
                entries.push(holes(*key - next));
            }
            if entries.len() < ITEMS {
                let value =
                    quietly(object.ctx(), object.get::<_, Value<'js>>(u32::try_from(*key).unwrap_or(0)));
                entries.push(match value {
                    Some(value) => self.indented(|view| view.value(&value, level + 1)),
                    None => "<unknown>".to_owned(),
                });
                next = key + 1;
            }
        }
        if entries.len() < ITEMS && next < total && keys.last().is_none_or(|last| *last < next) {
            entries.push(holes(total - next));
            next = total;
        }
        if next < total {
            entries.push(more(total - next));
        }
        keys.len()
    }

    fn map(&mut self, object: &Object<'js>, entries: &mut Vec<String>, level: usize) {
        let pairs = self.realm.probes.map_entries(object, ITEMS);
        for (key, value) in pairs.shown {
            let text = self.indented(|view| {
                let key = view.value(&key, level + 1);
                format!("{key} => {}", view.value(&value, level + 1))
            });
            entries.push(text);
        }
        entries.extend((pairs.hidden > 0).then(|| more(pairs.hidden)));
    }

    fn set(&mut self, object: &Object<'js>, entries: &mut Vec<String>, level: usize) {
        let members = self.realm.probes.set_entries(object, ITEMS);
        for (member, _) in members.shown {
            let text = self.indented(|view| view.value(&member, level + 1));
            entries.push(text);
        }
        entries.extend((members.hidden > 0).then(|| more(members.hidden)));
    }

    /// What an instance of one of the globals' classes holds.
    fn instance(&mut self, object: &Object<'js>, entries: &mut Vec<String>, level: usize) {
        match self.realm.saved.shown(object, ITEMS) {
            None => {}
            Some(Shown::Url { href }) => entries.push(format!("href: {}", self.value(&href, level + 1))),
            Some(Shown::Params { pairs, hidden }) => {
                for (name, value) in pairs {
                    let name = self.value(name.as_value(), level + 1);
                    entries.push(format!("{name} => {}", self.value(value.as_value(), level + 1)));
                }
                entries.extend((hidden > 0).then(|| more(hidden)));
            }
        }
    }

    fn properties(&mut self, object: &Object<'js>, skip: usize, entries: &mut Vec<String>, level: usize) {
        let (symbols, error) = (self.realm.probes.symbols(object), self.realm.is_error(object));
        for key in keys(object).into_iter().skip(skip).chain(symbols) {
            if self.bytes > BYTES {
                entries.push("...".to_owned());
                return;
            }
            let name = self.key(&key);
            if error && matches!(name.as_str(), "name" | "message" | "stack") {
                continue;
            }
            let text = match self.realm.probes.accessor(object, &key) {
                Some(label) => label.to_owned(),
                None => match quietly(object.ctx(), object.get::<_, Value<'js>>(key)) {
                    Some(value) => self.indented(|view| view.value(&value, level + 1)),
                    None => "<unknown>".to_owned(),
                },
            };
            self.bytes += name.len();
            entries.push(format!("{name}: {text}"));
        }
    }

    fn key(&self, key: &Value<'js>) -> String {
        let Some(text) = key.as_string() else { return format!("[{}]", self.symbol(key)) };
        let text = self.realm.text(text).unwrap_or_default();
        let mut bytes = text.bytes();
        let plain =
            bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || matches!(first, b'_' | b'$'))
                && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'));
        if plain { text } else { layout::quoted(&text) }
    }

    fn function(&self, object: &Object<'js>, class: Option<&str>) -> String {
        let name = self.realm.own_text(object, "name").unwrap_or_default();
        if self.realm.probes.is_class(object) {
            return if name.is_empty() {
                "[class (anonymous)]".to_owned()
            } else {
                format!("[class {name}]")
            };
        }
        let sort = class.unwrap_or("Function");
        if name.is_empty() { format!("[{sort} (anonymous)]") } else { format!("[{sort}: {name}]") }
    }

    fn error(&self, object: &Object<'js>) -> String {
        let head = self.realm.thrown_text(object.as_value());
        let stack = self.realm.property_text(object, "stack").unwrap_or_default();
        let frames: Vec<_> = stack.lines().map(str::trim).filter(|line| line.starts_with("at ")).collect();
        if frames.is_empty() {
            return format!("[{head}]");
        }
        let indent = " ".repeat(self.indent + 4);
        frames.iter().take(10).fold(head, |text, frame| text + "\n" + &indent + frame)
    }

    fn indented<T>(&mut self, show: impl FnOnce(&mut Self) -> T) -> T {
        self.indent += 2;
        let shown = show(self);
        self.indent -= 2;
        shown
    }
}

/// Enumerable own keys that are texts.
fn keys<'js>(object: &Object<'js>) -> Vec<Value<'js>> {
    object
        .own_keys::<Atom<'js>>(Filter::new().string().enum_only())
        .filter_map(|key| key.and_then(|key| key.to_value()).ok())
        .collect()
}

fn index(key: &Value<'_>) -> Option<usize> {
    let text = key.as_string()?.to_string().ok()?;
    let index: u32 = text.parse().ok()?;
    (index.to_string() == text).then(|| usize::try_from(index).unwrap_or(usize::MAX))
}

fn class_or_null(class: Option<&str>) -> String {
    class.unwrap_or("Object: null prototype").to_owned()
}

fn holes(count: usize) -> String {
    if count == 1 { "<1 empty item>".to_owned() } else { format!("<{count} empty items>") }
}

fn more(count: usize) -> String {
    if count == 1 { "... 1 more item".to_owned() } else { format!("... {count} more items") }
}

/// Calls a saved method on an object; an exception is `None`.
fn call<'js, R: rquickjs::FromJs<'js>>(method: &Function<'js>, object: &Object<'js>) -> Option<R> {
    quietly(object.ctx(), method.call::<_, R>((This(object.clone()),)))
}
