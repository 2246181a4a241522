//! A private `PostgreSQL`: a fresh cluster on a free port of 127.0.0.1 that lives as long as a value does.
//!
//! Whoever starts it may end in any way (an error, a panic, Ctrl-C, SIGKILL): the server stands under a guard, a shell
//! that reads from a pipe which only we hold. When that ends, the guard stops the server and removes the folder.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::run::Steps;

/// Where tests look for a database: a key-value string of libpq's.
pub const VARIABLE: &str = "HEDDLE_TEST_POSTGRES";

/// How long a server may take until it answers.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is tried anew: somebody else may be faster to take the port.
const TRIES: usize = 3;
const MISSING: &str = "PostgreSQL's programs (initdb, postgres) are in none of the usual places nor in PATH. Debian, \
                       Ubuntu: apt-get install postgresql; Homebrew: brew install postgresql; or set \
                       HEDDLE_TEST_POSTGRES to a server of yours";

/// Runs the server until it ends or until the input does, and removes the folder. `$1`: the folder; the rest is the
/// server's command line. A server that fails says why before its log is gone.
#[cfg(unix)]
const GUARD: &str = r#"
trap '' HUP INT TERM
folder=$1
shift
exec 3<&0
"$@" >"$folder/log" 2>&1 </dev/null 3<&- &
server=$!
{ read -r _ <&3; kill -INT "$server"; } &
watcher=$!
wait "$server" || tail -n 20 "$folder/log" >&2
kill -KILL "$watcher" 2>/dev/null
cd /
rm -rf "$folder"
"#;

/// What a cluster is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// Quick, and worth nothing after a crash of the machine.
    Tests,
    /// As durable as `PostgreSQL` is by default.
    Benchmarks,
}

impl Flavour {
    fn settings(self) -> [&'static str; 3] {
        match self {
            Self::Tests => ["fsync=off", "synchronous_commit=off", "full_page_writes=off"],
            Self::Benchmarks => ["fsync=on", "synchronous_commit=on", "full_page_writes=on"],
        }
    }

    /// Benchmarks are about the disk, and `/tmp` may be memory.
    fn place(self) -> PathBuf {
        let disk = Path::new("/var/tmp");
        if self == Self::Benchmarks && disk.is_dir() { disk.to_owned() } else { std::env::temp_dir() }
    }
}

/// A running cluster.
pub struct Postgres {
    port: u16,
    programs: PathBuf,
    server: Server,
    // Dropped after the server: whatever its guard has left.
    folder: Folder,
}

impl Postgres {
    /// Makes and starts one, and waits until it answers.
    ///
    /// # Errors
    /// What is missing or went wrong, and what to do.
    pub fn start(flavour: Flavour) -> Result<Self, String> {
        let programs = programs().ok_or(MISSING)?;
        let mut tries = 1;
        loop {
            match Self::try_to_start(flavour, &programs) {
                Err(_) if tries < TRIES => tries += 1,
                result => return result,
            }
        }
    }

    fn try_to_start(flavour: Flavour, programs: &Path) -> Result<Self, String> {
        let folder = Folder::create(&flavour.place())?;
        let user = User::of(&folder)?;
        let mut initdb = Command::new(programs.join("initdb"));
        initdb.args(["--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C", "--username=postgres"]);
        initdb.arg("-D").arg(folder.data());
        let output = user.own(&mut initdb, &folder).output();
        let output = output.map_err(|error| format!("initdb could not be started: {error}"))?;
        if !output.status.success() {
            return Err(format!("initdb failed: {}", String::from_utf8_lossy(&output.stderr)));
        }
        let port = free_port().map_err(|error| format!("no port of 127.0.0.1 is free: {error}"))?;
        let server = Server::start(flavour, programs, &folder, &user, port)?;
        let mut postgres = Self { port, programs: programs.to_owned(), server, folder };
        postgres.wait_until_it_answers()?;
        Ok(postgres)
    }

    fn wait_until_it_answers(&mut self) -> Result<(), String> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            let asked = self.client("pg_isready").arg("--quiet").status();
            let asked = asked.map_err(|error| format!("pg_isready could not be started: {error}"))?;
            if asked.success() {
                return Ok(());
            }
            if self.server.has_ended() {
                return Err("the private PostgreSQL ended at once; its own words are above".to_owned());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err(format!("the private PostgreSQL does not answer within {} s", PATIENCE.as_secs()))
    }

