//! The Redis that a test can ask for.

use thv_testbed::Redis;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn ask(address: &str, command: &str) -> anyhow::Result<String> {
    let mut socket = TcpStream::connect(address).await?;
    socket.write_all(format!("{command}\r\n").as_bytes()).await?;
    let mut answer = vec![0; 64];
    let length = socket.read(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer[..length]).trim().to_owned())
}

#[tokio::test]
async fn a_redis_of_ones_own_answers_and_goes_away() -> anyhow::Result<()> {
    let redis = Redis::start(None).await?;
    let address = redis.address();
    assert_eq!(ask(&address, "SET key value").await?, "+OK");
    redis.kill().await?;
    assert!(TcpStream::connect(&address).await.is_err());
    Ok(())
}

#[tokio::test]
async fn a_redis_with_a_password_asks_for_it() -> anyhow::Result<()> {
    let redis = Redis::start(Some("secret")).await?;
    assert!(ask(&redis.address(), "GET key").await?.starts_with("-NOAUTH"));
    Ok(())
}
