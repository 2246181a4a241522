//! What every adapter must do, as functions over the traits.
#![allow(clippy::unwrap_used, reason = "a suite panics where it finds something")]

pub mod differential;

use heddle_generation::message::{Job, Source};
use heddle_generation::{
    AutoConfirm, Command, Edge, Ignored, Opening, OrganizationId, ProjectId, Refusal, Requester, Run, RunEnd,
    RunId, RunRequest, Score, ScoreValue, State, Status, TriggerSurface, UserSub, open,
};
use heddle_store::{
    CreateError, MAX_PAGE, Page, PageRequest, RunFilter, Store, StoreError, TenantSeed, Transition,
    TransitionError,
};
use jiff::Timestamp;

pub const ONE: OrganizationId = OrganizationId(1);
pub const TWO: OrganizationId = OrganizationId(2);

pub fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

pub fn sub(name: &str) -> UserSub {
    UserSub::new(name)
}

pub fn id(number: u128) -> RunId {
    RunId::new(uuid::Uuid::from_u128(number))
}

pub fn request(edge: Edge, project_id: i64, file: &str, node: &str) -> RunRequest {
    RunRequest {
        edge,
        project_id,
        figma_file_key: file.to_owned(),
        wf_node_id: node.to_owned(),
        screen_id: (edge == Edge::Wf2des).then(|| "Home".to_owned()),
        prompt: Some("mind the header".to_owned()),
        placement_target: Some("9:9".to_owned()),
        auto_confirm: false,
        source: Source::Figma,
    }
}

pub fn requester(organization_id: OrganizationId) -> Requester {
    Requester { organization_id, user: sub("ann"), surface: TriggerSurface::Plugin }
}

pub fn opening(request: RunRequest, number: u128, second: i64) -> Opening {
    let organization = if request.project_id < 20 { ONE } else { TWO };
    open(request.validate().unwrap(), &requester(organization), id(number), at(second))
}

pub fn done(score: Option<f64>, attempt: u32) -> Command {
    let score = score.map(|score| Score::new(ScoreValue::new(score).unwrap(), "ds@1.0").unwrap());
    let end = RunEnd::Completed { result_url: "r.json".to_owned(), flag_count: Some(2), score };
    Command::Report { attempt, end }
}

/// Two tenants: organization 1 with projects 10 and 11, organization 2 with project 20.
pub async fn seed(store: &Store) {
    for (organization, projects) in [(ONE, vec![10, 11]), (TWO, vec![20])] {
        let tenant = TenantSeed {
            organization,
            name: format!("organization {organization}"),
            projects: projects.into_iter().map(|id| (ProjectId(id), format!("project {id}"))).collect(),
            users: vec![sub("ann"), sub("bo"), sub("service")],
        };
        store.tenants.ensure_tenant(&tenant, at(0)).await.unwrap();
        store.tenants.ensure_tenant(&tenant, at(1)).await.expect("a second time changes nothing");
    }
}

async fn create(store: &Store, opening: &Opening) -> Run {
    store.runs.create(opening).await.unwrap()
}

async fn applied(store: &Store, run: &Run, command: &Command, second: i64) -> Run {
    let by = sub("service");
    match store.runs.transition(run.organization_id, run.id, command, &by, at(second)).await.unwrap() {
        Transition::Applied(run) => run,
        other @ Transition::Ignored { .. } => panic!("{command:?} gave {other:?}"),
    }
}

async fn all(store: &Store, filter: &RunFilter) -> Vec<RunId> {
    let page = PageRequest { after: None, limit: MAX_PAGE };
    store.runs.list(ONE, filter, page).await.unwrap().runs.into_iter().map(|run| run.id).collect()
}

/// Everything, on a fresh and empty store.
pub async fn conforms(store: &Store) {
    seed(store).await;
    tenants(store).await;
    a_run_is_kept_as_it_was_opened(store).await;
    the_fence(store).await;
    runs_of_a_node_are_in_order(store).await;
    tenants_do_not_see_each_other(store).await;
    reports(store).await;
    deletion(store).await;
    filters(store).await;
    pages(store).await;
    the_outbox(store).await;
}

