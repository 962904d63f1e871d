//! Images made from folder trees.

use serde_json::json;
use thv_testbed::{Image, on_cluster};

use crate::fixture::{busybox, expose, pod, start};

const SERVER: &str = r#"
import http.server, json, os, ssl, sqlite3, weather

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"uid": os.getuid(), "sky": weather.sky(), "dir": os.getcwd()}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

http.server.HTTPServer(("0.0.0.0", 8080), Handler).serve_forever()
"#;

#[tokio::test]
async fn a_python_server_with_its_packages_runs_unprivileged_and_read_only() {
    on_cluster(async |space| {
        let app = tempfile::tempdir()?;
        std::fs::write(app.path().join("server.py"), SERVER)?;
        std::fs::create_dir_all(app.path().join("packages/weather"))?;
        std::fs::write(app.path().join("packages/weather/__init__.py"), "def sky(): return 'blue'\n")?;
        let python = std::fs::canonicalize("/usr/bin/python3")?;
        let version = python.file_name().unwrap().to_string_lossy().into_owned();
        let image = Image::new("weather")
            .binary(&python, "/usr/bin/python3")?
            .tree(format!("/usr/lib/{version}").as_ref(), &format!("/usr/lib/{version}"))?
            .tree(app.path(), "/app")?
            .env("PYTHONPATH", "/app/packages")
            .folder("/app")
            .user(1234)
            .entrypoint(["/usr/bin/python3", "server.py"]);
        let image = space.bed().load(&image).await?;
        let probe = json!({"readinessProbe": {"tcpSocket": {"port": 8080}, "periodSeconds": 1}});
        start(&space, "weather", &pod("weather", &image, &probe)).await?;
        expose(&space, "weather", 8080).await?;
        let answer = busybox(&space, "client", &["wget", "-q", "-O", "-", "http://weather:8080/"]).await?;
        assert_eq!(answer, r#"{"uid": 1234, "sky": "blue", "dir": "/app"}"#);
        Ok(())
    })
    .await;
}
