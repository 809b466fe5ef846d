//! What `console` shows of instances of ours, as Node does, only shorter.

use rquickjs::{Object, String as JsString, Value};

use super::Saved;
use super::class::Known;
use super::query::Query;
use crate::engine::realm::quietly;

/// The inside of an instance.
pub(in crate::engine) enum Shown<'js> {
    Url {
        href: Value<'js>,
    },
    /// The first pairs, and how many more there are.
    Params {
        pairs: Vec<(JsString<'js>, JsString<'js>)>,
        hidden: usize,
    },
}

impl<'js> Saved<'js> {
    /// What is to be shown of an object, if it is an instance of a class of ours that has something to show.
    pub(in crate::engine) fn shown(&self, object: &Object<'js>, limit: usize) -> Option<Shown<'js>> {
        if let Some(held) = self.held(Known::Url, object) {
            let query: Query<'js> = quietly(object.ctx(), held.as_object()?.get("query"))?;
            return Some(Shown::Url { href: quietly(object.ctx(), query.href())? });
        }
        let query: Query<'js> = quietly(object.ctx(), self.held(Known::UrlSearchParams, object)?.get())?;
        let list = quietly(object.ctx(), query.list())?;
        let pairs = list.pairs().take(limit).filter_map(Result::ok).collect();
        Some(Shown::Params { pairs, hidden: list.len().saturating_sub(limit) })
    }
}
