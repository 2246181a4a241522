//! `heddle serve`: the server on embedded stores, and a worker beside it that goes through the same seams as one in a
//! process of its own: the queue, the documents, the objects, and the signed webhook over HTTP.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use heddle_engine::{Engine, Registry, SystemClock, SystemDraw};
use heddle_exchange::Exchange;
use heddle_generation::{Edge, OrganizationId, ProjectId, TriggerSurface, UserSub};
use heddle_server::{Bounds, CallerConfig, Clock, Pages, WebhookSecret, Workflows};
use heddle_store::workflows::{WorkflowPostgres, WorkflowSqlite, WorkflowStore};
use heddle_store::{SqliteStore, Store, StoreError, TenantSeed, migrate};
use heddle_worker::setup::NoSuchFolder;
use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::work::worker;
use crate::config::{Caller, Config, ConfigArgs, Overrides, PagesMode, local_url};
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::{local, secrets};

/// As whom the system writes.
const SERVICE_ACCOUNT: &str = "service:heddle";
/// As whom the local token calls.
const LOCAL_USER: &str = "local";

/// Run the server, and a worker with it.
#[derive(Args)]
pub struct Serve {
    /// Listen here [env: `HEDDLE_LISTEN`] [default: 127.0.0.1:7345]; port 0 takes any free one.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// A folder of Figma files, `{file key}.json` or `.json.gz` [env: `HEDDLE_FIGMA_FILES`].
    #[arg(long, value_name = "DIR")]
    figma_files: Option<PathBuf>,
    /// Leave the work to `heddle worker`.
    #[arg(long)]
    no_worker: bool,
    /// Show the pages to whoever is at this machine, without signing in [env: `HEDDLE_PAGES`=open].
    #[arg(long)]
    open_pages: bool,
}

impl Serve {
    pub fn run(self, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        let overrides = Overrides {
            listen: self.listen,
            figma_files: self.figma_files,
            pages: self.open_pages.then_some(PagesMode::Open),
            ..Overrides::default()
        };
        let config = config.with(overrides).load()?;
        if let Some(folder) = config.figma_files.as_ref().filter(|folder| !self.no_worker && !folder.is_dir())
        {
            // The worker would say so too, but only once the address has been said.
            return Err(Failure::usage(NoSuchFolder(folder.clone()).to_string()));
        }
        local::run(async {
            let house = House::open(config).await?;
            // The one thing that a script needs to know, and may wait for.
            terminal.data(format!("{}\n", house.url).as_bytes())?;
            terminal.say(&format!("Heddle is at {} — Ctrl-C stops it.", house.url));
            if let Some(path) = &house.token_file {
                terminal.say(&format!(
                    "Your token is in {}; `heddle generations` and `heddle workflows` find it.",
                    path.display()
                ));
            }
            if let Workflows::NotInstalled { remedy } = &house.workflows {
                terminal.say(&format!("No workflows, but everything else: {remedy}."));
            }
            house.run(!self.no_worker, local::asked_to_stop()).await?;
            Ok(ExitCode::SUCCESS)
        })
    }
}

/// Everything that serving needs, opened and bound.
pub struct House {
    config: Config,
    exchange: Exchange,
    store: Store,
    listener: TcpListener,
    secret: String,
    server: heddle_server::Config,
    workflows: Workflows,
    /// Where it is.
    pub url: String,
    /// Where the local token is, unless callers are configured.
    pub token_file: Option<PathBuf>,
    _lock: std::fs::File,
}

