//! Messages as JSON texts, and back, field by field.

use std::sync::Arc;
use std::time::Duration;

use dsh_json::{Array, Json, Object, object};

use super::{Call, FromEngine, Job, ToEngine};
use crate::lossless::MAX_DEPTH;
use crate::{ErrorClass, Failure, FailureKind, Limits, Namespace, Used};

impl ToEngine {
    /// The message as one JSON text.
    pub fn encode(&self) -> String {
        let message = match self {
            Self::Run(job) => object! {
                "frame": "run",
                "program": Json::String(Arc::clone(&job.program)),
                "namespaces": list(job.namespaces.iter().map(namespace_json)),
                "limits": limits_json(&job.limits),
            },
            Self::Reply { id, answer: Ok(value) } => {
                object! { "frame": "reply", "id": *id, "value": value.clone() }
            }
            Self::Reply { id, answer: Err(message) } => {
                object! { "frame": "reply", "id": *id, "message": message.as_str() }
            }
            Self::Cancel => object! { "frame": "cancel" },
        };
        message.to_text()
    }

    /// The message of that text; `None` for whatever is none.
    pub fn decode(text: &str) -> Option<Self> {
        let message = parse(text)?;
        let fields = Fields(message.as_object()?);
        match fields.text("frame")? {
            "run" => {
                let fields = fields.only(&["frame", "program", "namespaces", "limits"])?;
                Some(Self::Run(Job {
                    program: fields.shared("program")?,
                    namespaces: fields
                        .get("namespaces")?
                        .as_array()?
                        .iter()
                        .map(namespace)
                        .collect::<Option<_>>()?,
                    limits: limits(fields.get("limits")?)?,
                }))
            }
            "reply" => {
                let fields = fields.only(&["frame", "id", "value", "message"])?;
                let answer = match (fields.get("value"), fields.get("message")) {
                    (Some(value), None) => Ok(value.clone()),
                    (None, Some(message)) => Err(message.as_str()?.to_owned()),
                    (Some(_), Some(_)) | (None, None) => return None,
                };
                Some(Self::Reply { id: fields.id()?, answer })
            }
            "cancel" => fields.only(&["frame"]).map(|_| Self::Cancel),
            _ => None,
        }
    }
}

impl FromEngine {
    /// The message as one JSON text.
    pub fn encode(&self) -> String {
        let message = match self {
            Self::Call(Call { id, namespace, name, args }) => object! {
                "frame": "call",
                "id": *id,
                "namespace": Json::String(Arc::clone(namespace)),
                "name": Json::String(Arc::clone(name)),
                "args": args.clone(),
            },
            Self::Log { text } => object! { "frame": "log", "text": text.as_str() },
            Self::Done { result, used } => done_json(result, used.as_ref()),
        };
        message.to_text()
    }

    /// The message of that text; `None` for whatever is none. A `done` with a value and an error is the error.
    pub fn decode(text: &str) -> Option<Self> {
        let message = parse(text)?;
        let fields = Fields(message.as_object()?);
        match fields.text("frame")? {
            "call" => {
                let fields = fields.only(&["frame", "id", "namespace", "name", "args"])?;
                Some(Self::Call(Call {
                    id: fields.id()?,
                    namespace: fields.shared("namespace")?,
                    name: fields.shared("name")?,
                    args: fields.get("args")?.clone(),
                }))
            }
            "log" => {
                let fields = fields.only(&["frame", "text"])?;
                Some(Self::Log { text: fields.text("text")?.to_owned() })
            }
            "done" => {
                let fields = fields.only(&["frame", "value", "error", "used"])?;
                let result = match fields.get("error") {
                    None => Ok(fields.get("value").cloned()),
                    Some(error) => Err(failure(error)?),
                };
                let used = match fields.get("used") {
                    None => None,
                    Some(used) => Some(self::used(used)?),
                };
                Some(Self::Done { result, used })
            }
            _ => None,
        }
    }
}

fn done_json(result: &Result<Option<Json>, Failure>, used: Option<&Used>) -> Json {
    let mut done = Object::new();
    done.insert("frame", "done");
    match result {
        Ok(None) => {}
        Ok(Some(value)) => {
            done.insert("value", value.clone());
        }
        Err(Failure { kind, message }) => {
            done.insert("error", object! { "kind": kind.name(), "message": message.as_str() });
        }
    }
    if let Some(Used { busy, peak_memory, replies }) = used {
        let used =
            object! { "busyMs": milliseconds(*busy), "peakMemoryBytes": *peak_memory, "replies": *replies };
        done.insert("used", used);
    }
    done.into()
}

