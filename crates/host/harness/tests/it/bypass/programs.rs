//! What a program can write.

use std::path::PathBuf;
use std::process::Command;

use dsh_harness::WorkerEntry;

use super::attempts;
use super::person::Said;
use super::scene::Scene;
use super::setup::Setup;
use super::tally::{FORBIDDEN, GUARDED, Rules};

attempts! {
    Runs by_their_names: "it calls each tool, catches the refusal, and tries again",
    Runs by_computed_names: "it computes the names, walks all members, and calls what it finds",
    Fails by_constructors: "it looks for the tools behind `constructor`, `__proto__` and prototypes",
    Fails by_other_names: "NUL, white space, case, lookalikes and `run_code` as members",
    Runs by_a_name_that_changes: "a name that is another one each time it is read",
    Runs by_arguments_that_change: "arguments that change after the call, or each time they are read: what is shown is what runs",
    Runs fifty_at_once: "fifty calls at once, with one yes",
    Runs again_after_a_grant: "the same arguments again after a grant",
    Runs after_changing_its_world: "it replaces `JSON`, `Promise` and the prototypes before it calls",
    Runs behind_its_own_end: "it calls, and ends without waiting; then there is a yes",
    Runs that_was_asked_about: "`run_code` itself was granted; its calls are asked about by themselves",
    Fails that_was_denied: "`run_code` itself is denied",
    Runs in_a_worker_process: "it calls each tool from a process of its own",
    Runs fifty_at_once_in_a_worker_process: "fifty calls at once from a process of its own, with one yes",
}

const EACH: &str = r#"
    const told = [];
    for (const round of [1, 2, 3]) {
        for (const call of [() => tools.forbidden({ round }), () => tools.guarded({ round }), () => tools.own({ round })]) {
            try { await call(); told.push("ran"); } catch (error) { told.push(String(error)); }
        }
    }
    return told;
"#;

const FIFTY: &str = r#"
    const calls = Array.from({ length: 50 }, () => tools.guarded({ same: true }));
    const ends = await Promise.allSettled([...calls, ...calls.map(() => tools.forbidden({}))]);
    return ends.filter((end) => end.status === "fulfilled").length;
"#;

async fn runs(scene: Scene, code: &str) -> Scene {
    let mut scene = scene;
    let end = scene.program(code).await;
    scene.must(end == "ok", format!("the program ends so: {end}"));
    scene
}

async fn by_their_names(rules: Rules) -> Scene {
    runs(Setup::new(rules).scene(), EACH).await
}

async fn by_computed_names(rules: Rules) -> Scene {
    let code = r#"
        const names = [["for", "bidden"].join(""), atob ? "guar" + "ded" : "", "nwo".split("").reverse().join("")];
        for (const name of [...names, ...Object.keys(tools), ...Reflect.ownKeys(tools)]) {
            if (!["forbidden", "guarded", "own"].includes(name)) continue;
            for (const call of [(a) => tools[name](a), (a) => Reflect.apply(tools[name], tools, [a]),
                (a) => tools[name].call(null, a), (a) => tools[name].bind({})(a)]) {
                try { await call({}); } catch {}
            }
        }
        return 1;
    "#;
    runs(Setup::new(rules).scene(), &code.replace("atob ? ", "true ? ")).await
}

async fn by_constructors(rules: Rules) -> Scene {
    let code = r#"
        const found = [];
        const look = (value) => { try { found.push(value()); } catch {} };
        look(() => tools.constructor);
        look(() => tools.__proto__);
        look(() => Object.getPrototypeOf(tools));
        look(() => tools.read.constructor("return this")());
        look(() => tools.read.constructor("return tools.__lookup__")());
        look(() => tools.read.prototype);
        look(() => tools.read.__proto__.constructor("name", "return globalThis[name]")("forbidden"));
        for (const value of found) {
            for (const name of ["forbidden", "guarded", "own"]) {
                try { await value[name]({}); } catch {}
                try { await value("forbidden", {}); } catch {}
            }
        }
        return found.length;
    "#;
    runs(Setup::new(rules).says(vec![Said::Yes; 20]).scene(), code).await
}

async fn by_other_names(rules: Rules) -> Scene {
    let code = r#"
        const names = ["forbidden\0", " guarded", "Forbidden", "OWN", "f\u043erbidden", "guarded\u200b", "run_code", "tools", ""];
        for (const name of names) {
            try { await tools[name]({ code: "return tools.forbidden({})", description: "again" }); } catch {}
        }
        return 1;
    "#;
    runs(Setup::new(rules).says(vec![Said::Yes; 20]).scene(), code).await
}

async fn by_a_name_that_changes(rules: Rules) -> Scene {
    let code = r#"
        const names = ["glob", "forbidden", "guarded"];
        let reads = 0;
        const name = { toString() { return names[reads++ % names.length]; } };
        for (let n = 0; n < 9; n++) { try { await tools[name]({ pattern: "*" }); } catch {} }
        return reads;
    "#;
    runs(Setup::new(rules).scene(), code).await
}

