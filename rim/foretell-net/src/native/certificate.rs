//! What a server proves itself with: certificates of its own that change by themselves, or files of an authority.

use crate::account::UnixTime;
use crate::join_url::CertificateHash;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wtransport::tls::rustls::pki_types::pem::PemObject;
use wtransport::tls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use wtransport::tls::self_signed::time::{Duration as Span, OffsetDateTime};
use wtransport::tls::{Certificate, CertificateChain, Identity, PrivateKey};

/// Where a server's certificates come from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Certificates {
    /// Of its own: P-256, valid for less than 14 days, known to clients by their hash, as browsers want it. Each is
    /// published 6 days before it is used, and used for 6 days.
    SelfSigned {
        /// The names and addresses that it is for.
        names: Vec<String>,
        /// A folder that only the server can read, where they are kept for the next start. Without one a server that is
        /// started again has other hashes, and clients that know the old ones alone can't come back.
        kept_in: Option<PathBuf>,
    },
    /// From an authority that clients trust: PEM files, read again when they change.
    Files {
        /// The certificate, and those between it and the authority's.
        chain: PathBuf,
        /// Its private key.
        key: PathBuf,
    },
}

const DAY: Duration = Duration::from_secs(24 * 3600);
/// A certificate is published for so long, and then used for as long.
const TURN: Duration = Duration::from_secs(6 * 24 * 3600);
/// Clients' clocks may be behind by so much.
const BEFORE: Duration = Duration::from_secs(3600);

/// The certificates of a running server.
pub(crate) struct Identities {
    source: Certificates,
    /// Oldest first: the one in use, and for self-signed ones the next. Each with when it was made.
    known: Vec<(UnixTime, Identity)>,
    /// Of those, in their order, for clients that know them by nothing else.
    hashes: Vec<CertificateHash>,
    /// What the files held, for what an authority signed.
    files: Option<(Vec<u8>, Vec<u8>)>,
}

impl Identities {
    /// Reads or makes what is used from `now` on.
    pub(crate) fn new(source: Certificates, now: UnixTime) -> io::Result<Identities> {
        let mut identities = Identities { source, known: Vec::new(), hashes: Vec::new(), files: None };
        if let Certificates::SelfSigned { kept_in: Some(folder), .. } = &identities.source {
            identities.known = read_kept(folder)?;
        }
        identities.advance(now)?;
        Ok(identities)
    }

    /// The one in use.
    pub(crate) fn current(&self) -> Identity {
        self.known.first().expect("there is one from the start").1.clone_identity()
    }

    /// The hashes that clients may meet in the next days: the one in use first. None of what an authority signed: clients trust
    /// that, and what is known by its hash has to be as browsers want it.
    pub(crate) fn hashes(&self) -> &[CertificateHash] {
        &self.hashes
    }

    /// Whether another one is used from now on. With an error the old one is.
    pub(crate) fn advance(&mut self, now: UnixTime) -> io::Result<bool> {
        let before = self.known.first().map(hash);
        match self.source.clone() {
            Certificates::SelfSigned { names, kept_in } => {
                self.rotate(now, &names, kept_in.as_deref())?;
                self.hashes = self.known.iter().map(hash).collect();
            }
            Certificates::Files { chain, key } => self.reload(now, &chain, &key)?,
        }
        Ok(self.known.first().map(hash) != before)
    }

    fn rotate(&mut self, now: UnixTime, names: &[String], kept_in: Option<&Path>) -> io::Result<()> {
        // They are valid from before they were made: a clock that is set back by less keeps what clients know.
        self.known.retain(|(made, _)| made.since(now) < BEFORE && now.since(*made) < 2 * TURN);
        if self.known.len() > 1 && now.since(self.known[1].0) >= TURN {
            self.known.remove(0);
        }
        while self.known.len() < 2 {
            let identity = self_signed(now, names)?;
            if let Some(folder) = kept_in {
                keep(folder, now, self.known.len(), &identity)?;
            }
            self.known.push((now, identity));
        }
        Ok(())
    }