impl House {
    /// Opens the stores, makes sure of the tenants, and binds the address.
    pub async fn open(config: Config) -> Result<Self, Failure> {
        let data = &config.data;
        if config.pages == PagesMode::Open && !config.listen.ip().is_loopback() {
            // Before anything is made, and before anybody is told where it would be.
            let address = config.listen;
            let error = heddle_server::ConfigError::OpenPagesBeyondLoopback { address };
            return Err(Failure::usage(error.to_string()));
        }
        let exchange = local::exchange(data)?;
        let lock = local::be_the_server(data)?;
        let secret = match &config.webhook_secret {
            Some(secret) => secret.clone(),
            None => secrets::webhook_secret(data)?,
        };
        let webhook_secret =
            WebhookSecret::parse(&secret).map_err(|error| Failure::usage(error.to_string()))?;
        let (callers, token_file) = callers(&config)?;

        let rows = data.join("rows.sqlite");
        let cannot = |error: StoreError| {
            Failure::new(format!("could not open the rows in {}", rows.display())).because(error)
        };
        migrate(&rows, Timestamp::now()).map_err(cannot)?;
        let store = Store::of(Arc::new(SqliteStore::open(&rows).map_err(cannot)?));
        for tenant in tenants(&config, &callers) {
            let ensured = store.tenants.ensure_tenant(&tenant, Timestamp::now()).await;
            ensured.map_err(|error| no_tenant(error, &tenant, data))?;
        }

        let workflows = workflows(&config).await?;
        let listener = TcpListener::bind(config.listen).await.map_err(|error| {
            Failure::new(format!("could not listen on {}", config.listen))
                .because(error)
                .hint("Another program may be there; --listen 127.0.0.1:0 takes any free port.")
        })?;
        let address =
            listener.local_addr().map_err(|error| Failure::new("could not listen").because(error))?;
        let pages = match config.pages {
            PagesMode::SignIn => Pages::SignIn { secure_cookie: config.secure_cookie },
            PagesMode::Open => {
                Pages::Open { organization_id: OrganizationId(config.default_organization_id) }
            }
        };
        let server = heddle_server::Config {
            callers,
            webhook_secrets: vec![webhook_secret],
            service_account: UserSub::new(SERVICE_ACCOUNT),
            pages,
            edges: vec![Edge::Des2wf],
            relay_poll: Duration::from_millis(500),
            bounds: Bounds::default(),
        };
        Ok(Self {
            url: local_url(address),
            config,
            exchange,
            store,
            listener,
            secret,
            server,
            workflows,
            token_file,
            _lock: lock,
        })
    }

    /// Serves until `stop` ends. The worker stops first, so that what it has in hand can still be reported.
    pub async fn run(self, with_worker: bool, stop: impl Future<Output = ()>) -> Result<(), Failure> {
        let (stop_server, mut server_stopped) = watch::channel(false);
        let worker = if with_worker {
            Some(Arc::new(worker(&self.config, self.exchange.clone(), &self.url, &self.secret)?))
        } else {
            None
        };
        let serving = heddle_server::serve(
            self.server,
            self.store,
            self.exchange,
            self.workflows,
            Clock::system(),
            self.listener,
            async move { drop(server_stopped.wait_for(|stopped| *stopped).await) },
        );
        let mut serving = tokio::spawn(serving);
        let (stop_worker, worker_stopped) = watch::channel(false);
        let working = worker.map(|worker| {
            let mut stopped = worker_stopped;
            tokio::spawn(worker.run(async move { drop(stopped.wait_for(|stopped| *stopped).await) }))
        });
        // Either is asked to stop, or breaks down by itself.
        let broke_down = tokio::select! {
            () = stop => None,
            ended = &mut serving => Some(ended),
        };
        stop_worker.send_replace(true);
        if let Some(working) = working {
            let _ = working.await;
        }
        stop_server.send_replace(true);
        let ended = match broke_down {
            Some(ended) => ended,
            None => serving.await,
        };
        match ended {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(Failure::new("the server could not go on").because(error)),
            Err(error) => Err(Failure::new("the server broke down").because(error)),
        }
    }
}