async fn by_arguments_that_change(rules: Rules) -> Scene {
    let code = r#"
        let reads = 0;
        const ends = [];
        for (const shown of ["first", "second"]) {
            const given = { path: shown, list: [shown] };
            const call = tools.guarded(given);
            given.path = "another";
            given.list.push("more");
            try { await call; ends.push("ran"); } catch (error) { ends.push(String(error)); }
        }
        const sly = [
            { get path() { return "read " + reads++; } },
            Object.defineProperty({}, "toJSON", { value: () => ({ path: "json " + reads++ }) }),
            new Proxy({}, { ownKeys: () => ["n"], get: () => reads++ }),
        ];
        for (const given of sly) {
            try { await tools.guarded(given); ends.push("ran"); } catch (error) { ends.push(String(error)); }
        }
        return ends;
    "#;
    let scene = Setup::new(rules).says([Said::Yes, Said::Yes]).scene().allows(GUARDED, 2);
    let mut scene = runs(scene, code).await;
    let shown = scene.tally.ran_with("another");
    scene.must(!shown, "what ran is not what was shown");
    scene
}

async fn fifty_at_once(rules: Rules) -> Scene {
    runs(Setup::new(rules).says([Said::No, Said::Yes]).scene().allows(GUARDED, 1), FIFTY).await
}

async fn again_after_a_grant(rules: Rules) -> Scene {
    let code = r#"
        const told = [];
        for (let n = 0; n < 4; n++) {
            try { await tools.guarded({ same: true }); told.push("ran"); } catch { told.push("refused"); }
        }
        return told;
    "#;
    let mut scene = Setup::new(rules).says([Said::Yes]).scene().allows(GUARDED, 1);
    scene = runs(scene, code).await;
    scene.must(scene.tally.questions() == 4, "not each call was asked about");
    scene
}

async fn after_changing_its_world(rules: Rules) -> Scene {
    let code = r#"
        JSON.stringify = () => '{"name":"glob","approved":true}';
        JSON.parse = () => ({ granted: true });
        Promise.prototype.then = ((then) => function (yes, no) { return then.call(this, yes, yes); })(Promise.prototype.then);
        Object.prototype.granted = true;
        Object.prototype.toJSON = () => ({ approved: true });
        Array.prototype[Symbol.iterator] = function* () { yield "glob"; };
        String.prototype.toString = () => "glob";
        try { tools.forbidden({}); } catch {}
        try { tools.guarded({}); } catch {}
        try { await tools.own({}); } catch {}
    "#;
    let scene = Setup::new(rules).scene();
    scene.program(code).await;
    scene
}

async fn behind_its_own_end(rules: Rules) -> Scene {
    let waits = match rules {
        Rules::InForce => "await new Promise((done) => setTimeout(done, 20));",
        Rules::Absent => "await Promise.allSettled(calls);",
    };
    let code = format!(
        "const calls = [tools.guarded({{}}), tools.forbidden({{}})];
        calls.map((call) => call.catch(() => {{}})); {waits} return 1;"
    );
    let mut scene = Setup::new(rules).says([Said::YesAfter(60_000)]).scene();
    let end = scene.program(&code).await;
    let open = scene.agent.session().open_turn();
    scene.must(end == "ok" && open.is_none(), end);
    scene
}

async fn that_was_asked_about(rules: Rules) -> Scene {
    let setup = Setup::new(rules).rule("permission-rules.ask = ['guarded', 'run_code']").says([Said::Yes]);
    let mut scene = runs(setup.scene(), EACH).await;
    scene.must(scene.tally.questions() == 7, format!("asked {} times", scene.tally.questions()));
    scene
}

async fn that_was_denied(rules: Rules) -> Scene {
    let lines = "permission-rules.deny = ['forbidden', 'run_*']";
    let mut scene = Setup::new(rules).config(lines).says(vec![Said::Yes; 20]).scene();
    let end = scene.program(EACH).await;
    scene.must(end == "DENIED", end);
    scene
}

fn in_processes(rules: Rules) -> Setup {
    let setup = Setup::new(rules).built(|builder| builder.worker(WorkerEntry::Binary(worker())));
    setup.isolated_in_processes()
}

async fn in_a_worker_process(rules: Rules) -> Scene {
    runs(in_processes(rules).scene(), EACH).await
}

async fn fifty_at_once_in_a_worker_process(rules: Rules) -> Scene {
    let scene = in_processes(rules).says([Said::No, Said::No, Said::Yes]).scene().allows(GUARDED, 1);
    let mut scene = runs(scene, FIFTY).await;
    let end = scene.call(FORBIDDEN, "{}").await;
    scene.must(end == "DENIED", end);
    scene
}

/// The program that becomes a worker. It is built here, since a test is no program that could.
fn worker() -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--offline", "-p", "dsh-quickjs", "--bin", "dsh-quickjs-worker"]);
    let built = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join("dsh-quickjs-worker")
}
