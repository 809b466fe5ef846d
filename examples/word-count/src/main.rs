//! `word-count TEXT`: a harness on the current directory, with the plugin, and one call.

use std::error::Error;
use std::process::ExitCode;

use dsh_example_word_count::row;
use dsh_harness::{Environment, Harness};
use dsh_tools_core::{CallInput, object};

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]
async fn main() -> ExitCode {
    match count(std::env::args().nth(1).unwrap_or_default()).await {
        Ok(shown) => {
            println!("{shown}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("word-count: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn count(words: String) -> Result<String, Box<dyn Error>> {
    let harness = Harness::builder(Environment::of_process()?).row(row()).build()?;
    let call = CallInput::new("call-1", "word_count", object! { "text": words });
    let result = harness.host().tools.execute(call).await;
    harness.shut_down().await;
    Ok(result.content.iter().filter_map(|block| block.as_text()).collect())
}
