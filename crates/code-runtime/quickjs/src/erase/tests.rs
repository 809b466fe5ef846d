//! What is erased, what is refused, and what must not change its meaning.

use std::fmt::Write as _;

use super::*;

fn erased(program: &str) -> Result<String, Failure> {
    erase(program, room::AT_HAND)
}

/// Rows of TypeScript and what is left of it; a row of spaces may be shorter in the expectation.
fn check(typescript: &str, javascript: &str) {
    let erased = erased(typescript).unwrap_or_else(|failure| panic!("{typescript}: {failure}"));
    let squeezed = |text: &str| text.split(' ').collect::<String>();
    assert_eq!(squeezed(&erased), squeezed(javascript), "{typescript}\n{erased}");
    assert_eq!(erased.chars().count(), typescript.chars().count(), "{typescript}");
    assert_eq!(erased.lines().count(), typescript.lines().count(), "{typescript}");
}

#[test]
fn types_become_spaces() {
    check("const x: number = 1", "const x = 1");
    check("let a!: string, b: B<C>[] = []", "let a , b = []");
    check(
        "function f<T>(a?: T, ...b: T[]): asserts a is T { return a! }",
        "function f (a , ...b ) { return a }",
    );
    check("function f(this: Window, a) {}", "function f( a) {}");
    check("function f(this: Window) {}", "function f( ) {}");
    check("f<string>(x as any as Y, y satisfies Z)", "f (x , y )");
    check("new Map<string, number[]>()", "new Map ()");
    check("a?.b!.c![0]!", "a?.b .c [0]");
    check("for (const x of y as T[]) {}", "for (const x of y ) {}");
    check("try {} catch (e: unknown) {}", "try {} catch (e ) {}");
    check("const f = async <T,>(a: T): Promise<T> => a", "const f = async (a ) => a");
    check("return (x as { a: 1 }).a", "return (x ).a");
    check("const { a, b }: { a: 1, b: 2 } = x", "const { a, b } = x");
    check("const x = <T,>(y: T) => y", "const x = (y ) => y");
    check("tag<T>`x`", "tag `x`");
    check("type A = 'x' | 'y'; interface B { a: A }", "; ; ".trim_end());
    check("declare const x: number; declare function f(): void; declare class C {}", "; ; ;");
    check("declare enum E { A } declare namespace N { const x: 1 } declare global {}", "; ; ;");
    check("function f(a: string): void\nfunction f(a: any) {}", ";\nfunction f(a ) {}");
}

#[test]
fn classes_lose_their_types() {
    check("abstract class A<T> extends B<T> implements C, D {}", " class A extends B {}");
    check("class A implements B {}", "class A {}");
    check("const A = class implements B {}", "const A = class {}");
    check(
        "class A { public a: number = 1; private static readonly b?: string; #c!: X }",
        "class A { ; a = 1; ; static b; ; #c; }",
    );
    check(
        "class A { declare a: string; [k: string]: any; abstract b(): void; c(): void; c() {} }",
        "class A { ; ; ; ; c() {} }",
    );
    check(
        "class A { protected async m<T>(a: T): Promise<T> {} private get x(): number { return 1 } }",
        "class A { ; async m (a ) {} ; get x() { return 1 } }",
    );
    check("class A { m?() {} }", "class A { m () {} }");
    check("class A { readonly = 1; public() {} declare }", "class A { readonly = 1; public() {} declare }");
    check("class A { constructor(a: string) { super() } }", "class A { constructor(a ) { super() } }");
    check("class A { 'a'?: X; ['b']!: Y }", "class A { 'a'; ; ['b']; }");
}

/// Spec 06 §15.4: what a type held apart stays apart.
#[test]
fn statements_do_not_join() {
    check("a = b as T\n[1]", "a = b ; \n[1]");
    check("a = b satisfies T\n(c)", "a = b ; \n(c)");
    check("a = b as T // why\n`c`", "a = b ; // why\n`c`");
    check("a = b as T\n+ c", "a = b \n+ c");
    check("a = (b as T)\n[1]", "a = (b )\n[1]");
    check("a = b!\n[1]", "a = b \n[1]");
    check("x = y\ntype A = 1\n(z)", "x = y\n; \n(z)");
    check("x = y\ninterface A {}\n[z]", "x = y\n; \n[z]");
    check("class A { a = 1\n public ['b'] = 2 }", "class A { a = 1\n ; ['b'] = 2 }");
    check("class A { a = 1\n public *b() {} }", "class A { a = 1\n ; *b() {} }");
    check("class A { get: T\n b() {} }", "class A { get; \n b() {} }");
    check("class A { static?: T\n b() {} }", "class A { static; \n b() {} }");
    check("class A { a = b as T\n ['c'] = 1 }", "class A { a = b ; \n ['c'] = 1 }");
    check("class A { a = 1\n declare b: T\n ['c'] = 2 }", "class A { a = 1\n ; \n ['c'] = 2 }");
}

