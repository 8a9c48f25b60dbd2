//! Certificates of files, over real sockets; the schedule of the server's own is in the tests of `certificate.rs`.

use crate::common::{issuer, join_with, rules, token};
use foretell_net::{Access, Certificates, Gateway, GatewayConfig, JoinConfig, Limits, Via};
use std::fs;
use std::path::Path;
use std::time::Duration;
use wtransport::Identity;

fn write(identity: &Identity, chain: &Path, key: &Path) {
    fs::write(chain, identity.certificate_chain().as_slice()[0].to_pem()).expect("written");
    fs::write(key, identity.private_key().to_secret_pem()).expect("written");
}

fn identity() -> Identity {
    let names = Identity::self_signed_builder().subject_alt_names(["127.0.0.1"]);
    names.from_now_utc().validity_days(13).build().expect("made")
}

/// Whether a client that knows this certificate alone gets in.
async fn gets_in(gateway: &Gateway, known: &Identity, via: Via) -> bool {
    let digest = known.certificate_chain().as_slice()[0].hash();
    let hash: String = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let url = format!("https://127.0.0.1:{}/#{hash}", gateway.local_addr().expect("an address").port());
    join_with(&url, token("alice"), JoinConfig { via, ..JoinConfig::new(rules()) }).await.is_ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_change_are_used_without_a_restart_for_both_protocols() {
    let folder = std::env::temp_dir().join(format!("foretell-net-{}-files", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let (chain, key) = (folder.join("chain.pem"), folder.join("key.pem"));
    let (old, new) = (identity(), identity());
    write(&old, &chain, &key);
    let config = GatewayConfig {
        access: Access::new("arena", issuer().public_key()),
        certificates: Certificates::Files { chain: chain.clone(), key: key.clone() },
        players_max: 8,
        limits: Limits::default(),
        origins: Vec::new(),
        idle_timeout: Duration::from_secs(10),
        sockets: true,
        rate_max: 1_000_000,
    };
    let mut gateway = Gateway::bind("127.0.0.1:0".parse().expect("an address"), config).expect("a port");
    for via in [Via::WebTransport, Via::WebSocket] {
        assert!(gets_in(&gateway, &old, via).await && !gets_in(&gateway, &new, via).await, "{via:?}");
    }
    write(&new, &chain, &key);
    let in_a_minute = gateway.clock().now() + Duration::from_secs(61);
    gateway.drain(in_a_minute, &mut |_| {});
    for via in [Via::WebTransport, Via::WebSocket] {
        assert!(!gets_in(&gateway, &old, via).await && gets_in(&gateway, &new, via).await, "{via:?}");
    }
    gateway.close().await;
    fs::remove_dir_all(folder).expect("it was there");
}
