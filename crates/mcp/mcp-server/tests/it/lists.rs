//! What a client is offered.

use dsh_json_schema::Schema;
use dsh_mcp_server::McpServerConfig;
use dsh_tools_core::{Content, Dispatch, Layer, Next, Presentation, ToolError, async_trait};

use crate::stage::{Heard, Probe, Stage};

async fn names(stage: &Stage) -> Vec<String> {
    let mut names = Vec::new();
    let served = stage.serve(McpServerConfig::default(), async |client| {
        let tools = client.service.list_all_tools().await.unwrap();
        names.extend(tools.into_iter().map(|tool| tool.name.into_owned()));
    });
    served.await.unwrap();
    names
}

#[tokio::test(start_paused = true)]
async fn tools_are_listed_by_name_as_they_are_presented() {
    assert_eq!(names(&Stage::new()).await, ["ask", "p", "x"]);
    assert_eq!(names(&Stage::new().with_programs(Presentation::Native)).await, ["ask", "p", "x"]);
    assert_eq!(names(&Stage::new().with_programs(Presentation::Code)).await, ["run_code"]);
    assert_eq!(names(&Stage::new().with_programs(Presentation::Both)).await, ["ask", "p", "run_code", "x"]);
}

#[tokio::test(start_paused = true)]
async fn only_output_that_is_an_object_has_a_schema() {
    let stage = Stage::new().with_programs(Presentation::Both);
    stage.register(Probe::giving("words", Schema::string().build().unwrap(), true, false));
    let served = stage.serve(McpServerConfig::default(), async |client| {
        let tools = client.service.list_all_tools().await.unwrap();
        let has = |name: &str| tools.iter().find(|tool| tool.name == name).unwrap().output_schema.is_some();
        assert_eq!((has("p"), has("words")), (true, false));
        let run_code = tools.iter().find(|tool| tool.name == "run_code").unwrap();
        assert_eq!(run_code.description.as_deref(), Some("Runs programs.\n\nThe declarations."));
        // It may overlap, and does not say that it only reads.
        assert!(tools.iter().all(|tool| tool.annotations.is_none()));
    });
    served.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_declarations_are_a_resource() {
    let stage = Stage::new().with_programs(Presentation::Both);
    let served = stage.serve(McpServerConfig::default(), async |client| {
        let resources = client.service.list_all_resources().await.unwrap();
        let [sdk] = &*resources else { panic!("{resources:?}") };
        let read = |uri: &str| client.service.read_resource(rmcp::model::ReadResourceRequestParams::new(uri));
        let contents = read(&sdk.uri).await.unwrap();
        assert!(format!("{contents:?}").contains("The declarations."), "{contents:?}");
        read("dsh://sdk/cobol").await.unwrap_err();
    });
    served.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_change_is_told_once() {
    let stage = Stage::new();
    let served = stage.serve(McpServerConfig::default(), async |mut client| {
        // A listener changes the registry, and nothing that is offered.
        stage.keep(stage.tools.on_dispatch_log(None, std::sync::Arc::new(Kept)));
        stage.register(Probe::tool("late", true, false));
        assert!(matches!(client.heard.recv().await, Some(Heard::ListChanged)));
        let tools = client.service.list_all_tools().await.unwrap();
        assert!(tools.iter().any(|tool| tool.name == "late"));
        tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        assert!(client.heard.try_recv().is_err(), "told twice");
    });
    served.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn changes_are_gathered_and_told_as_soon_as_they_are() {
    let stage = Stage::new();
    let config = McpServerConfig { list_interval_ms: 250.try_into().unwrap(), ..McpServerConfig::default() };
    let served = stage.serve(config, async |mut client| {
        for name in ["one", "two", "three"] {
            tokio::time::sleep(std::time::Duration::from_secs(7)).await;
            let began = tokio::time::Instant::now();
            stage.register(Probe::tool(name, true, false));
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
            drop(stage.tools.register(None, Probe::tool("passing", true, false)));
            assert!(client.heard.try_recv().is_err(), "{name}: too early");
            assert!(matches!(client.heard.recv().await, Some(Heard::ListChanged)));
            assert_eq!(began.elapsed().as_millis(), 250, "{name}");
            tokio::time::sleep(std::time::Duration::from_secs(60)).await;
            assert!(client.heard.try_recv().is_err(), "{name}: told twice");
        }
        // What comes and is gone again before it is told is nothing.
        drop(stage.tools.register(None, Probe::tool("passing", true, false)));
        tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        assert!(client.heard.try_recv().is_err(), "nothing is another");
    });
    served.await.unwrap();
}

struct Kept;

#[async_trait]
impl Layer<Dispatch, Content> for Kept {
    async fn call(
        &self,
        dispatch: &Dispatch,
        next: Next<'_, Dispatch, Content>,
    ) -> Result<Content, ToolError> {
        next.run(dispatch).await
    }
}

#[tokio::test(start_paused = true)]
async fn programs_that_nobody_runs_are_an_error_by_name() {
    let stage = Stage::new();
    stage.keep(stage.tools.present_as(None, Presentation::Code).unwrap());
    let served = stage.serve(McpServerConfig::default(), async |client| {
        let error = client.service.list_all_tools().await.unwrap_err().to_string();
        assert!(error.contains("no program can be run"), "{error}");
    });
    served.await.unwrap();
}