#[test]
fn arrows_keep_their_parentheses_where_lines_may_not_break() {
    check("f = (a): {\n b: 1\n} => a", "f = (a \n \n) => a");
    check("f = (a)\n: T => a", "f = (a \n ) => a");
    check("f = async <\n T\n>(a) => a", "f = async ( \n \n a) => a");
    check("return <T>\n(a: T) => a", "return ( \n a ) => a");
    check("f = (a: {\n b: 1\n}) => a", "f = (a \n \n ) => a");
    check("f = (): a is\n B => true", "f = ( \n ) => true");
}

#[test]
fn characters_of_any_width_keep_their_columns() {
    let erased = erased("let größe: 'äöü😀' = 1; throw größe").unwrap();
    assert_eq!(erased, "let größe         = 1; throw größe");
}

#[test]
fn a_program_is_the_body_of_an_async_function() {
    for program in [
        "return await x",
        "",
        "for await (const x of y) {}",
        "'use strict'; return 1",
        "// only\n/* comment */",
    ] {
        assert_eq!(erased(program).as_deref(), Ok(program));
    }
}

#[test]
fn what_means_code_is_refused_with_its_place() {
    refuses("let a = 1;\n  enum E { A }", "an enum can't be erased", "line 2, column 3");
    refuses("const enum E { A }", "an enum can't be erased", "line 1, column 1");
    refuses("namespace N { export const a = 1 }", "a namespace can't be erased", "line 1, column 1");
    refuses("class A { constructor(private a: string) {} }", "a parameter property", "line 1, column 23");
    refuses("class A { constructor(readonly a) {} }", "a parameter property", "line 1, column 23");
    refuses("const a = <T>b;", "`<T>value` can't be erased", "line 1, column 11");
    refuses("@d class A {}", "a decorator", "line 1, column 1");
    refuses("class A { @d m() {} }", "a decorator", "line 1, column 11");
    refuses("class A { accessor a = 1 }", "`accessor` is not supported", "line 1, column 11");
    refuses("import fs from 'fs'", "can't import", "line 1, column 1");
    refuses("const fs = await import('fs')", "can't import", "line 1, column 18");
    refuses("import fs = require('fs')", "can't import", "line 1, column 1");
    refuses("export const a = 1", "can't export", "line 1, column 1");
    refuses("export default 1", "can't export", "line 1, column 1");
    refuses("a <!--b", "`<!--` is ambiguous", "line 1, column 3");
    refuses("a\0b", "NUL character", "line 1, column 2");
    refuses("const a = 1;\nconst b = ;", "Unexpected token", "line 2, column 11");
    refuses("}); (function () {", "Unexpected token", "line 1, column 1");
    refuses("return 1 } {", "Unexpected token", "line 1, column 10");
}

fn refuses(program: &str, what: &str, at: &str) {
    let failure = erased(program).expect_err(program);
    assert_eq!(failure.kind, FailureKind::Syntax);
    assert!(failure.message.contains(what) && failure.message.contains(at), "{program}: {}", failure.message);
}

/// Whatever recurses in the parser or behind it has a token for each level, so it has the stack it needs, or is refused.
#[test]
fn no_nesting_overflows_the_stack() {
    let opened = [
        "(",
        "[",
        "{",
        "!",
        "-",
        "~",
        "typeof ",
        "await ",
        "new ",
        "void ",
        "x=>",
        "x?",
        "x?y:",
        "x+",
        "x**",
        "x??",
        "x&&",
        "x=",
        "x.",
        "x()",
        "()",
        "x[0]",
        "[0]",
        "if(1)",
        "if(1){}else ",
        "for(;;)",
        "while(1)",
        "do ",
        "x:",
        "`${",
        "`${`",
        "f<",
        "x as ",
        "let x:A<",
        "let x:[",
        "let x:(a:",
        "type A=B extends C?",
        "type A=",
        "type A=keyof ",
        "type A=()=>",
        "async()=>",
        "class{a=",
        "class A extends ",
        "function(){",
        "({a:",
        "[...",
        "({...",
        "switch(1){case 1:",
        "try{",
        "throw ",
        "yield ",
        "a<b>",
        "x!",
        "x`",
        "x?.",
        "x,",
        "/x/",
        "\"x\"+",
        "{a:",
        "[{\"a\":",
        "'\\",
        "//",
        "/*",
        "<T>",
        "x/1`",
        "if(x)/`/;",
        "1/('`/",
    ];
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(move || {
            for part in opened {
                // The parser looks ahead from each of these, which takes quadratic time.
                let most = if part == "f<" { 200 } else { 20_000 };
                for repeats in [200, most] {
                    let text = part.repeat(repeats);
                    let _ = erased(&text);
                    let _ = erased(&format!("x = {text}"));
                }
            }
        })
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn large_programs_of_usual_shape_are_read() {
    let mut data = String::new();
    for n in 0..60_000 {
        let _ = writeln!(data, "{{\"id\": {n}, \"tags\": [\"a(b\", 'c`d'], \"n\": -{n}}},");
    }
    let text = format!("const rows = [{data}]; return rows.length");
    assert!(text.len() > 2 << 20);
    assert!(erased(&text).is_ok());
    let prose = "It's (not) a \"program\" [1] - `x`; if a < b / c!\n".repeat(100_000);
    assert!(erased(&format!("/* {prose} */ return 1")).is_ok());
}
