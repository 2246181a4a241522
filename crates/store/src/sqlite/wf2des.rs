//! `wf2des` on `SQLite`.

use heddle_generation::message::Job;
use heddle_generation::{
    Change, Command, Decision, Edge, FeedbackStatus, Opening, OrganizationId, Phase, Run, RunId, Score,
    ScoreValue, Status, UserSub, decide,
};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use super::{failed, tenants};
use crate::row::{RawRun, time_text};
use crate::sql::outbox::sqlite as outbox_sql;
use crate::sql::wf2des::sqlite as sql;
use crate::{CreateError, Page, PageRequest, RunFilter, StoreError, Transition, TransitionError};

pub(super) fn create(connection: &Connection, opening: &Opening) -> Result<Run, CreateError> {
    let opening = match latest(connection, &opening.run)? {
        Some(latest) => opening.clone().later_than(latest),
        None => opening.clone(),
    };
    let Opening { run, job } = &opening;
    if !tenants::has_project(connection, run.organization_id, run.project_id)? {
        return Err(CreateError::UnknownProject {
            organization: run.organization_id,
            project: run.project_id,
        });
    }
    if !tenants::has_user(connection, &run.created_by)? {
        return Err(CreateError::UnknownUser { user: run.created_by.clone() });
    }
    if insert(connection, run)? == 0 {
        return Err(CreateError::AlreadyLive { id: live(connection, run)? });
    }
    send(connection, run, job)?;
    Ok(opening.run)
}

/// When the last run of the node of `run` was created.
fn latest(connection: &Connection, run: &Run) -> Result<Option<Timestamp>, StoreError> {
    let params =
        params![run.organization_id.0, run.project_id.0, run.figma_file_key, run.wf_node_id, run.edge.code()];
    let latest: Option<String> = connection
        .prepare_cached(sql::LATEST)
        .and_then(|mut statement| statement.query_row(params, |row| row.get(0)))
        .map_err(|error| failed("find the last run of a node", error))?;
    let bad = |text: String| StoreError::BadRow {
        table: "wf2des",
        column: "created_at",
        id: text,
        reason: "is no time".to_owned(),
    };
    latest.map(|text| text.parse().map_err(|_| bad(text))).transpose()
}

/// Inserts a row; 0 where the fence forbids it.
fn insert(connection: &Connection, run: &Run) -> Result<usize, StoreError> {
    let Run { state, .. } = run;
    let score = state.score();
    connection
        .prepare_cached(sql::INSERT)
        .and_then(|mut statement| {
            statement.execute(params![
                run.id.to_string(),
                run.organization_id.0,
                run.project_id.0,
                run.figma_file_key,
                run.wf_node_id,
                run.screen_id,
                run.prompt,
                run.placement_target,
                run.auto_confirm.code(),
                run.trigger_surface.code(),
                state.status().code(),
                state.phase().map(Phase::code),
                run.attempt,
                state.error_message(),
                state.result_url(),
                state.flag_count(),
                score.map(|score| score.value().get()),
                score.map(Score::version),
                state.materialized_at().map(time_text),
                state.feedback().map(FeedbackStatus::code),
                run.edge.code(),
                time_text(run.created_at),
                time_text(run.updated_at),
                run.created_by.as_str(),
                run.updated_by.as_str(),
            ])
        })
        .map_err(|error| failed("create a run", error))
}

/// The run that holds the fence of `run`'s node.
fn live(connection: &Connection, run: &Run) -> Result<RunId, StoreError> {
    let params = params![run.project_id.0, run.figma_file_key, run.wf_node_id, run.edge.code()];
    let id: String = connection
        .prepare_cached(sql::LIVE)
        .and_then(|mut statement| statement.query_row(params, |row| row.get(0)))
        .map_err(|error| failed("find the live run of a node", error))?;
    RunId::parse(&id).ok_or_else(|| StoreError::BadRow {
        table: "wf2des",
        column: "id",
        id,
        reason: "is no UUID".to_owned(),
    })
}

