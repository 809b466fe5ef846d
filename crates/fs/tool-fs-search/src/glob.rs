//! The tool `glob` (spec 07 §7.2).

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use dsh_fs::GlobRequest;
use dsh_json::Json;
use dsh_json_schema::{LowerError, Params, Schema};
use dsh_llm::Content;
use dsh_tools_core::{CallView, Execution, Kind, ResultView, RunContext, StoredResult, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::{Access, shortcomings};
use crate::sample::{Sample, head, sample};
use crate::spill::{Paged, Rest};
use crate::{text, view};

/// Finds files by name.
pub(crate) struct Glob(pub(crate) Arc<Access>);

/// What a model may ask for; more reach is asked for beside it ([`Access::open`]).
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct GlobArgs {
    pattern: String,
    path: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GlobOutput {
    /// The directory that was searched, `.` for the working directory.
    root: Arc<str>,
    /// All files that match, the oldest change first.
    paths: Vec<Arc<str>>,
    /// What could not be searched; absent when everything was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<String>>,
}

impl Glob {
    fn sample<'a>(&self, output: &'a GlobOutput) -> Sample<'a> {
        let cap = self.0.config.glob_max_results.get();
        if self.0.config.sample_over_cap_glob_results {
            sample(&output.root, &output.paths, cap)
        } else {
            head(&output.paths, cap)
        }
    }
}

impl Tool for Glob {
    const NAME: &'static str = "glob";
    type Args = GlobArgs;
    type Output = GlobOutput;

    fn description(&self) -> Cow<'_, str> {
        text::GLOB_DESCRIPTION.into()
    }

    async fn run(&self, args: GlobArgs, cx: &RunContext) -> Result<GlobOutput, ToolError> {
        if args.pattern.trim().is_empty() {
            return Err(text::blank("pattern"));
        }
        if args.path.as_ref().is_some_and(|path| path.trim().is_empty()) {
            return Err(text::blank("path"));
        }
        let (search, policy) = self.0.open(cx)?;
        let request = GlobRequest {
            cwd: policy.workspace_root.clone(),
            path: args.path,
            pattern: args.pattern,
            limits: self.0.limits(),
        };
        let hits = search
            .glob(request, &policy, cx.cancel())
            .await
            .map_err(|error| self.0.failed(&error, &policy))?;
        let warnings = shortcomings(&hits.warnings, hits.truncated);
        Ok(GlobOutput { root: hits.root, paths: hits.paths, warnings })
    }

    fn parameters(&self) -> Result<Schema, LowerError> {
        self.0.parameters(parameters())
    }

    fn needs_approval(&self, execution: &Execution) -> Result<Option<Arc<str>>, ToolError> {
        self.0.needs_approval(execution)
    }

    fn render(&self, _args: &GlobArgs, output: &GlobOutput) -> Result<Content, ToolError> {
        Ok(dsh_llm::text(self.page(output, &Rest::NotKept)))
    }

    fn meta(&self, _args: &GlobArgs, output: &GlobOutput) -> Option<Json> {
        let max_bytes = self.0.config.search_meta_max_bytes.get();
        view::paths_meta(&self.sample(output), output.paths.len(), max_bytes)
    }

    fn parallel(&self, _args: &GlobArgs) -> bool {
        true
    }

    fn timeout(&self) -> Option<Duration> {
        Some(self.0.timeout())
    }

    fn present_call(&self, args: &GlobArgs) -> Option<CallView> {
        Some(CallView::Generic {
            title: text::glob_title(&args.pattern, args.path.as_deref()).into(),
            kind: Kind::Search,
            raw_input: None,
            content: None,
            locations: Vec::new(),
        })
    }

    fn present_result(&self, _args: &GlobArgs, result: &StoredResult<'_>) -> Option<ResultView> {
        view::paths_card(result)
    }
}

impl Paged for Glob {
    const FILE: &'static str = "glob-results.txt";
    const LIST: &'static str = "paths";

    fn shows_all(&self, list: &[Json]) -> bool {
        list.len() <= self.0.config.glob_max_results.get()
    }

    fn page(&self, output: &GlobOutput, rest: &Rest) -> String {
        let warnings = output.warnings.as_deref().unwrap_or_default();
        text::glob_result(&self.sample(output), output.paths.len(), rest, warnings)
    }

    fn complete(&self, output: &GlobOutput) -> String {
        text::path_list(output.paths.iter().map(|path| &**path))
    }
}

fn parameters() -> Params {
    let pattern = "A glob, such as `*.rs` or `src/**/*.{ts,tsx}`. Without `/` it is compared with file names at any depth.";
    let path = "The directory to search. Default: the working directory.";
    Schema::params()
        .required("pattern", Schema::string().description(pattern))
        .optional("path", Schema::string().description(path))
}
