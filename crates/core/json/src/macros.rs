//! Literals.

/// A [`Json`](crate::Json) object: `object! { "a": 1, (name): array![true] }`.
///
/// Keys are literals, or expressions in parentheses, that convert into `Arc<str>`; values convert into `Json`.
#[macro_export]
macro_rules! object {
    ($($key:tt : $value:expr),* $(,)?) => {
        $crate::Json::from(<$crate::Object as ::std::iter::FromIterator<
            (::std::sync::Arc<str>, $crate::Json),
        >>::from_iter([
            $((::std::convert::Into::into($key), ::std::convert::Into::into($value))),*
        ]))
    };
}

/// A [`Json`](crate::Json) array: `array![1, "x", object! {}]`. Elements convert into `Json`.
#[macro_export]
macro_rules! array {
    ($($value:expr),* $(,)?) => {
        $crate::Json::from($crate::Array::from(::std::vec![$($crate::Json::from($value)),*]))
    };
}