async fn tenants(store: &Store) {
    assert!(store.tenants.has_project(ONE, ProjectId(10)).await.unwrap());
    assert!(!store.tenants.has_project(ONE, ProjectId(20)).await.unwrap());
    assert!(!store.tenants.has_project(OrganizationId(3), ProjectId(10)).await.unwrap());
    let thief = TenantSeed {
        organization: TWO,
        name: "two".to_owned(),
        projects: vec![(ProjectId(10), "stolen".to_owned())],
        users: vec![],
    };
    let refused = store.tenants.ensure_tenant(&thief, at(0)).await;
    assert!(matches!(refused, Err(StoreError::BadRow { table: "project", .. })), "{refused:?}");
}

/// proves G1, G5: a run reads back as it was written, with its message beside it.
async fn a_run_is_kept_as_it_was_opened(store: &Store) {
    for (number, edge, auto) in [(1, Edge::Des2wf, false), (2, Edge::Wf2des, true)] {
        let mut request = request(edge, 10, "kept", "1:1");
        request.auto_confirm = auto;
        let opening = opening(request, number, 3);
        let run = create(store, &opening).await;
        assert_eq!(run.auto_confirm == AutoConfirm::Auto, auto);
        assert_eq!(store.runs.get(ONE, run.id).await.unwrap(), Some(run.clone()));
        assert_eq!(store.jobs.by_job(run.id).await.unwrap(), Some(run.clone()));
        let pending = store.outbox.pending(None, 100).await.unwrap();
        let message = pending.iter().find(|message| message.run == run.id).expect("a message goes out");
        assert_eq!(serde_json::from_str::<Job>(&message.body).unwrap(), opening.job);
    }
    assert_eq!(store.runs.get(ONE, id(999)).await.unwrap(), None);
    assert_eq!(store.jobs.by_job(id(999)).await.unwrap(), None);

    let nowhere = opening(request(Edge::Des2wf, 12, "kept", "1:1"), 3, 3);
    let refused = store.runs.create(&nowhere).await;
    assert!(matches!(refused, Err(CreateError::UnknownProject { .. })), "{refused:?}");
    let mut nobody = opening(request(Edge::Des2wf, 10, "kept", "1:2"), 3, 3);
    nobody.run.created_by = sub("nobody");
    let refused = store.runs.create(&nobody).await;
    assert!(matches!(refused, Err(CreateError::UnknownUser { .. })), "{refused:?}");
    assert_eq!(store.runs.get(ONE, id(3)).await.unwrap(), None);
    assert_eq!(store.outbox.pending(None, 100).await.unwrap().len(), 2, "a refused run sends nothing");
}

/// proves G2: one live run per project, file, node and edge; a second trigger learns its id; anything else is free,
/// and so is the node once the run has ended.
async fn the_fence(store: &Store) {
    let first = create(store, &opening(request(Edge::Des2wf, 10, "fence", "1:1"), 100, 5)).await;
    let again = opening(request(Edge::Des2wf, 10, "fence", "1:1"), 101, 6);
    match store.runs.create(&again).await {
        Err(CreateError::AlreadyLive { id }) => assert_eq!(id, first.id),
        other => panic!("{other:?}"),
    }
    assert_eq!(store.runs.get(ONE, again.run.id).await.unwrap(), None);
    let sent = store.outbox.pending(None, 100).await.unwrap();
    assert!(sent.iter().all(|message| message.run != again.run.id), "a fenced run sends nothing");

    create(store, &opening(request(Edge::Wf2des, 10, "fence", "1:1"), 102, 7)).await;
    create(store, &opening(request(Edge::Des2wf, 10, "fence", "1:2"), 103, 7)).await;
    create(store, &opening(request(Edge::Des2wf, 10, "other", "1:1"), 104, 7)).await;
    create(store, &opening(request(Edge::Des2wf, 11, "fence", "1:1"), 105, 7)).await;
    create(store, &opening(request(Edge::Des2wf, 20, "fence", "1:1"), 106, 7)).await;

    applied(store, &first, &Command::Cancel, 8).await;
    create(store, &again).await;
}

