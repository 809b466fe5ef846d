//! scratch
use dsh_agent_loop::LoopConfig;
use crate::kit::{Scene, says, message};
#[tokio::test(start_paused = true)]
async fn scratch_many() {
    for n in [1000usize, 2000, 4000] {
        let config = LoopConfig { max_inbox_messages: 20_000.try_into().unwrap(), ..LoopConfig::default() };
        let scene = Scene::with(config, (0..n).map(|_| says("x")));
        let t = std::time::Instant::now();
        for i in 0..n { scene.agent.inbox().queue(message(&format!("m{i}"))).unwrap(); }
        let queued = t.elapsed();
        let t = std::time::Instant::now();
        scene.driven_anyhow(async || scene.agent.wake()).await;
        println!("{n}: queue {queued:?} drive {:?} events {}", t.elapsed(), scene.session().len());
        let ev: Vec<_> = scene.session().events().iter().map(|e| (**e).clone()).collect();
        let t = std::time::Instant::now();
        let s = dsh_session::Session::resume(crate::kit::spec(None), ev).unwrap();
        let a = t.elapsed();
        let t = std::time::Instant::now();
        let _ = dsh_agent::Agent::new(dsh_scope::Scope::root(), s);
        println!("   resume {a:?} agent {:?}", t.elapsed());
    }
}