    fn reload(&mut self, now: UnixTime, chain: &Path, key: &Path) -> io::Result<()> {
        let files = (fs::read(chain)?, fs::read(key)?);
        if self.files.as_ref() == Some(&files) {
            return Ok(());
        }
        let identity = identity(&files.0, &files.1)?;
        (self.known, self.files) = (vec![(now, identity)], Some(files));
        Ok(())
    }
}

/// Of the server's own certificate, which is the first of its chain.
fn hash((_, identity): &(UnixTime, Identity)) -> CertificateHash {
    *identity.certificate_chain().as_slice()[0].hash().as_ref()
}

fn self_signed(now: UnixTime, names: &[String]) -> io::Result<Identity> {
    let made = i64::try_from(now.since(UnixTime(0)).as_secs()).unwrap_or(i64::MAX);
    let made = OffsetDateTime::from_unix_timestamp(made).map_err(io::Error::other)?;
    Identity::self_signed_builder()
        .subject_alt_names(names)
        .validity_period(made - span(BEFORE), made + span(13 * DAY))
        .build()
        .map_err(io::Error::other)
}

fn span(time: Duration) -> Span {
    Span::try_from(time).expect("days fit")
}

/// An identity of PEM texts, once key and certificate have proved to belong together: files may be met half changed.
fn identity(chain: &[u8], key: &[u8]) -> io::Result<Identity> {
    let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let certificates = CertificateDer::pem_slice_iter(chain).collect::<Result<Vec<_>, _>>();
    let certificates = certificates.map_err(|_| invalid("the certificate file is not PEM"))?;
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| invalid("the key file holds no private key in PEM"))?;
    wtransport::tls::rustls::ServerConfig::builder_with_provider(
        wtransport::tls::rustls::crypto::ring::default_provider().into(),
    )
    .with_safe_default_protocol_versions()
    .map_err(io::Error::other)?
    .with_no_client_auth()
    .with_single_cert(certificates.clone(), key.clone_key())
    .map_err(io::Error::other)?;
    let chain = certificates.into_iter().map(|certificate| Certificate::from_der(certificate.to_vec()));
    let chain = chain.collect::<Result<Vec<_>, _>>().map_err(io::Error::other)?;
    let PrivateKeyDer::Pkcs8(key) = key else { return Err(invalid("the private key is not PKCS #8")) };
    let key = PrivateKey::from_der_pkcs8(key.secret_pkcs8_der().to_vec());
    Ok(Identity::new(CertificateChain::new(chain), key))
}

/// Writes a certificate and its key where the next start finds them: `MILLISECONDS-NUMBER.pem`.
fn keep(folder: &Path, made: UnixTime, number: usize, identity: &Identity) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let certificate = identity.certificate_chain().as_slice()[0].to_pem();
    let path = folder.join(format!("{:020}-{number}.pem", made.0));
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    io::Write::write_all(&mut options.open(path)?, (identity.private_key().to_secret_pem() + &certificate).as_bytes())
}