/// The runs of one node and edge are created one after the other by their times, whatever the clocks say, and their
/// messages carry those times; a deleted run counts, and another node's doesn't.
async fn runs_of_a_node_are_in_order(store: &Store) {
    let on_node = |node, number, second| opening(request(Edge::Des2wf, 10, "order", node), number, second);
    let first = create(store, &on_node("1:1", 150, 100)).await;
    assert_eq!(first.created_at, at(100));
    applied(store, &first, &Command::Cancel, 101).await;
    let mut last = first;
    for (number, second) in [(151, 100), (152, 40), (153, 99)] {
        let run = create(store, &on_node("1:1", number, second)).await;
        assert!(run.created_at > last.created_at && run.updated_at == run.created_at);
        assert!(run.created_at < at(101), "no later than need be");
        assert_eq!(store.runs.get(ONE, run.id).await.unwrap(), Some(run.clone()));
        let pending = store.outbox.pending(None, 1000).await.unwrap();
        let message = pending.iter().find(|message| message.run == run.id).unwrap();
        let job: Job = serde_json::from_str(&message.body).unwrap();
        assert_eq!(job.run_created_at, Some(run.created_at));
        applied(store, &run, &Command::Delete, second).await;
        last = run;
    }
    assert_eq!(create(store, &on_node("1:1", 154, 200)).await.created_at, at(200));
    assert_eq!(create(store, &on_node("1:2", 155, 50)).await.created_at, at(50));
}

/// proves G4: another tenant's run is not there: not read, not listed, not changed.
async fn tenants_do_not_see_each_other(store: &Store) {
    let foreign = create(store, &opening(request(Edge::Des2wf, 20, "secret", "1:1"), 200, 9)).await;
    assert_eq!(store.runs.get(ONE, foreign.id).await.unwrap(), None);
    for command in [Command::Cancel, Command::Delete, done(None, 1)] {
        let refused = store.runs.transition(ONE, foreign.id, &command, &sub("ann"), at(10)).await;
        assert!(matches!(refused, Err(TransitionError::NotFound)), "{refused:?}");
    }
    let of_file = RunFilter { file: Some("secret".to_owned()), ..RunFilter::default() };
    let in_project = RunFilter { project: Some(ProjectId(20)), ..of_file.clone() };
    assert_eq!(all(store, &of_file).await, []);
    assert_eq!(all(store, &in_project).await, []);
    assert_eq!(store.runs.get(TWO, foreign.id).await.unwrap(), Some(foreign));
}

/// proves G6: a report ends a run once, under its attempt; everything later changes nothing and says why.
/// proves G11: the row shows score, version, flags and result by itself.
async fn reports(store: &Store) {
    let run = create(store, &opening(request(Edge::Des2wf, 10, "report", "1:1"), 300, 20)).await;
    let early = store.runs.transition(ONE, run.id, &done(None, 2), &sub("service"), at(21)).await;
    assert!(
        matches!(early, Err(TransitionError::Refused(Refusal::AttemptAhead { present: 1 }))),
        "{early:?}"
    );
    let ended = applied(store, &run, &done(Some(0.874_21), 1), 22).await;
    assert_eq!(store.runs.get(ONE, run.id).await.unwrap(), Some(ended.clone()));
    assert_eq!(ended.state.score().map(Score::version), Some("ds@1.0"));
    assert_eq!(ended.state.flag_count(), Some(2));
    assert_eq!((ended.updated_at, &ended.updated_by), (at(22), &sub("service")));
    assert_eq!((ended.created_at, &ended.created_by), (at(20), &sub("ann")));

    let failure = RunEnd::Failed { error_message: "no".to_owned(), result_url: None };
    for end in [done(None, 1), Command::Report { attempt: 1, end: failure.clone() }] {
        let again = store.runs.transition(ONE, run.id, &end, &sub("service"), at(30)).await.unwrap();
        let why = Ignored::Repeat { status: Status::Completed };
        assert_eq!(again, Transition::Ignored { why, run: ended.clone() });
    }
    assert_eq!(store.runs.get(ONE, run.id).await.unwrap(), Some(ended));

    let run = create(store, &opening(request(Edge::Des2wf, 10, "report", "1:2"), 301, 20)).await;
    let failed = applied(store, &run, &Command::Report { attempt: 1, end: failure }, 22).await;
    assert_eq!(store.runs.get(ONE, run.id).await.unwrap(), Some(failed.clone()));
    assert_eq!(failed.state.error_message(), Some("no"));

    let run = create(store, &opening(request(Edge::Des2wf, 10, "report", "1:3"), 302, 20)).await;
    let cancelled = applied(store, &run, &Command::Cancel, 22).await;
    let late = store.runs.transition(ONE, run.id, &done(None, 1), &sub("service"), at(23)).await.unwrap();
    let why = Ignored::Late { status: Status::Cancelled };
    assert_eq!(late, Transition::Ignored { why, run: cancelled });
}