    /// Where its databases are: a key-value string of libpq's, for the one that is always there.
    pub fn address(&self) -> String {
        format!("host=127.0.0.1 port={} user=postgres dbname=postgres", self.port)
    }

    /// One of `PostgreSQL`'s own programs, set to talk to this server.
    pub fn client(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        self.introduce(&mut command);
        command
    }

    /// Lets a program find `PostgreSQL`'s own programs, and those this server.
    pub fn introduce(&self, command: &mut Command) {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.programs.clone()).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(folders).unwrap_or(path));
        command.env("PGHOST", "127.0.0.1").env("PGPORT", self.port.to_string());
        command.env("PGUSER", "postgres").env("PGDATABASE", "postgres");
    }

    /// The server's first process, whose children are the others.
    pub fn process(&self) -> Option<u32> {
        let text = fs::read_to_string(self.folder.data().join("postmaster.pid")).ok()?;
        text.lines().next()?.trim().parse().ok()
    }

    /// Comes back when the server has ended by itself.
    fn wait(&mut self) {
        // Neither way of failing leaves anything to wait for.
        let _ = self.server.guard.wait();
    }
}

/// The server and its guard, which ends it when it loses sight of us.
struct Server {
    guard: Child,
    sight: Option<ChildStdin>,
}

impl Server {
    #[cfg(unix)]
    fn start(
        flavour: Flavour,
        programs: &Path,
        folder: &Folder,
        user: &User,
        port: u16,
    ) -> Result<Self, String> {
        use std::os::unix::process::CommandExt as _;
        let mut guard = Command::new("sh");
        guard.args(["-c", GUARD, "heddle-postgres-guard"]).arg(&folder.0);
        guard.arg(programs.join("postgres")).arg("-D").arg(folder.data());
        guard.args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1", "-c"]);
        guard.arg(format!("unix_socket_directories={}", folder.0.display()));
        for setting in flavour.settings() {
            guard.args(["-c", setting]);
        }
        // A group of its own: Ctrl-C ends us first, and then, through the guard, the server.
        user.own(&mut guard, folder).process_group(0).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut guard = guard.spawn().map_err(|error| format!("sh could not be started: {error}"))?;
        let sight = guard.stdin.take();
        Ok(Self { guard, sight })
    }

    #[cfg(not(unix))]
    fn start(_: Flavour, _: &Path, _: &Folder, _: &User, _: u16) -> Result<Self, String> {
        Err(format!("a private PostgreSQL needs Unix; set {VARIABLE} to a server of yours"))
    }

    fn has_ended(&mut self) -> bool {
        self.guard.try_wait().is_ok_and(|status| status.is_some())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.sight.take());
        // It has said itself what went wrong.
        let _ = self.guard.wait();
    }
}

/// A fresh folder, gone with the value.
struct Folder(PathBuf);

impl Folder {
    fn create(place: &Path) -> Result<Self, String> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        // Short: a socket's path has some hundred bytes at most.
        let path = place.join(format!("heddle-postgres-{}-{number}", std::process::id()));
        fs::create_dir(&path).map_err(|error| format!("{} can't be made: {error}", path.display()))?;
        Ok(Self(path))
    }

    fn data(&self) -> PathBuf {
        self.0.join("data")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.0.exists()
            && let Err(error) = fs::remove_dir_all(&self.0)
        {
            eprintln!("{} is left: {error}", self.0.display());
        }
    }
}

/// As whom `PostgreSQL` runs, which refuses to as root: its user and group in that case.
struct User(Option<(u32, u32)>);

