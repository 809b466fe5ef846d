//! What a URL and its `URLSearchParams` share: the text of the one, the list of the other.
//!
//! Both are engine values, so that they count as the program's memory. The text is parsed again whenever it is asked about;
//! a URL's text has a bound, which keeps that short.

use rquickjs::{Array, CString, Ctx, FromJs, IntoJs, Object, Result, String as JsString, Value};
use url::{ParseError, Url, form_urlencoded};

use super::class::Call;

/// Bytes that the text of a URL may have.
pub(super) const MAX_URL: usize = 2 << 20;

/// An object without prototype: `href`, if there is a URL; `list`, if there are search parameters.
#[derive(Clone)]
pub(super) struct Query<'js>(Object<'js>);

impl<'js> FromJs<'js> for Query<'js> {
    fn from_js(_: &Ctx<'js>, value: Value<'js>) -> Result<Self> {
        Object::from_value(value).map(Self)
    }
}

impl<'js> IntoJs<'js> for Query<'js> {
    fn into_js(self, _: &Ctx<'js>) -> Result<Value<'js>> {
        Ok(self.0.into_value())
    }
}

impl<'js> Query<'js> {
    pub(super) fn of_url(ctx: &Ctx<'js>, url: &Url) -> Result<Self> {
        let this = Self(Object::new_proto(ctx.clone(), None)?);
        this.0.set("href", url.as_str())?;
        Ok(this)
    }

    pub(super) fn of_list(ctx: &Ctx<'js>, list: List<'js>) -> Result<Self> {
        let this = Self(Object::new_proto(ctx.clone(), None)?);
        this.set_list(list)?;
        Ok(this)
    }

    /// The URL; nothing, for search parameters that belong to none.
    pub(super) fn url(&self) -> Result<Option<Url>> {
        let Some(href) = self.0.get::<_, Option<JsString<'js>>>("href")? else { return Ok(None) };
        Ok(Url::parse(href.to_cstring()?.as_str()).ok())
    }

    /// The text of the URL, as the engine has it.
    pub(super) fn href(&self) -> Result<Value<'js>> {
        self.0.get("href")
    }

    /// Replaces the URL, not the list. One that its text does not mean changes nothing.
    pub(super) fn set_url(&self, call: &Call<'_, 'js>, url: Url) -> Result<()> {
        if url.as_str().len() > MAX_URL {
            return Err(call.range_error(TOO_LONG));
        }
        match settled(url) {
            Some(url) => self.0.set("href", url.as_str()),
            None => Ok(()),
        }
    }

    /// The list; that of the URL's query, if it was not asked for before.
    pub(super) fn list(&self) -> Result<List<'js>> {
        if let Some(list) = self.0.get::<_, Option<Array<'js>>>("list")? {
            return Ok(List(list));
        }
        self.read_list()
    }

    /// Makes the list again from the URL's query, after that was replaced.
    pub(super) fn refresh_list(&self) -> Result<()> {
        if self.0.get::<_, Option<Array<'js>>>("list")?.is_some() {
            self.read_list()?;
        }
        Ok(())
    }

    fn read_list(&self) -> Result<List<'js>> {
        let list = List::new(self.0.ctx())?;
        if let Some(query) = self.url()?.as_ref().and_then(Url::query) {
            list.parse(query)?;
        }
        self.set_list(list.clone())?;
        Ok(list)
    }

    pub(super) fn set_list(&self, list: List<'js>) -> Result<()> {
        self.0.set("list", list.0)
    }
}

/// Names and values in turn, as engine strings, in an array without prototype.
#[derive(Clone)]
pub(super) struct List<'js>(Array<'js>);

impl<'js> List<'js> {
    pub(super) fn new(ctx: &Ctx<'js>) -> Result<Self> {
        let list = Array::new(ctx.clone())?;
        list.as_object().set_prototype(None)?;
        Ok(Self(list))
    }

    /// How many pairs there are.
    pub(super) fn len(&self) -> usize {
        self.0.len() / 2
    }

    /// Adds a pair. The texts are copied, so that the list weighs what it says.
    pub(super) fn push(&self, name: &str, value: &str) -> Result<()> {
        let ctx = self.0.ctx();
        let (name, value) = (JsString::from_str(ctx.clone(), name)?, JsString::from_str(ctx.clone(), value)?);
        self.push_pair((name, value))
    }

    pub(super) fn push_pair(&self, (name, value): (JsString<'js>, JsString<'js>)) -> Result<()> {
        let end = self.len() * 2;
        self.0.set(end, name)?;
        self.0.set(end + 1, value)
    }

    /// Adds the pairs of a query, without its question mark.
    pub(super) fn parse(&self, query: &str) -> Result<()> {
        form_urlencoded::parse(query.as_bytes()).try_for_each(|(name, value)| self.push(&name, &value))
    }

    pub(super) fn pair(&self, at: usize) -> Result<(JsString<'js>, JsString<'js>)> {
        Ok((self.0.get(at * 2)?, self.0.get(at * 2 + 1)?))
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = Result<(JsString<'js>, JsString<'js>)>> {
        (0..self.len()).map(|at| self.pair(at))
    }

    /// Whether the pair has this name, and this value if one is given.
    pub(super) fn is(
        (name, value): &(JsString<'js>, JsString<'js>),
        wanted: &CString<'js>,
        and: Option<&CString<'js>>,
    ) -> Result<bool> {
        if name.clone().to_cstring()?.as_str() != wanted.as_str() {
            return Ok(false);
        }
        match and {
            None => Ok(true),
            Some(and) => Ok(value.clone().to_cstring()?.as_str() == and.as_str()),
        }
    }
}

/// Parses the text of a URL, relative to another if there is one.
pub(super) fn parse_url(text: &str, base: Option<&str>) -> std::result::Result<Url, String> {
    if text.len() > MAX_URL || base.is_some_and(|base| base.len() > MAX_URL) {
        return Err(TOO_LONG.to_owned());
    }
    let parsed = match base {
        None => Url::parse(text).map_err(|error| of(text, error)),
        Some(base) => {
            let base = Url::parse(base).map_err(|error| format!("invalid base URL: {}", of(base, error)))?;
            base.join(text).map_err(|error| of(text, error))
        }
    }?;
    if parsed.as_str().len() > MAX_URL {
        return Err(TOO_LONG.to_owned());
    }
    settled(parsed).ok_or_else(|| format!("invalid URL (it can't be written down): {text}"))
}

/// The URL that the text of this one means. It differs for some that no text means, such as a name and password without host.
fn settled(mut url: Url) -> Option<Url> {
    for _ in 0..SETTLING {
        let again = Url::parse(url.as_str()).ok()?;
        if again == url {
            return Some(url);
        }
        url = again;
    }
    None
}

const SETTLING: usize = 4;

fn of(text: &str, error: ParseError) -> String {
    format!("invalid URL ({error}): {text}")
}

const TOO_LONG: &str = "a URL has 2097152 bytes at most";
