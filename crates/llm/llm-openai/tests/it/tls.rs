//! Encrypted all the way, with certificates made here.

use std::sync::Arc;

use dsh_chat_server::{ChatServer, Reply, sse};
use dsh_llm::Finish;
use dsh_llm_openai::{MODEL_CONFIG, MODEL_UNREACHABLE, OpenAi, OpenAiConfig, Provider};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use crate::world::{access, ask, config, facts, model};

/// An entrance with a certificate for `localhost`, in front of a server; and the file of its root.
struct Entrance {
    base_url: String,
    folder: TempDir,
    task: JoinHandle<()>,
}

impl Entrance {
    async fn to(server: &ChatServer) -> Self {
        let mut root = CertificateParams::new(vec![]).unwrap();
        root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = CertifiedIssuer::self_signed(root, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let leaf =
            CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &root).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("root.pem"), root.pem()).unwrap();

        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let tls = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![leaf.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(tls));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("https://localhost:{}/v1", listener.local_addr().unwrap().port());
        let behind = server.address();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // A client that does not trust the certificate hangs up; the next one may.
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                let mut behind = TcpStream::connect(behind).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut behind).await;
            }
        });
        Self { base_url, folder, task }
    }
}

impl Drop for Entrance {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[tokio::test]
async fn a_certificate_is_trusted_by_its_root() {
    let server = ChatServer::start([Reply::stream().send_cut(sse::answer("secretly"), 7)]).await.unwrap();
    let entrance = Entrance::to(&server).await;
    let plain = OpenAiConfig { base_url: Some(entrance.base_url.clone()), max_retries: 0, ..config(&server) };

    let answer = ask(&model(plain.clone())).await;
    let facts = facts(&answer);
    assert_eq!(&*facts.code, MODEL_UNREACHABLE);
    assert!(facts.message.contains("UnknownIssuer"), "{}", facts.message);
    assert!(server.requests().is_empty());

    let trusting = OpenAiConfig { ca_file: Some(entrance.folder.path().join("root.pem")), ..plain };
    assert_eq!(ask(&model(trusting)).await.finish, Finish::Stop);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_file_without_certificates_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("empty.pem");
    for (write, problem) in [(false, "No such file"), (true, "it holds no certificate in PEM form")] {
        if write {
            std::fs::write(&file, "nothing").unwrap();
        }
        let config = OpenAiConfig { ca_file: Some(file.clone()), ..OpenAiConfig::default() };
        let error = OpenAi::new(Provider::OpenAi, "m", config, access()).unwrap_err();
        assert!(error.to_string().starts_with("`caFile` ") && error.to_string().contains(problem), "{error}");
        assert_eq!(error.code(), MODEL_CONFIG);
    }
}