/// What earlier starts have left, oldest first. What can't be read is passed over: another is made.
fn read_kept(folder: &Path) -> io::Result<Vec<(UnixTime, Identity)>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let made = path.file_stem().and_then(|stem| stem.to_str()?.split('-').next()?.parse().ok());
        let Some(made) = made.filter(|_| path.extension().is_some_and(|end| end == "pem")) else { continue };
        if let Ok(identity) = fs::read(&path).and_then(|text| identity(&text, &text)) {
            found.push((UnixTime(made), path, identity));
        }
    }
    found.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
    Ok(found.into_iter().map(|(made, _, identity)| (made, identity)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::join_url::join_url;

    const START: UnixTime = UnixTime(1_800_000_000_000);

    fn own(kept_in: Option<PathBuf>) -> Certificates {
        Certificates::SelfSigned { names: vec!["localhost".into(), "127.0.0.1".into()], kept_in }
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("foretell-net-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn every_certificate_is_published_before_it_is_used_and_retired_before_it_expires() {
        let mut own = Identities::new(own(None), START).expect("made");
        let mut published = own.hashes().to_vec();
        assert_eq!(published.len(), 2);
        let mut changes = 0;
        for hour in 1..60 * 24 {
            let now = START.after(Duration::from_secs(hour * 3600));
            if own.advance(now).expect("made") {
                changes += 1;
                assert_eq!(own.hashes()[0], published[1], "what is used was published");
            }
            published = own.hashes().to_vec();
            assert!(own.known.iter().all(|(made, _)| now.since(*made) < 13 * DAY));
        }
        assert_eq!(changes, 9);
    }

    #[test]
    fn a_clock_that_is_set_back_by_half_an_hour_leaves_what_clients_know() {
        let mut own = Identities::new(own(None), START.after(BEFORE / 2)).expect("made");
        let first = own.hashes().to_vec();
        assert!(!own.advance(START).expect("made"));
        assert_eq!(own.hashes(), first);
        // By more than that they would not be valid yet.
        assert!(own.advance(START.before(BEFORE / 2)).expect("made"));
    }

    #[test]
    fn kept_certificates_are_used_by_the_next_start_until_they_are_old() {
        let folder = folder("kept");
        let first = Identities::new(own(Some(folder.clone())), START).expect("made").hashes().to_vec();
        let later = START.after(5 * DAY);
        assert_eq!(Identities::new(own(Some(folder.clone())), later).expect("read").hashes(), first);
        let much_later = START.after(30 * DAY);
        let fresh = Identities::new(own(Some(folder.clone())), much_later).expect("made").hashes().to_vec();
        assert!(fresh.iter().all(|hash| !first.contains(hash)));
        fs::remove_dir_all(folder).expect("it was there");
    }

    #[test]
    fn files_are_read_again_when_they_change_and_a_broken_pair_is_not_used() {
        let folder = folder("files");
        fs::create_dir_all(&folder).expect("a folder");
        let (chain, key) = (folder.join("chain.pem"), folder.join("key.pem"));
        let write = |identity: &Identity, to_chain: bool| {
            if to_chain {
                fs::write(&chain, identity.certificate_chain().as_slice()[0].to_pem()).expect("written");
            }
            fs::write(&key, identity.private_key().to_secret_pem()).expect("written");
        };
        let names = ["localhost".to_owned()];
        let (one, other) = (self_signed(START, &names).expect("made"), self_signed(START, &names).expect("made"));
        write(&one, true);
        let source = Certificates::Files { chain: chain.clone(), key: key.clone() };
        let mut files = Identities::new(source, START).expect("read");
        let first = hash(&files.known[0]);
        assert!(!files.advance(START).expect("unchanged"));
        write(&other, false);
        assert!(files.advance(START).is_err(), "key and certificate do not belong together");
        assert_eq!(hash(&files.known[0]), first);
        write(&other, true);
        assert!(files.advance(START).expect("read"));
        assert_ne!(hash(&files.known[0]), first);
        fs::remove_dir_all(folder).expect("it was there");
    }

    #[test]
    fn what_an_authority_has_signed_is_known_by_no_hash() {
        let folder = folder("authority");
        fs::create_dir_all(&folder).expect("a folder");
        let (chain, key) = (folder.join("chain.pem"), folder.join("key.pem"));
        let signed = self_signed(START, &["localhost".to_owned()]).expect("made");
        fs::write(&chain, signed.certificate_chain().as_slice()[0].to_pem()).expect("written");
        fs::write(&key, signed.private_key().to_secret_pem()).expect("written");
        let files = Identities::new(Certificates::Files { chain, key }, START).expect("read");
        assert_eq!(join_url("play.example.org", 4433, files.hashes()), "https://play.example.org:4433/");
        fs::remove_dir_all(folder).expect("it was there");
    }
}