fn send(connection: &Connection, run: &Run, job: &Job) -> Result<(), StoreError> {
    let backend = |source: Box<dyn std::error::Error + Send + Sync>| StoreError::Backend {
        attempted: "write a run's message",
        source,
    };
    let body = serde_json::to_string(job).map_err(|error| backend(Box::new(error)))?;
    connection
        .prepare_cached(outbox_sql::INSERT)
        .and_then(|mut statement| {
            statement.execute(params![run.id.to_string(), body, time_text(run.updated_at)])
        })
        .map_err(|error| backend(Box::new(error)))?;
    Ok(())
}

pub(super) fn get(
    connection: &Connection,
    organization: OrganizationId,
    id: RunId,
) -> Result<Option<Run>, StoreError> {
    one(connection, sql::GET, params![id.to_string(), organization.0])
}

pub(super) fn by_job(connection: &Connection, id: RunId) -> Result<Option<Run>, StoreError> {
    one(connection, sql::BY_JOB, params![id.to_string()])
}

pub(super) fn list(
    connection: &Connection,
    organization: OrganizationId,
    filter: &RunFilter,
    page: PageRequest,
) -> Result<Page, StoreError> {
    const ATTEMPTED: &str = "list runs";
    let limit = page.bounded();
    // Above every time and every id, so that the first page is a page like any other.
    let (before, before_id) = match page.after {
        Some(cursor) => (time_text(cursor.created_at), cursor.id.to_string()),
        None => ("~".to_owned(), "~".to_owned()),
    };
    let params = params![
        organization.0,
        filter.project.map(|project| project.0),
        filter.file,
        filter.status.map(Status::code),
        filter.edge.map(Edge::code),
        filter.materialized,
        filter.score_min.map(ScoreValue::get),
        filter.score_max.map(ScoreValue::get),
        filter.score_version,
        before,
        before_id,
        limit + 1,
    ];
    let mut statement =
        connection.prepare_cached(list_statement(filter)).map_err(|error| failed(ATTEMPTED, error))?;
    let raw = statement
        .query_map(params, raw)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| failed(ATTEMPTED, error))?;
    let runs = raw.into_iter().map(RawRun::check).collect::<Result<Vec<_>, _>>()?;
    Ok(Page::cut(runs, limit))
}

/// The statement whose index fits the filter.
fn list_statement(filter: &RunFilter) -> &'static str {
    match (filter.project, &filter.file, filter.status) {
        (Some(_), Some(_), Some(_)) => sql::LIST_FILE_STATUS,
        (Some(_), Some(_), None) => sql::LIST_FILE,
        _ => sql::LIST,
    }
}

pub(super) fn transition(
    connection: &Connection,
    organization: OrganizationId,
    id: RunId,
    command: &Command,
    by: &UserSub,
    now: Timestamp,
) -> Result<Transition, TransitionError> {
    let run = get(connection, organization, id)?.ok_or(TransitionError::NotFound)?;
    match decide(&run, command, by, now)? {
        Decision::Ignore(why) => Ok(Transition::Ignored { why, run }),
        Decision::Apply(change) => {
            write(connection, &run, &change)?;
            Ok(Transition::Applied(change.applied_to(&run)))
        }
    }
}

/// Writes a change of `run` as it was loaded; a row that isn't so any more is left alone.
fn write(connection: &Connection, run: &Run, change: &Change) -> Result<(), StoreError> {
    let Change { state, deleted, at, by } = change;
    let score = state.score();
    let changed = connection
        .prepare_cached(sql::TRANSITION)
        .and_then(|mut statement| {
            statement.execute(params![
                run.id.to_string(),
                run.organization_id.0,
                run.state.status().code(),
                run.state.phase().map(Phase::code),
                run.attempt,
                state.status().code(),
                state.phase().map(Phase::code),
                state.error_message(),
                state.result_url(),
                state.flag_count(),
                score.map(|score| score.value().get()),
                score.map(Score::version),
                state.materialized_at().map(time_text),
                state.feedback().map(FeedbackStatus::code),
                time_text(*at),
                by.as_str(),
                deleted,
            ])
        })
        .map_err(|error| failed("change a run", error))?;
    match changed {
        1 => Ok(()),
        _ => Err(StoreError::ChangedMeanwhile { table: "wf2des", id: run.id.to_string() }),
    }
}

