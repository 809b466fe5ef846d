//! `URL` and `URLSearchParams`.

use dsh_json::{Json, array};

use super::{check, check_thrown};

#[tokio::test]
async fn a_url_has_parts() {
    let parts = "href origin protocol username password host hostname port pathname search hash";
    let of = |url: &str| format!("const u = new URL({url}); return '{parts}'.split(' ').map(k => u[k]);");
    check(&[
        (
            &of("'HTTP://us%65r:p@ss@EXAMPLE.com:8080/a/../b c?q=1 2#f g'"),
            array![
                "http://us%65r:p%40ss@example.com:8080/b%20c?q=1%202#f%20g",
                "http://example.com:8080",
                "http:",
                "us%65r",
                "p%40ss",
                "example.com:8080",
                "example.com",
                "8080",
                "/b%20c",
                "?q=1%202",
                "#f%20g",
            ],
        ),
        (
            &of("'https://example.com:443'"),
            array![
                "https://example.com/",
                "https://example.com",
                "https:",
                "",
                "",
                "example.com",
                "example.com",
                "",
                "/",
                "",
                ""
            ],
        ),
        (
            &of("'mailto:a@b?subject=x'"),
            array!["mailto:a@b?subject=x", "null", "mailto:", "", "", "", "", "", "a@b", "?subject=x", ""],
        ),
        (&of("'file:///a/../b'"), array!["file:///b", "null", "file:", "", "", "", "", "", "/b", "", ""]),
        (
            &of("'http://[::1]:80/?#'"),
            array!["http://[::1]/?#", "http://[::1]", "http:", "", "", "[::1]", "[::1]", "", "/", "", ""],
        ),
        (
            &of("'https://münchen.example/ä?ö#ü'"),
            array![
                "https://xn--mnchen-3ya.example/%C3%A4?%C3%B6#%C3%BC",
                "https://xn--mnchen-3ya.example",
                "https:",
                "",
                "",
                "xn--mnchen-3ya.example",
                "xn--mnchen-3ya.example",
                "",
                "/%C3%A4",
                "?%C3%B6",
                "#%C3%BC",
            ],
        ),
        (
            &of("'../c?d', 'http://h/a/b/x'"),
            array!["http://h/a/c?d", "http://h", "http:", "", "", "h", "h", "", "/a/c", "?d", ""],
        ),
        (
            &of("'//o/p', new URL('https://h/')"),
            array!["https://o/p", "https://o", "https:", "", "", "o", "o", "", "/p", "", ""],
        ),
        (&of("'a:b', undefined"), array!["a:b", "null", "a:", "", "", "", "", "", "b", "", ""]),
        (
            &of("'http://h/\\ud800'"),
            array!["http://h/%EF%BF%BD", "http://h", "http:", "", "", "h", "h", "", "/%EF%BF%BD", "", ""],
        ),
    ])
    .await;
}

