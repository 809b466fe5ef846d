//! What the program tells of itself on stderr: tracing, and panics in one line.

use std::io;
use std::panic::PanicHookInfo;

use anstream::{AutoStream, ColorChoice};
use anyhow::anyhow;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;

use crate::cli::Global;
use crate::exit::{Failure, usage};
use crate::output;

/// Sends tracing to stderr, warnings by default.
pub(crate) fn start_tracing(global: &Global) -> Result<(), Failure> {
    let level = match global.verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let colours = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
    let subscriber = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_ansi(colours)
        // It would tell stderr that stderr can't be written to, and panic over that.
        .log_internal_errors(false)
        .without_time()
        .with_max_level(level);
    match &global.log {
        None => subscriber.init(),
        Some(filter) => {
            let refused =
                |error| usage(anyhow!("bad value for --log: {error}; it takes filters such as `debug`"));
            let filter = EnvFilter::builder().parse(filter).map_err(refused)?;
            // The filter alone decides, so that it can also ask for more than warnings.
            subscriber.with_max_level(LevelFilter::TRACE).with_env_filter(filter).init();
        }
    }
    Ok(())
}

/// Panics of tools, presenters and observers are contained where they happen and become failed calls, so they are not
/// noise; one of the program itself is told in one line.
pub(crate) fn quiet_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let (words, place) = (words(panic), panic.location().map(ToString::to_string).unwrap_or_default());
        if std::thread::current().name() == Some("main") {
            output::error(&format!("internal error at {place}: {words}; this is a mistake in dsh"));
        } else {
            tracing::debug!(place, "a panic was contained: {words}");
        }
    }));
}

fn words(panic: &PanicHookInfo<'_>) -> String {
    panic.payload_as_str().unwrap_or("it panicked without words").to_owned()
}
