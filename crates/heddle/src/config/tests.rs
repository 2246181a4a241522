use std::collections::HashMap;

use heddle_store::workflows::{Dialect, KeyType};

use super::*;

fn load(file: &str, variables: &[(&str, &str)], overrides: Overrides) -> Result<Config, Failure> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("heddle.toml");
    std::fs::write(&path, file).unwrap();
    let variables: HashMap<_, _> = variables.iter().copied().collect();
    let args = ConfigArgs { config: Some(path), data: None, overrides };
    args.load_with(&|name| variables.get(name).map(|value| (*value).to_owned()))
}

#[test]
fn file_then_environment_then_flags() {
    let file =
        "listen = \"127.0.0.1:1\"\nbackend = \"http://file\"\n[worker]\nconcurrency = 3\nmemory_mib = 99\n";
    let config = load(file, &[], Overrides::default()).unwrap();
    assert_eq!((config.listen.port(), config.worker.concurrency, config.worker.memory_mib), (1, 3, 99));
    assert_eq!(config.server_url(), "http://file");
    let variables =
        [("HEDDLE_LISTEN", "127.0.0.1:2"), ("HEDDLE_WORKER_CONCURRENCY", "4"), ("HEDDLE_BACKEND", " ")];
    let config = load(file, &variables, Overrides::default()).unwrap();
    assert_eq!((config.listen.port(), config.worker.concurrency), (2, 4));
    assert_eq!(config.server_url(), "http://file", "a blank variable is unset");
    let flags = Overrides {
        listen: Some("127.0.0.1:3".parse().unwrap()),
        concurrency: Some(5),
        ..Overrides::default()
    };
    let config = load(file, &variables, flags).unwrap();
    assert_eq!((config.listen.port(), config.worker.concurrency), (3, 5));
    let from = |key: &str| config.shown.iter().find(|shown| shown.key == key).unwrap().from.clone();
    assert_eq!(from("listen"), "flag");
    assert!(from("worker.memory_mib").ends_with("heddle.toml"));
    assert_eq!(from("data"), "default");
}

// proves D1
#[test]
fn collections_and_the_default_organization_go_by_the_contracts_names() {
    let variables = [("DES2WF_VERDICT_TABLE_NAME", "v"), ("DEFAULT_ORGANIZATION_ID", "42")];
    let config = load("[collections]\nwireframe = \"w\"\n", &variables, Overrides::default()).unwrap();
    assert_eq!(
        (config.collections.des2wf_verdict.as_str(), config.collections.wireframe.as_str()),
        ("v", "w")
    );
    assert_eq!(config.default_organization_id, 42);
    assert!(load("[collections]\nwire = \"w\"\n", &[], Overrides::default()).is_err());
    assert!(load("[collections]\nwireframe = \"design\"\n", &[], Overrides::default()).is_err());
}

// proves W1, W2
#[test]
fn workflow_tables_have_their_names_and_keys() {
    let file = "[workflows]\nprimary_key_type = \"uuid\"\nkey_type = \"ulid\"\n[workflows.tables]\nwaits = \"flow_waits\"\n";
    let variables =
        [("HEDDLE_WORKFLOWS_KEY_TYPE", "uuid"), ("HEDDLE_WORKFLOWS_TABLE_VERSIONS", "flow_versions")];
    let workflow_keys = WorkflowKeys { owner: Some(KeyType::Ulid), ..WorkflowKeys::default() };
    let config = load(file, &variables, Overrides { workflow_keys, ..Overrides::default() }).unwrap();
    let keys = config.workflows.schema.keys();
    assert_eq!((keys.primary, keys.morph), (KeyType::Uuid, KeyType::Uuid), "a variable goes before the file");
    assert_eq!((keys.owner, keys.subject), (KeyType::Ulid, KeyType::Bigint), "and a flag before both");
    let migration = config.workflows.schema.migration(Dialect::Sqlite);
    assert!(
        migration.contains("CREATE TABLE flow_waits") && migration.contains("CREATE TABLE flow_versions")
    );
    let shown = |key: &str| config.shown.iter().find(|shown| shown.key == key).unwrap().value.clone();
    assert_eq!(shown("workflows.tables.waits"), "flow_waits");
    assert_eq!(shown("workflows.tables.instances"), "workflow_instances");
    assert_eq!(shown("workflows.owner_key_type"), "ulid");
}

#[test]
fn secrets_are_never_shown() {
    let file =
        "webhook_secret = \"HIDDEN1\"\ntoken = \"HIDDEN2\"\n[[callers]]\ntoken = \"HIDDEN3\"\nuser = \"u\"\n";
    let config = load(file, &[], Overrides::default()).unwrap();
    assert_eq!(config.callers[0].token, "HIDDEN3");
    assert!(!serde_json::to_string(&config.shown).unwrap().contains("HIDDEN"));
    // Not in a mistake's message either.
    let file = "webhook_secret = \"HIDDEN1\" oops\n";
    let Err(failure) = load(file, &[], Overrides::default()) else { panic!("a mistake was taken") };
    assert!(!failure.to_string().contains("HIDDEN"), "{failure}");
    assert!(failure.to_string().contains("line 1"), "{failure}");
}

#[test]
fn mistakes_are_named() {
    for (file, variables, expected) in [
        ("lissten = 1\n", &[][..], "lissten"),
        ("listen = \"here\"\n", &[], "an address and port"),
        ("", &[("HEDDLE_LISTEN", "here")], "HEDDLE_LISTEN"),
        ("", &[("HEDDLE_PAGES", "shut")], "sign-in or open"),
        ("", &[("HEDDLE_WORKER_VISIBILITY_SECONDS", "1")], "5 to 43200"),
        ("", &[("DEFAULT_ORGANIZATION_ID", "one")], "a whole number"),
        ("[worker]\nconcurrency = 0\n", &[], "1 to 256"),
        ("[[projects]]\nid = 0\n", &[], "1 or more"),
        ("[[projects]]\nid = 3\n[[projects]]\nid = 3\norganization_id = 2\n", &[], "two projects 3"),
        ("[[callers]]\ntoken = \"t\"\nuser = \"u\"\nsurface = \"fax\"\n", &[], "api or plugin"),
        ("[workflows]\nkey_type = \"int\"\n", &[], "bigint, uuid or ulid"),
        ("[workflows]\nkeys = \"int\"\n", &[], "keys"),
        ("[workflows.tables]\nruns = \"r\"\n", &[], "no table \"runs\""),
        ("[workflows.tables]\nwaits = \"no table\"\n", &[], "is no table's name"),
    ] {
        let Err(failure) = load(file, variables, Overrides::default()) else {
            panic!("{file:?} {variables:?}")
        };
        assert!(failure.to_string().contains(expected), "{failure}");
    }
    let absent = ConfigArgs { config: Some("/nonexistent/heddle.toml".into()), ..ConfigArgs::default() };
    assert!(absent.load_with(&|_| None).is_err());
}

#[test]
fn a_server_on_every_address_is_reached_by_loopback() {
    assert_eq!(local_url("0.0.0.0:7".parse().unwrap()), "http://127.0.0.1:7");
    assert_eq!(local_url("[::]:7".parse().unwrap()), "http://[::1]:7");
    assert_eq!(local_url("10.1.2.3:7".parse().unwrap()), "http://10.1.2.3:7");
}