/// proves G13: a deleted run is nowhere; one that was alive lets go of its fence by the same step.
async fn deletion(store: &Store) {
    let opened = opening(request(Edge::Wf2des, 10, "deleted", "1:1"), 400, 40);
    let run = create(store, &opened).await;
    let last = applied(store, &run, &Command::Delete, 41).await;
    assert_eq!(last.state, State::Cancelled);
    assert_eq!(store.runs.get(ONE, run.id).await.unwrap(), None);
    assert_eq!(store.jobs.by_job(run.id).await.unwrap(), None);
    assert_eq!(all(store, &RunFilter { file: Some("deleted".to_owned()), ..RunFilter::default() }).await, []);
    for command in [Command::Cancel, Command::Delete, done(None, 1)] {
        let refused = store.runs.transition(ONE, run.id, &command, &sub("ann"), at(42)).await;
        assert!(matches!(refused, Err(TransitionError::NotFound)), "{refused:?}");
    }
    let next = create(store, &opening(request(Edge::Wf2des, 10, "deleted", "1:1"), 401, 43)).await;
    applied(store, &next, &Command::Delete, 44).await;
}

/// proves G11: the list filters by project, file, edge, status, placed or not, and score.
async fn filters(store: &Store) {
    let score = |value| ScoreValue::new(value);
    let file = || RunFilter { file: Some("filter".to_owned()), ..RunFilter::default() };
    for (number, edge, project, outcome) in [
        (500, Edge::Des2wf, 10, Some(Some(0.5))),
        (501, Edge::Des2wf, 10, Some(Some(0.9))),
        (502, Edge::Des2wf, 11, Some(None)),
        (503, Edge::Des2wf, 11, None),
        (504, Edge::Wf2des, 10, None),
    ] {
        let opening =
            opening(request(edge, project, "filter", &format!("1:{number}")), number, number as i64);
        let run = create(store, &opening).await;
        if let Some(score) = outcome {
            applied(store, &run, &done(score, 1), 1000).await;
        }
    }
    let project = |id| Some(ProjectId(id));
    let completed = Some(Status::Completed);
    for (filter, expected) in [
        (file(), vec![504, 503, 502, 501, 500]),
        (RunFilter { project: project(10), ..file() }, vec![504, 501, 500]),
        (RunFilter { project: project(11), ..file() }, vec![503, 502]),
        (RunFilter { project: project(12), ..file() }, vec![]),
        (RunFilter { edge: Some(Edge::Wf2des), ..file() }, vec![504]),
        (RunFilter { status: completed, ..file() }, vec![502, 501, 500]),
        (RunFilter { status: completed, project: project(10), ..file() }, vec![501, 500]),
        (RunFilter { status: Some(Status::Failed), project: project(10), ..file() }, vec![]),
        (RunFilter { materialized: Some(true), ..file() }, vec![]),
        (RunFilter { materialized: Some(false), status: completed, ..file() }, vec![502, 501, 500]),
        (RunFilter { score_min: score(0.5), ..file() }, vec![501, 500]),
        (RunFilter { score_min: score(0.5001), ..file() }, vec![501]),
        (RunFilter { score_max: score(0.9), ..file() }, vec![501, 500]),
        (RunFilter { score_max: score(0.8999), ..file() }, vec![500]),
        (RunFilter { score_version: Some("ds@1.0".to_owned()), ..file() }, vec![501, 500]),
        (RunFilter { score_version: Some("ds@2.0".to_owned()), ..file() }, vec![]),
    ] {
        let expected: Vec<RunId> = expected.into_iter().map(id).collect();
        assert_eq!(all(store, &filter).await, expected, "{filter:?}");
    }
}