fn failure(error: &Json) -> Option<Failure> {
    let error = Fields(error.as_object()?).only(&["kind", "message"])?;
    let kind = FailureKind::named(error.text("kind")?).filter(|kind| engines_to_say(*kind))?;
    Some(Failure::new(kind, error.text("message")?))
}

fn used(used: &Json) -> Option<Used> {
    let used = Fields(used.as_object()?).only(&["busyMs", "peakMemoryBytes", "replies"])?;
    Some(Used {
        busy: Duration::from_millis(used.number("busyMs")?),
        peak_memory: used.number("peakMemoryBytes")?,
        replies: used.number("replies")?,
    })
}

/// Whether the kind is an engine's to report. The others are decided on the host's side.
fn engines_to_say(kind: FailureKind) -> bool {
    !matches!(kind, FailureKind::Check | FailureKind::Abort | FailureKind::Unavailable)
}

/// An object of which no more fields than those asked for are accepted.
#[derive(Clone, Copy)]
struct Fields<'a>(&'a Object);

impl<'a> Fields<'a> {
    fn only(self, names: &[&str]) -> Option<Self> {
        self.0.keys().all(|key| names.contains(&&**key)).then_some(self)
    }

    fn get(self, name: &str) -> Option<&'a Json> {
        self.0.get(name)
    }

    fn text(self, name: &str) -> Option<&'a str> {
        self.get(name)?.as_str()
    }

    fn shared(self, name: &str) -> Option<Arc<str>> {
        match self.get(name)? {
            Json::String(text) => Some(Arc::clone(text)),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => None,
        }
    }

    fn number(self, name: &str) -> Option<u64> {
        self.get(name)?.as_u64()
    }

    fn id(self) -> Option<u64> {
        self.number("id")
    }
}

/// A message is one level above the value in it.
fn parse(text: &str) -> Option<Json> {
    let limits = dsh_json::Limits { max_depth: MAX_DEPTH + 1, max_bytes: usize::MAX };
    Some(Json::parse_with(text, &limits).ok()?.value)
}

fn list(items: impl Iterator<Item = Json>) -> Json {
    Json::from(Array::from(items.collect::<Vec<_>>()))
}

fn namespace_json(namespace: &Namespace) -> Json {
    let functions = list(namespace.functions.iter().map(|name| Json::String(Arc::clone(name))));
    let global = Json::String(Arc::clone(&namespace.global));
    match &namespace.error_class {
        None => object! { "global": global, "functions": functions },
        Some(ErrorClass { name, member_name_property }) => object! {
            "global": global,
            "functions": functions,
            "errorClass": object! {
                "name": Json::String(Arc::clone(name)),
                "memberNameProperty": Json::String(Arc::clone(member_name_property)),
            },
        },
    }
}

fn namespace(value: &Json) -> Option<Namespace> {
    let fields = Fields(value.as_object()?).only(&["global", "functions", "errorClass"])?;
    let error_class = match fields.get("errorClass") {
        None => None,
        Some(class) => {
            let class = Fields(class.as_object()?).only(&["name", "memberNameProperty"])?;
            Some(ErrorClass {
                name: class.shared("name")?,
                member_name_property: class.shared("memberNameProperty")?,
            })
        }
    };
    let functions = fields.get("functions")?.as_array()?;
    Some(Namespace {
        global: fields.shared("global")?,
        functions: functions.iter().map(|name| name.as_str().map(Arc::from)).collect::<Option<_>>()?,
        error_class,
    })
}

fn limits_json(limits: &Limits) -> Json {
    object! {
        "maxWallMs": milliseconds(limits.max_wall),
        "maxComputeMs": milliseconds(limits.max_compute),
        "maxMemoryBytes": limits.max_memory_bytes,
        "maxOutputBytes": limits.max_output_bytes,
        "maxSubCalls": limits.max_sub_calls,
        "maxInFlightBytes": limits.max_in_flight_bytes,
    }
}

fn limits(value: &Json) -> Option<Limits> {
    let names =
        ["maxWallMs", "maxComputeMs", "maxMemoryBytes", "maxOutputBytes", "maxSubCalls", "maxInFlightBytes"];
    let fields = Fields(value.as_object()?).only(&names)?;
    let size = |name| usize::try_from(fields.number(name)?).ok();
    Some(Limits {
        max_wall: Duration::from_millis(fields.number("maxWallMs")?),
        max_compute: Duration::from_millis(fields.number("maxComputeMs")?),
        max_memory_bytes: size("maxMemoryBytes")?,
        max_output_bytes: size("maxOutputBytes")?,
        max_sub_calls: fields.number("maxSubCalls")?,
        max_in_flight_bytes: size("maxInFlightBytes")?,
    })
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