/// The engine on the workflows, in their database or in the data folder. Makes no tables: which keys they have is
/// somebody's decision, for good.
async fn workflows(config: &Config) -> Result<Workflows, Failure> {
    let schema = config.workflows.schema.clone();
    let missing = |what: &str| Workflows::NotInstalled {
        remedy: format!(
            "{what}: `heddle workflows install --apply` makes the tables, with the names and key types of [workflows] \
             in heddle.toml, and the server finds them at its next start"
        ),
    };
    let opened = if let Some(url) = &config.workflows.database_url {
        WorkflowPostgres::connect(url, schema).await.map(|store| WorkflowStore::of(Arc::new(store)))
    } else {
        let path = local::workflows_path(&config.data);
        if !path.exists() {
            return Ok(missing("the workflow tables are not there"));
        }
        WorkflowSqlite::open(&path, schema).map(|store| WorkflowStore::of(Arc::new(store)))
    };
    let store = match opened {
        Ok(store) => store,
        Err(StoreError::Schema { remedy, .. }) => return Ok(missing(remedy)),
        Err(error) => {
            let failure = Failure::new("could not open the workflows").because(error);
            return Err(failure.hint(match config.workflows.database_url {
                Some(_) => {
                    "workflows.database_url says where they are: without it they are in the data folder."
                }
                None => "They are in the data folder's workflows.sqlite: without it everything else works.",
            }));
        }
    };
    // Handlers are Rust functions, of which this program has none: a program of your own embeds the engine.
    let (registry, clock, draw) = (Registry::new(), Arc::new(SystemClock), Arc::new(SystemDraw));
    let engine = Engine::new(store, registry, clock, draw, heddle_engine::Config::default());
    Ok(Workflows::Ready { engine: Arc::new(engine), keys: config.workflows.schema.keys() })
}

/// The configured callers; where there are none, whoever can read the data folder's token.
fn callers(config: &Config) -> Result<(Vec<CallerConfig>, Option<PathBuf>), Failure> {
    if config.callers.is_empty() {
        let caller = CallerConfig {
            token: secrets::token(&config.data)?,
            organization_id: OrganizationId(config.default_organization_id),
            user: UserSub::new(LOCAL_USER),
            surface: TriggerSurface::Api,
        };
        return Ok((vec![caller], Some(secrets::token_path(&config.data))));
    }
    let configured = |caller: &Caller| CallerConfig {
        token: caller.token.clone(),
        organization_id: OrganizationId(caller.organization_id),
        user: UserSub::new(caller.user.clone()),
        surface: caller.surface,
    };
    Ok((config.callers.iter().map(configured).collect(), None))
}

/// Why a tenant could not be set up, and what to do where the settings are at fault.
fn no_tenant(error: StoreError, tenant: &TenantSeed, data: &Path) -> Failure {
    let id = match &error {
        StoreError::BadRow { table: "project", column: "organization_id", id, .. } => id.clone(),
        _ => return Failure::new("could not set up the tenants").because(error),
    };
    Failure::usage(format!(
        "project {id} in {} belongs to another organization than {}: a project, its runs and its files stay with the \
         organization that they began with",
        data.display(),
        tenant.organization
    ))
    .hint(
        "Say that organization's id: organization_id in [[projects]] for this project, default_organization_id (or \
         DEFAULT_ORGANIZATION_ID) for all that don't say.",
    )
    .hint("To begin anew, give the project another id, or the server another folder with --data.")
}

/// The default organization, and each other one that a caller or a project belongs to, with their projects.
fn tenants(config: &Config, callers: &[CallerConfig]) -> Vec<TenantSeed> {
    let mut organizations = vec![config.default_organization_id];
    organizations.extend(callers.iter().map(|caller| caller.organization_id.0));
    organizations.extend(config.projects.iter().map(|project| project.organization_id));
    organizations.sort_unstable();
    organizations.dedup();
    let tenant = |id: i64| {
        let users =
            callers.iter().filter(|caller| caller.organization_id.0 == id).map(|caller| caller.user.clone());
        let projects = config.projects.iter().filter(|project| project.organization_id == id);
        TenantSeed {
            organization: OrganizationId(id),
            name: if id == config.default_organization_id {
                "Default".to_owned()
            } else {
                format!("Organization {id}")
            },
            projects: projects.map(|project| (ProjectId(project.id), project.name.clone())).collect(),
            users: users.chain([UserSub::new(SERVICE_ACCOUNT)]).collect(),
        }
    };
    organizations.into_iter().map(tenant).collect()
}