/// proves G11: pages by key: nothing twice and nothing missed, while runs are added in front; runs of one instant
/// too.
async fn pages(store: &Store) {
    let by_file = RunFilter { file: Some("pages".to_owned()), ..RunFilter::default() };
    let in_project =
        RunFilter { project: Some(ProjectId(11)), file: Some("others".to_owned()), ..by_file.clone() };
    for (filter, base) in [(by_file, 600), (in_project, 700)] {
        let file = filter.file.clone().unwrap();
        let request = |node: u128| request(Edge::Des2wf, 11, &file, &format!("1:{node}"));
        for number in base..base + 25_u128 {
            let second = 2000 + (number - base) as i64 / 10;
            create(store, &opening(request(number), number, second)).await;
        }
        let (mut seen, mut after, mut pages) = (Vec::new(), None, 0);
        while pages == 0 || after.is_some() {
            let page = PageRequest { after, limit: 5 };
            let Page { runs, next } = store.runs.list(ONE, &filter, page).await.unwrap();
            assert_eq!(runs.len(), 5);
            seen.extend(runs.iter().map(|run| run.id));
            (after, pages) = (next, pages + 1);
            let newer = base + 50 + pages;
            create(store, &opening(request(newer), newer, 3000)).await;
        }
        assert_eq!(seen, (base..base + 25).rev().map(id).collect::<Vec<_>>());
    }
    let page = |limit| PageRequest { after: None, limit };
    let none = store.runs.list(ONE, &RunFilter::default(), page(0)).await.unwrap();
    assert_eq!(none.runs.len(), 1, "a limit of none is a limit of one");
    let most = store.runs.list(ONE, &RunFilter::default(), page(u16::MAX)).await.unwrap();
    assert!(most.runs.len() <= usize::from(MAX_PAGE));
}

/// proves G5: what has to go out stays until it is noted as sent, in order and page by page.
async fn the_outbox(store: &Store) {
    let pending = store.outbox.pending(None, 1000).await.unwrap();
    assert!(pending.len() > 3);
    assert!(pending.is_sorted_by_key(|message| message.id));
    let first = store.outbox.pending(None, 2).await.unwrap();
    assert_eq!(first, pending[..2]);
    let rest = store.outbox.pending(Some(first[1].id), 1000).await.unwrap();
    assert_eq!(rest, pending[2..]);
    assert!(store.outbox.mark_sent(first[0].id, at(9000)).await.unwrap());
    assert!(!store.outbox.mark_sent(first[0].id, at(9001)).await.unwrap(), "once");
    assert_eq!(store.outbox.pending(None, 1000).await.unwrap(), pending[1..]);

    // What the queue will never take is out of the way, and stays so.
    assert!(store.outbox.mark_dead(pending[1].id, "too long", at(9002)).await.unwrap());
    assert!(!store.outbox.mark_dead(pending[1].id, "too long", at(9003)).await.unwrap(), "once");
    assert!(!store.outbox.mark_sent(pending[1].id, at(9003)).await.unwrap(), "the dead are not sent");
    assert!(
        !store.outbox.mark_dead(pending[0].id, "too long", at(9003)).await.unwrap(),
        "the sent don't die"
    );
    assert_eq!(store.outbox.pending(None, 1000).await.unwrap(), pending[2..]);
}
