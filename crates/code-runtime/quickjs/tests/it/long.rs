//! Programs that need much stack to be read, in both places.

use dsh_code_runtime::contract::{TestHost, request};
use dsh_code_runtime::{CodeRuntime as _, Limits};
use dsh_json::Json;
use dsh_quickjs::QuickJs;

use crate::kit::in_workers;

/// A worker gets no second thread, so what it reads with has to be its own.
#[tokio::test]
async fn a_program_of_a_thousand_lines_runs_in_both_places() {
    let mut program = String::from("let n = 0;\n");
    program.push_str(&"n += 1 + 2 * 3 - 4;\n".repeat(1_000));
    program.push_str("return n;");
    for runtime in [QuickJs::on_threads(Limits::default()), in_workers(Limits::default())] {
        let request = request(&program);
        let host = TestHost::of(&request);
        let outcome = runtime.run(request, &host).await.unwrap();
        assert_eq!(outcome.result, Ok(Some(Json::from(3_000))));
        runtime.close().await;
    }
}