fn one(connection: &Connection, statement: &str, params: impl Params) -> Result<Option<Run>, StoreError> {
    connection
        .prepare_cached(statement)
        .and_then(|mut statement| statement.query_row(params, raw).optional())
        .map_err(|error| failed("read a run", error))?
        .map(RawRun::check)
        .transpose()
}

fn raw(row: &Row<'_>) -> rusqlite::Result<RawRun> {
    Ok(RawRun {
        id: row.get("id")?,
        organization_id: row.get("organization_id")?,
        project_id: row.get("project_id")?,
        figma_file_key: row.get("figma_file_key")?,
        wf_node_id: row.get("wf_node_id")?,
        screen_id: row.get("screen_id")?,
        prompt: row.get("prompt")?,
        placement_target: row.get("placement_target")?,
        auto_confirm: row.get("auto_confirm")?,
        trigger_surface: row.get("trigger_surface")?,
        status: row.get("status")?,
        phase: row.get("phase")?,
        attempt: row.get("attempt")?,
        error_message: row.get("error_message")?,
        result_url: row.get("result_url")?,
        flag_count: row.get("flag_count")?,
        score: row.get("score")?,
        score_version: row.get("score_version")?,
        materialized_at: row.get("materialized_at")?,
        feedback_status: row.get("feedback_status")?,
        edge: row.get("edge")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
        created_by: row.get("created_by")?,
        updated_by: row.get("updated_by")?,
    })
}

#[cfg(test)]
mod tests {
    use heddle_generation::message::Source;
    use heddle_generation::{ProjectId, Requester, RunRequest, State, TriggerSurface, open};

    use super::*;
    use crate::TenantSeed;

    fn database() -> (tempfile::TempDir, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.sqlite");
        super::super::migrate(&path, Timestamp::UNIX_EPOCH).unwrap();
        let connection = crate::readers::prepared(Connection::open(path).unwrap()).unwrap();
        let tenant = TenantSeed {
            organization: OrganizationId(1),
            name: "one".to_owned(),
            projects: vec![(ProjectId(7), "seven".to_owned())],
            users: vec![UserSub::new("ann")],
        };
        tenants::ensure(&connection, &tenant, Timestamp::UNIX_EPOCH).unwrap();
        (folder, connection)
    }

    fn opening() -> Opening {
        let request = RunRequest {
            edge: Edge::Des2wf,
            project_id: 7,
            figma_file_key: "FILE".to_owned(),
            wf_node_id: "1:2".to_owned(),
            screen_id: None,
            prompt: None,
            placement_target: None,
            auto_confirm: false,
            source: Source::Figma,
        };
        let requester = Requester {
            organization_id: OrganizationId(1),
            user: UserSub::new("ann"),
            surface: TriggerSurface::Api,
        };
        let id = RunId::parse("0192f0c1-2b3c-7d4e-8f90-a1b2c3d4e5f6").unwrap();
        open(request.validate().unwrap(), &requester, id, Timestamp::UNIX_EPOCH)
    }

    fn plan(connection: &Connection, statement: &str) -> String {
        let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
        let parameters = vec![rusqlite::types::Null; explain.parameter_count()];
        let lines = explain
            .query_map(rusqlite::params_from_iter(parameters), |row| row.get::<_, String>("detail"))
            .unwrap();
        lines.collect::<Result<Vec<_>, _>>().unwrap().join("; ")
    }