impl User {
    /// Whoever we are by the folder that we have just made; the folder is handed over if it is somebody else.
    #[cfg(unix)]
    fn of(folder: &Folder) -> Result<Self, String> {
        use std::os::unix::fs::{MetadataExt as _, chown};
        let said = |error| format!("{}: {error}", folder.0.display());
        if fs::metadata(&folder.0).map_err(said)?.uid() != 0 {
            return Ok(Self(None));
        }
        let id = |flag| {
            let output = Command::new("id").args([flag, "postgres"]).output().ok()?;
            String::from_utf8(output.stdout).ok()?.trim().parse().ok()
        };
        let (Some(user), Some(group)) = (id("-u"), id("-g")) else {
            let remedy =
                "PostgreSQL refuses to run as root, and there is no user postgres: useradd --system postgres";
            return Err(remedy.to_owned());
        };
        chown(&folder.0, Some(user), Some(group)).map_err(said)?;
        Ok(Self(Some((user, group))))
    }

    #[cfg(not(unix))]
    fn of(_: &Folder) -> Result<Self, String> {
        Ok(Self(None))
    }

    /// Runs a program as this user, in a folder where it may be.
    fn own<'a>(&self, command: &'a mut Command, folder: &Folder) -> &'a mut Command {
        #[cfg(unix)]
        if let Some((user, group)) = self.0 {
            use std::os::unix::process::CommandExt as _;
            command.uid(user).gid(group);
        }
        command.current_dir(&folder.0)
    }
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// The folder of `PostgreSQL`'s programs.
fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    if let Ok(output) = Command::new("pg_config").arg("--bindir").output() {
        folders.push(String::from_utf8_lossy(&output.stdout).trim().into());
    }
    for (place, name, rest) in [
        ("/usr/lib/postgresql", "", "bin"),
        ("/usr", "pgsql-", "bin"),
        ("/opt/homebrew/opt", "postgresql", "bin"),
        ("/usr/local/opt", "postgresql", "bin"),
        ("/home/linuxbrew/.linuxbrew/opt", "postgresql", "bin"),
        ("/Applications/Postgres.app/Contents/Versions", "", "bin"),
    ] {
        folders.extend(versions(Path::new(place), name).into_iter().map(|folder| folder.join(rest)));
    }
    let server = |folder: &PathBuf| {
        // Where PATH has links, the other programs are where those lead.
        let initdb = fs::canonicalize(folder.join("initdb")).ok()?;
        let programs = initdb.parent()?;
        programs.join("postgres").is_file().then(|| programs.to_owned())
    };
    folders.iter().find_map(server)
}

/// The folders in `place` whose names begin like this, the newest version first.
fn versions(place: &Path, name: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(place) else { return Vec::new() };
    let mut found: Vec<(u32, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let text = entry.file_name().to_string_lossy().into_owned();
            let version = text.strip_prefix(name)?.trim_start_matches('@').parse().unwrap_or(0);
            Some((version, entry.path()))
        })
        .collect();
    found.sort();
    found.into_iter().rev().map(|(_, path)| path).collect()
}

/// A cluster for the tests, as a step; none where somebody has said which server to take.
///
/// # Errors
/// The exit code to end with.
pub fn for_tests(steps: &mut Steps) -> Result<Option<Postgres>, ExitCode> {
    steps.work("a private PostgreSQL", || match std::env::var_os(VARIABLE) {
        Some(_) => Ok(None),
        None => Postgres::start(Flavour::Tests).map(Some),
    })
}

/// `cargo xtask postgres [-- command …]`: a cluster for as long as the command runs, or until Ctrl-C.
pub fn run(arguments: &[String]) -> ExitCode {
    let command = match arguments {
        [] => None,
        [dashes, program, rest @ ..] if dashes == "--" => Some((program, rest)),
        _ => {
            eprintln!("usage: cargo xtask postgres [-- command …]");
            return ExitCode::from(2);
        }
    };
    let mut postgres = match Postgres::start(Flavour::Tests) {
        Ok(postgres) => postgres,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let address = postgres.address();
    let Some((program, rest)) = command else {
        println!("{VARIABLE}='{address}'");
        eprintln!("until Ctrl-C");
        postgres.wait();
        return ExitCode::FAILURE;
    };
    let mut command = Command::new(program);
    postgres.introduce(&mut command);
    match command.args(rest).env(VARIABLE, address).status() {
        // A command that was killed has no code.
        Ok(status) => status.code().map_or(ExitCode::FAILURE, |code| ExitCode::from(code as u8)),
        Err(error) => {
            eprintln!("{program} could not be started: {error}");
            ExitCode::FAILURE
        }
    }
}
