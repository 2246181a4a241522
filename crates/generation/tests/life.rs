//! The life of a run, every state against every command.

mod common;

use common::{at, processing, request, run, sub, word};
use heddle_generation::{
    AutoConfirm, Change, Command, Decision, Edge, Ignored, Phase, Refusal, Run, RunEnd, State, Status,
    check_manifest, deaf_to, decide,
};

fn completed() -> State {
    State::Completed {
        result_url: "r.json".to_owned(),
        flag_count: Some(3),
        score: None,
        materialized_at: Some(at(1)),
        feedback: None,
    }
}

fn failed() -> State {
    State::Failed { error_message: "no such node".to_owned(), result_url: None }
}

fn every_run() -> Vec<Run> {
    let states = [
        processing(Phase::Parse),
        processing(Phase::AwaitingConfirm),
        processing(Phase::Assemble),
        completed(),
        failed(),
        State::Rejected,
        State::Cancelled,
    ];
    let mut runs = Vec::new();
    for edge in Edge::ALL {
        for auto_confirm in AutoConfirm::ALL {
            runs.extend(states.iter().map(|state| run(*edge, *auto_confirm, state.clone())));
        }
    }
    runs
}

fn done() -> RunEnd {
    RunEnd::Completed { result_url: "new.json".to_owned(), flag_count: Some(1), score: None }
}

fn broke() -> RunEnd {
    RunEnd::Failed { error_message: "it broke".to_owned(), result_url: None }
}

fn report(attempt: u32, end: RunEnd) -> Command {
    Command::Report { attempt, end }
}

fn applied(run: &Run, command: &Command) -> Change {
    match decide(run, command, &sub("bo"), at(60)) {
        Ok(Decision::Apply(change)) => change,
        other => panic!("{run:?} {command:?} gave {other:?}"),
    }
}

fn refused(run: &Run, command: &Command) -> Refusal {
    decide(run, command, &sub("bo"), at(60)).expect_err("refused")
}

/// proves G8: cancel is for wf2des at the checkpoint and for des2wf in any phase; else it is refused with the state.
#[test]
fn cancel_is_for_the_checkpoint_or_the_one_shot_edge() {
    for run in every_run() {
        let phase = run.state.phase();
        match (run.edge, phase) {
            (Edge::Des2wf, Some(_)) | (Edge::Wf2des, Some(Phase::AwaitingConfirm)) => {
                let change = applied(&run, &Command::Cancel);
                assert_eq!((change.state, change.deleted), (State::Cancelled, false));
            }
            (Edge::Wf2des, Some(phase)) => {
                assert_eq!(refused(&run, &Command::Cancel), Refusal::NotAtCheckpoint { phase });
            }
            (_, None) => {
                assert_eq!(refused(&run, &Command::Cancel), Refusal::Ended { status: run.state.status() });
            }
        }
    }
}

/// proves G13: whatever its state, a run can be deleted; one that was alive is cancelled by the same change.
#[test]
fn deleting_a_live_run_cancels_it() {
    for run in every_run() {
        let change = applied(&run, &Command::Delete);
        assert!(change.deleted);
        let expected = if run.state.phase().is_some() { State::Cancelled } else { run.state.clone() };
        assert_eq!(change.state, expected);
        assert_eq!((change.by, change.at), (sub("bo"), at(60)));
    }
}

/// proves G6: the report of the present attempt ends a live run; on wf2des no run is completed before it is confirmed.
#[test]
fn a_report_ends_a_live_run() {
    for run in every_run().into_iter().filter(|run| run.state.phase().is_some()) {
        let change = applied(&run, &report(2, broke()));
        assert_eq!((change.state.status(), change.state.phase()), (Status::Failed, None));
        assert_eq!(change.state.error_message(), Some("it broke"));

        let unconfirmed = run.edge == Edge::Wf2des
            && run.auto_confirm == AutoConfirm::Normal
            && run.state.phase() != Some(Phase::Assemble);
        if unconfirmed {
            let phase = run.state.phase().unwrap();
            assert_eq!(refused(&run, &report(2, done())), Refusal::NotConfirmed { phase });
        } else {
            let change = applied(&run, &report(2, done()));
            assert_eq!((change.state.status(), change.state.phase()), (Status::Completed, None));
            assert_eq!(change.state.result_url(), Some("new.json"));
            assert_eq!(change.state.flag_count(), Some(1));
        }
    }
}

/// proves G6: a superseded attempt, a repeat and a late word are no-ops with a reason, not errors, and a report of
/// an attempt that was never sent is refused.
#[test]
fn a_word_that_no_longer_matters_is_ignored() {
    for run in every_run() {
        for end in [done(), broke()] {
            let superseded = decide(&run, &report(1, end.clone()), &sub("bo"), at(60)).unwrap();
            assert_eq!(superseded, Decision::Ignore(Ignored::Superseded { present: 2 }));
            assert_eq!(refused(&run, &report(3, end.clone())), Refusal::AttemptAhead { present: 2 });
            let status = run.state.status();
            let expected = match status {
                Status::Processing => continue,
                Status::Completed | Status::Failed => Ignored::Repeat { status },
                Status::Rejected | Status::Cancelled => Ignored::Late { status },
            };
            let ignored = decide(&run, &report(2, end), &sub("bo"), at(60)).unwrap();
            assert_eq!(ignored, Decision::Ignore(expected));
            assert_eq!(deaf_to(&run, 2), Ok(Some(expected)));
        }
    }
}

/// proves G13: a change names who and when, and a clock that was set back makes no row older.
#[test]
fn audit_is_right_even_under_a_bad_clock() {
    let mut live = run(Edge::Des2wf, AutoConfirm::Normal, processing(Phase::Parse));
    live.updated_at = at(100);
    let after = applied(&live, &Command::Cancel).applied_to(&live);
    assert_eq!((after.updated_at, &after.updated_by), (at(100), &sub("bo")));
    assert_eq!((after.created_at, &after.created_by), (at(0), &sub("ann")));
    assert_eq!(after.state, State::Cancelled);
}

/// proves D18: what a checked manifest says is what the row takes, and the score is rounded to the column's decimals.
#[test]
fn the_row_takes_the_manifests_effects() {
    let live = common::opened(request(Edge::Des2wf)).run;
    let (report, manifest) = word(&live);
    let end = check_manifest(&manifest, &report, &live).unwrap();
    let change = applied(&live, &Command::Report { attempt: 1, end });
    assert_eq!(change.state.result_url(), manifest.row_effects.wf2des.result_url.as_deref());
    let score = change.state.score().unwrap();
    assert_eq!((score.value().get(), score.version()), (0.8742, "ds@1.0"));
    assert_eq!((change.state.flag_count(), change.state.materialized_at()), (None, None));
}