    /// proves G3: the list of a file and the late-materialisation query use the contract's index, as far as they
    /// can, and a tenant's list is walked in order and not sorted.
    #[test]
    fn lists_use_their_indexes() {
        let (_folder, connection) = database();
        let by_file = "SEARCH wf2des USING INDEX wf2des_org_project_file_status_idx \
                       (organization_id=? AND project_id=? AND figma_file_key=?";
        let project = Some(ProjectId(7));
        let file = Some("FILE".to_owned());
        let status = Some(Status::Completed);
        let of_file = RunFilter { project, file, ..RunFilter::default() };
        let late = RunFilter { status, materialized: Some(false), ..of_file.clone() };
        for (filter, expected) in
            [(of_file, format!("{by_file})")), (late, format!("{by_file} AND status=?)"))]
        {
            let plan = plan(&connection, list_statement(&filter));
            assert!(plan.starts_with(&expected), "{plan}");
        }
        for filter in [RunFilter::default(), RunFilter { project, status, ..RunFilter::default() }] {
            let plan = plan(&connection, list_statement(&filter));
            assert!(plan.contains("USING INDEX wf2des_org_created_idx (organization_id=? AND "), "{plan}");
            assert!(!plan.contains("TEMP B-TREE"), "{plan}");
        }
        let live = plan(&connection, sql::LIVE);
        assert!(live.contains("wf2des_open_generation_uq"), "{live}");
        let latest = plan(&connection, sql::LATEST);
        assert!(latest.starts_with(&format!("{by_file})")), "{latest}");
        let pending = plan(&connection, outbox_sql::PENDING);
        assert!(pending.contains("outbox_pending_idx"), "{pending}");
    }

    /// proves G6: the write is guarded by what was decided on: a row whose status, phase or attempt has moved since
    /// is left alone.
    #[test]
    fn a_write_over_a_changed_row_is_refused() {
        let (_folder, connection) = database();
        let opening = opening();
        create(&connection, &opening).unwrap();
        let change = Change {
            state: State::Cancelled,
            deleted: false,
            at: opening.run.updated_at,
            by: UserSub::new("ann"),
        };
        let stale = [
            Run { attempt: 2, ..opening.run.clone() },
            Run { state: State::Processing { phase: Phase::Assemble }, ..opening.run.clone() },
            Run { state: State::Rejected, ..opening.run.clone() },
            Run { organization_id: OrganizationId(2), ..opening.run.clone() },
        ];
        for stale in stale {
            let refused = write(&connection, &stale, &change);
            assert!(matches!(refused, Err(StoreError::ChangedMeanwhile { .. })), "{stale:?}");
            assert_eq!(by_job(&connection, opening.run.id).unwrap().unwrap(), opening.run);
        }
        write(&connection, &opening.run, &change).unwrap();
    }