#[tokio::test]
async fn a_url_is_a_text() {
    check(&[
        (
            "const u = new URL('http://h/a'); return [String(u), u.toJSON(), JSON.stringify({ u }), `${u}`];",
            array!["http://h/a", "http://h/a", r#"{"u":"http://h/a"}"#, "http://h/a"],
        ),
        ("[URL.length, URL.canParse.length, Object.keys(URL.prototype).length]", array![1, 1, 14]),
    ])
    .await;
}

#[tokio::test]
async fn what_is_no_url_is_said() {
    check_thrown(&[
        ("new URL('foo')", "TypeError: invalid URL (relative URL without a base): foo"),
        ("new URL('')", "TypeError: invalid URL (relative URL without a base): "),
        ("new URL('http://a b/')", "TypeError: invalid URL (invalid international domain name): http://a b/"),
        ("new URL('http://h:99999')", "TypeError: invalid URL (invalid port number): http://h:99999"),
        (
            "new URL('x', 'nope')",
            "TypeError: invalid base URL: invalid URL (relative URL without a base): nope",
        ),
        ("new URL('x', 'mailto:a')", "TypeError: invalid URL (relative URL with a cannot-be-a-base base): x"),
        ("new URL()", "TypeError: argument 1 is missing"),
        ("new URL('http://h').href = 'x'", "TypeError: invalid URL (relative URL without a base): x"),
        ("new URL('http://h/' + 'x'.repeat(2 ** 21))", "TypeError: a URL has 2097152 bytes at most"),
        (
            "new URL('http://h/').pathname = 'x'.repeat(2 ** 21)",
            "RangeError: a URL has 2097152 bytes at most",
        ),
        (
            "new URL('http://h/').searchParams.append('x', '€'.repeat(2 ** 18))",
            "RangeError: a URL has 2097152 bytes at most",
        ),
        ("URL.prototype.href", "TypeError: this method is for instances of URL only"),
        (
            "URL.prototype.toString.call(new URLSearchParams())",
            "TypeError: this method is for instances of URL only",
        ),
    ])
    .await;
    check(&[
        (
            "[URL.canParse('a:b'), URL.canParse('b'), URL.canParse('b', 'http://h'), URL.canParse('b', 'c')]",
            array![true, false, true, false],
        ),
        (
            "[URL.parse('b', 'http://h/a')?.href, URL.parse('b'), URL.parse('a:b') instanceof URL]",
            array!["http://h/b", Json::Null, true],
        ),
    ])
    .await;
}

#[tokio::test]
async fn parts_can_be_set() {
    let set = |part: &str, text: &str| {
        format!("const u = new URL('http://u:p@h:81/a?b#c'); u.{part} = {text}; return u.href;")
    };
    for (part, text, href) in [
        ("href", "'https://o/'", "https://o/"),
        ("protocol", "'https'", "https://u:p@h:81/a?b#c"),
        ("protocol", "'mailto'", "http://u:p@h:81/a?b#c"),
        ("username", "'ä'", "http://%C3%A4:p@h:81/a?b#c"),
        ("password", "''", "http://u@h:81/a?b#c"),
        ("host", "'o:82'", "http://u:p@o:82/a?b#c"),
        ("host", "'a b'", "http://u:p@h:81/a?b#c"),
        ("hostname", "'o'", "http://u:p@o:81/a?b#c"),
        ("port", "''", "http://u:p@h/a?b#c"),
        ("port", "80", "http://u:p@h/a?b#c"),
        ("port", "'x'", "http://u:p@h:81/a?b#c"),
        ("pathname", "'x y'", "http://u:p@h:81/x%20y?b#c"),
        ("search", "'d e'", "http://u:p@h:81/a?d%20e#c"),
        ("search", "''", "http://u:p@h:81/a#c"),
        ("hash", "'#x'", "http://u:p@h:81/a?b#x"),
        ("hash", "''", "http://u:p@h:81/a?b"),
    ] {
        check(&[(&set(part, text), href.into())]).await;
    }
    check_thrown(&[("new URL('a:b').origin = 'x'", "TypeError: no setter for property")]).await;
}

#[tokio::test]
async fn a_url_and_its_parameters_are_linked() {
    check(&[
        ("const u = new URL('http://h/?a=1&b=2'); const p = u.searchParams; return [p === u.searchParams, p.get('b'), p.size];", array![true, "2", 2]),
        ("const u = new URL('http://h/?a=1#f'); u.searchParams.append('ü', 'x y&'); return [u.href, u.search];", array!["http://h/?a=1&%C3%BC=x+y%26#f", "?a=1&%C3%BC=x+y%26"]),
        ("const u = new URL('http://h/?a=1'); u.searchParams.delete('a'); return u.href;", "http://h/".into()),
        ("const u = new URL('http://h/?a=1'); const p = u.searchParams; u.search = '?c=3'; return [p.toString(), p === u.searchParams];", array!["c=3", true]),
        ("const u = new URL('http://h/?a=1'); const p = u.searchParams; u.href = 'http://o/?d=4'; return p.get('d');", "4".into()),
        ("const u = new URL('http://h/?b=1&a=2'); u.searchParams.sort(); u.searchParams.set('c', 3); return u.search;", "?a=2&b=1&c=3".into()),
        // The query of a URL is as it was written until the parameters are changed.
        ("const u = new URL('http://h/?a=b c'); const before = u.search; u.searchParams.set('a', 'b c'); return [before, u.search];", array!["?a=b%20c", "?a=b+c"]),
        ("const p = new URL('http://h/?a=1').searchParams; p.append('b', 2); return p.toString();", "a=1&b=2".into()),
        ("const u = new URL('data:x  ?a=1'); u.searchParams.delete('a'); return u.href.endsWith('?');", false.into()),
    ])
    .await;
}

#[tokio::test]
async fn parameters_are_made_of_many_things() {
    let text = |init: &str| format!("new URLSearchParams({init}).toString()");
    for (init, expected) in [
        ("", ""),
        ("undefined", ""),
        ("null", "null="),
        ("'?a=1&b=2'", "a=1&b=2"),
        ("'??a=1'", "%3Fa=1"),
        ("'a&b=&=c&&%41=%zz+%FF'", "a=&b=&=c&A=%25zz+%EF%BF%BD"),
        ("'a=\\ud800'", "a=%EF%BF%BD"),
        ("{ a: 1, 'b c': [1, 2], '€': null }", "a=1&b+c=1%2C2&%E2%82%AC=null"),
        ("[['a', 1], ['a', 2]]", "a=1&a=2"),
        ("new Map([['x', 'y']])", "x=y"),
        ("[new Set(['k', 'v'])]", "k=v"),
        ("(function* () { yield ['g', 1]; })()", "g=1"),
        ("new URLSearchParams('q=1&q=2')", "q=1&q=2"),
        ("'*-._~ !'", "*-._%7E+%21="),
        ("5", "5="),
    ] {
        check(&[(&text(init), expected.into())]).await;
    }
    check_thrown(&[
        ("new URLSearchParams([['a']])", "TypeError: each item must be a pair: a name and a value"),
        ("new URLSearchParams([['a', 'b', 'c']])", "TypeError: each item must be a pair: a name and a value"),
        ("new URLSearchParams(['ab'])", "TypeError: each item must be a pair: a name and a value"),
        ("new URLSearchParams([5])", "TypeError: each item must be a pair: a name and a value"),
        ("new URLSearchParams({ [Symbol.iterator]: 1 })", "TypeError: Symbol.iterator must be a function"),
        (
            "new URLSearchParams({ [Symbol.iterator]() { return 1; } })",
            "TypeError: what can be iterated over gives objects from its iterator",
        ),
        ("new URLSearchParams({ a: Symbol() })", "TypeError: cannot convert symbol to string"),
        ("new URLSearchParams({ get a() { throw new RangeError('mine'); } })", "RangeError: mine"),
    ])
    .await;
}

#[tokio::test]
async fn parameters_are_a_list() {
    let with = |body: &str| format!("const p = new URLSearchParams('b=1&a=2&b=3'); {body}");
    check(&[
        (&with("return [p.get('b'), p.get('x'), p.getAll('b'), p.getAll('x'), p.size];"), array!["1", Json::Null, array!["1", "3"], array![], 3]),
        (&with("return [p.has('a'), p.has('x'), p.has('b', '3'), p.has('b', '2'), p.has('b', undefined)];"), array![true, false, true, false, true]),
        (&with("p.append('c', 4); return String(p);"), "b=1&a=2&b=3&c=4".into()),
        (&with("p.delete('b'); return String(p);"), "a=2".into()),
        (&with("p.delete('b', '3'); return String(p);"), "b=1&a=2".into()),
        (&with("p.delete('b', undefined); return String(p);"), "a=2".into()),
        (&with("p.set('b', 9); return String(p);"), "b=9&a=2".into()),
        (&with("p.set('n', 9); return String(p);"), "b=1&a=2&b=3&n=9".into()),
        (&with("p.sort(); return String(p);"), "a=2&b=1&b=3".into()),
        ("const p = new URLSearchParams([['\\ufffd', 1], ['😀', 2], ['é', 3], ['e', 4]]); p.sort(); return [...p.values()];", array!["4", "3", "2", "1"]),
        (&with("return [[...p], [...p.keys()], [...p.values()], [...p.entries()].length];"),
            array![array![array!["b", "1"], array!["a", "2"], array!["b", "3"]], array!["b", "a", "b"], array!["1", "2", "3"], 3]),
        (&with("const seen = []; p.forEach(function (v, k, o) { seen.push(k + v, o === p, this.t); }, { t: 1 }); return seen;"),
            array!["b1", true, 1, "a2", true, 1, "b3", true, 1]),
        (&with("const seen = []; for (const [k] of p) { seen.push(k); if (seen.length === 1) p.append('late', 1); } return seen;"), array!["b", "a", "b", "late"]),
        (&with("const seen = []; p.forEach((v, k) => { seen.push(k); p.delete('a'); }); return seen;"), array!["b", "b"]),
        (&with("const i = p[Symbol.iterator](); return [i.next(), Object.prototype.toString.call(i), i[Symbol.iterator]() === i, i.map(([k]) => k).toArray()];"),
            array![dsh_json::object! { "value": array!["b", "1"], "done": false }, "[object URLSearchParams Iterator]", true, array!["a", "b"]]),
        (&with("return p.entries === p[Symbol.iterator];"), true.into()),
        (&with("return Object.fromEntries(p);"), dsh_json::object! { "b": "3", "a": "2" }),
    ])
    .await;
    check_thrown(&[
        ("new URLSearchParams().get()", "TypeError: argument 1 is missing"),
        ("new URLSearchParams().append('a')", "TypeError: argument 2 is missing"),
        ("new URLSearchParams().forEach(1)", "TypeError: forEach needs a function"),
        (
            "URLSearchParams.prototype.get.call({}, 'a')",
            "TypeError: this method is for instances of URLSearchParams only",
        ),
        ("URLSearchParams.prototype.size", "TypeError: this method is for instances of URLSearchParams only"),
        (
            "new URLSearchParams().keys().next.call({})",
            "TypeError: this method is for instances of URLSearchParams Iterator only",
        ),
    ])
    .await;
}

/// A URL is kept as text and parsed again when it is asked about, so its text must mean itself.
#[tokio::test]
async fn the_text_of_a_url_means_itself() {
    for url in [
        "web+demo:/.//not-a-host/",
        "file:////a//b",
        "a:/..//b",
        "data:x  y  #z",
        "http://h/a%2fb/%2e%2e/c;d=1?%00#\\x7f",
        "non-special://u:p@h:1/p?q#f",
        "blob:https://h:8/x",
        "http://1.2.3/",
        "javascript:alert(1) ?a #b",
    ] {
        check(&[(&format!("const u = new URL('{url}'); return [u.href === new URL(u.href).href, u.href === u.toString()];"), array![true, true])]).await;
    }
}

#[tokio::test]
async fn a_part_that_no_text_means_changes_nothing() {
    check(&[
        ("const u = new URL('a://u:p@h/x'); u.host = ''; return u.href;", "a://u:p@h/x".into()),
        (
            "const u = new URL('file:///C:/x'); u.host = 'h'; return new URL(u.href).href === u.href;",
            true.into(),
        ),
        (
            "const u = new URL('file://h/'); u.pathname = 'C|'; return new URL(u.href).href === u.href;",
            true.into(),
        ),
        ("const u = new URL('file://h/C|/x'); return new URL(u.href).href === u.href;", true.into()),
    ])
    .await;
}