    /// proves G13: a delete says when and by whom in its own columns, and the row is still there for an audit.
    #[test]
    fn a_delete_is_in_the_audit_columns() {
        let (_folder, connection) = database();
        let opening = opening();
        create(&connection, &opening).unwrap();
        let later = Timestamp::from_second(60).unwrap();
        transition(
            &connection,
            OrganizationId(1),
            opening.run.id,
            &Command::Delete,
            &UserSub::new("ann"),
            later,
        )
        .unwrap();
        let row: (String, String, String, String) = connection
            .query_row("SELECT status, updated_at, deleted_at, deleted_by FROM wf2des", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })
            .unwrap();
        let at = "1970-01-01T00:01:00.000000Z".to_owned();
        assert_eq!(row, ("4".to_owned(), at.clone(), at, "ann".to_owned()));
    }

    /// proves G1: the table is the contract's, column by column, with its types, defaults and NULLs.
    #[test]
    fn the_table_is_the_contracts() {
        let (_folder, connection) = database();
        let mut statement = connection.prepare("SELECT * FROM pragma_table_info('wf2des')").unwrap();
        let columns = statement
            .query_map([], |row| {
                let name: String = row.get("name")?;
                let kind: String = row.get("type")?;
                let nullable = if row.get::<_, bool>("notnull")? { "" } else { " null" };
                let default: Option<String> = row.get("dflt_value")?;
                Ok(format!("{name} {kind}{nullable}{}", default.map_or(String::new(), |d| format!(" = {d}"))))
            })
            .unwrap();
        let columns = columns.collect::<Result<Vec<_>, _>>().unwrap();
        let expected = "id TEXT, organization_id INTEGER, project_id INTEGER, figma_file_key TEXT, \
             wf_node_id TEXT, screen_id TEXT, prompt TEXT null, placement_target TEXT null, \
             auto_confirm TEXT = '0', trigger_surface TEXT, status TEXT = '0', phase TEXT null, \
             attempt INTEGER = 1, error_message TEXT null, result_url TEXT null, flag_count INTEGER null, \
             score REAL null, score_version TEXT null, materialized_at TEXT null, feedback_status TEXT null, \
             edge TEXT = '0', created_at TEXT, updated_at TEXT, deleted_at TEXT null, created_by TEXT, \
             updated_by TEXT, deleted_by TEXT null";
        assert_eq!(columns.join(", "), expected);

        let foreign: Vec<String> = connection
            .prepare("SELECT \"from\" || '->' || \"table\" FROM pragma_foreign_key_list('wf2des') ORDER BY 1")
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        for expected in [
            "organization_id->organization",
            "project_id->project",
            "created_by->user",
            "updated_by->user",
            "deleted_by->user",
        ] {
            assert!(foreign.iter().any(|key| key == expected), "{expected} in {foreign:?}");
        }
    }

    /// proves G1: codes that are none of the contract's are refused by the database itself.
    /// proves G13: so is an invisible row that would hold the fence.
    #[test]
    fn the_database_refuses_what_no_row_may_be() {
        let (_folder, connection) = database();
        create(&connection, &opening()).unwrap();
        for change in [
            "status = '5'",
            "status = '1'",
            "phase = '3'",
            "phase = NULL",
            "edge = '2'",
            "auto_confirm = 'x'",
            "trigger_surface = '2'",
            "feedback_status = '2'",
            "attempt = 0",
            "score = 1.5, score_version = 'ds@1.0'",
            "score = 0.5",
            "project_id = 8",
            "organization_id = 2",
            "created_by = 'nobody'",
            "deleted_by = 'ann'",
            "deleted_by = 'ann', deleted_at = created_at",
        ] {
            let refused = connection.execute(&format!("UPDATE wf2des SET {change}"), []);
            assert!(refused.is_err(), "{change}");
        }
    }

    /// A damaged row is named by table, column and id, and is never taken for something that it isn't.
    #[test]
    fn a_bad_row_is_located() {
        let (_folder, connection) = database();
        let opening = opening();
        create(&connection, &opening).unwrap();
        connection.pragma_update(None, "ignore_check_constraints", true).unwrap();
        for (change, column) in [
            ("status = '9'", "status"),
            ("phase = '9'", "phase"),
            ("phase = NULL", "phase"),
            ("edge = '9'", "edge"),
            ("attempt = -1", "attempt"),
            ("created_at = 'then'", "created_at"),
            ("status = '1', phase = NULL", "result_url"),
            ("status = '1', phase = NULL, result_url = 'r', score = 0.5", "score_version"),
            ("status = '1', phase = NULL, result_url = 'r', flag_count = -1", "flag_count"),
            ("status = '2', phase = NULL", "error_message"),
        ] {
            connection.execute_batch("SAVEPOINT before").unwrap();
            connection.execute(&format!("UPDATE wf2des SET {change}"), []).unwrap();
            match by_job(&connection, opening.run.id) {
                Err(StoreError::BadRow { table: "wf2des", column: found, id, .. }) => {
                    assert_eq!((found, id), (column, opening.run.id.to_string()), "{change}");
                }
                other => panic!("{change} gave {other:?}"),
            }
            connection.execute_batch("ROLLBACK TO before; RELEASE before").unwrap();
        }
    }
}
