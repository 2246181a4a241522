//! One run: its two pictures, its score, its warnings, its times, its facts, its artifacts.

use axum::response::Response;
use heddle_generation::message::Artifact;
use heddle_generation::{AutoConfirm, Edge, Run, Score, State};
use jiff::Timestamp;
use maud::{Markup, html};

use super::document::{PartFacts, ResultFacts, ScoreFacts, Selected, WarningFacts};
use super::frame::{Frame, bar, duration, page, pill, size, tone, took, way, when};
use crate::artifacts::{Index, MANIFEST};

/// How often the page of a live run loads again, in seconds.
const REFRESH_SECONDS: u32 = 2;

pub(super) struct View<'a> {
    pub(super) run: &'a Run,
    pub(super) index: Option<&'a Index>,
    pub(super) facts: Option<&'a ResultFacts>,
    pub(super) now: Timestamp,
}

pub(super) fn render(view: &View<'_>, signed_in: bool) -> Response {
    let View { run, index, facts, .. } = view;
    let (from, to) = way(run.edge);
    let name = facts.and_then(|facts| facts.name.as_deref());
    let title = name.unwrap_or(&run.wf_node_id);
    let body = html! {
        nav.crumbs { a href="/" { "Runs" } span { "/" } span { (run.id) } }
        section.head {
            h1 { (title) " " (pill(run.state.status())) }
            p.lead {
                (from) " → " (to) " · " (run.figma_file_key) " · " (run.wf_node_id) " · "
                (when(run.created_at, view.now)) " · " (took(run, view.now))
            }
        }
        (outcome(run, index.is_some()))
        @if let Some(index) = index {
            (pictures(run, index))
            div.columns {
                @if let Some(score) = run.state.score() {
                    (score_card(score, facts.and_then(|facts| facts.score.as_ref())))
                }
                (timings(index))
            }
            @if let Some(facts) = facts {
                (strings(facts))
                (warnings(facts))
                (selection(facts))
            }
            (artifacts(run, index))
        }
        (details(run))
    };
    let refresh_seconds = run.state.phase().map(|_| REFRESH_SECONDS);
    page(&Frame { title, refresh_seconds, signed_in }, &body)
}

/// What there is to say about where the run stands, where the pictures don't say it.
fn outcome(run: &Run, has_index: bool) -> Markup {
    match &run.state {
        State::Processing { phase } => html! {
            section.card.wait {
                span.loom { i {} i {} i {} i {} i {} }
                p { "At work: " (phase.name().replace('_', " ")) ", attempt " (run.attempt) ". This page looks again by itself." }
            }
        },
        State::Failed { error_message, .. } => html! {
            section.card.failure { h2 { "Why it failed" } p { (error_message) } }
        },
        State::Rejected => html! { section.card { p { "The parse was rejected. Nothing was generated." } } },
        State::Cancelled => html! { section.card { p { "The run was called off. Nothing was kept." } } },
        State::Completed { .. } if has_index => html! {},
        State::Completed { .. } => html! {
            section.card.failure { p { "The run is complete, but its artifacts can't be read now. The server's log says why." } }
        },
    }
}

fn pictures(run: &Run, index: &Index) -> Markup {
    let source = picture(index, &["source_png", "source_svg"]);
    let result = picture(index, &["preview_png", "preview_svg"]);
    let (from, to) = match run.edge {
        Edge::Des2wf => ("Design", "Wireframe"),
        Edge::Wf2des => ("Wireframe", "Design"),
    };
    html! {
        @if source.is_some() || result.is_some() {
            section.pictures {
                (figure(run, from, source, "source_svg", index))
                (figure(run, to, result, "preview_svg", index))
            }
        }
    }
}

/// The first of `names` that there is.
fn picture<'a>(index: &Index, names: &[&'a str]) -> Option<&'a str> {
    names.iter().copied().find(|name| index.manifest.artifacts.contains_key(*name))
}

fn figure(run: &Run, label: &str, name: Option<&str>, vector: &str, index: &Index) -> Markup {
    html! {
        figure {
            figcaption {
                b { (label) }
                @if index.manifest.artifacts.contains_key(vector) {
                    a href=(href(run, vector)) { "SVG" }
                }
            }
            div.picture {
                @if let Some(name) = name {
                    a href=(href(run, name)) { img src=(href(run, name)) alt={ (label) " of the run" } loading="lazy"; }
                } @else {
                    p { "There is no picture." }
                }
            }
        }
    }
}

fn href(run: &Run, artifact: &str) -> String {
    format!("/runs/{}/artifacts/{artifact}", run.id)
}

fn score_card(score: &Score, facts: Option<&ScoreFacts>) -> Markup {
    let value = score.value().get();
    // The dial's length is 100, so that a share is its own dash.
    let dash = format!("{:.2} 100", value * 100.0);
    html! {
        section.card {
            h2 { "Score" small { (score.version()) } }
            div.score-card {
                svg.dial.(tone(value)) viewBox="0 0 36 36" role="img" aria-label={ "Score " (format!("{value:.4}")) } {
                    circle.track cx="18" cy="18" r="15.9155" {}
                    circle.fill cx="18" cy="18" r="15.9155" stroke-dasharray=(dash) transform="rotate(-90 18 18)" {}
                    text x="18" y="18.2" { (format!("{value:.4}")) }
                    @if let Some(band) = facts.and_then(|facts| facts.band.as_deref()) {
                        text.band x="18" y="24.4" { "band " (band) }
                    }
                }
                @if let Some(facts) = facts { (parts(&facts.parts)) }
            }
            @if let Some(violations) = facts.and_then(|facts| facts.violations).filter(|share| *share > 0.0) {
                p.note { (format!("{:.1} % of the text writes were lost.", violations * 100.0)) }
            }
        }
    }
}

fn parts(parts: &PartFacts) -> Markup {
    let parts = [
        ("Text", "every string, character by character", parts.text),
        ("Layout", "boxes where they were", parts.layout),
        ("Kit", "components made of the kit", parts.kit),
        ("Hierarchy", "what is inside what, in which order", parts.hierarchy),
        ("Graphics", "artwork kept or simplified as it should be", parts.graphics),
    ];
    html! {
        dl.parts {
            @for (name, meaning, share) in parts {
                dt title=(meaning) { (name) }
                dd {
                    @if let Some(share) = share {
                        (bar(share, tone(share))) span { (format!("{share:.3}")) }
                    } @else {
                        span.none { "nothing to measure" }
                    }
                }
            }
        }
    }
}

/// The stages of a worker's job in the order in which it passes them. A manifest names them in the alphabet's.
const STAGES: [&str; 11] = [
    "source",
    "registries",
    "waiting",
    "read",
    "snapshot",
    "kit",
    "convert",
    "draw_source",
    "draw_wireframe",
    "write",
    "writing",
];

/// The times as they came to pass; a stage that is not known here comes last. No stage is within another, so that they
/// add up.
fn timings(index: &Index) -> Markup {
    let place = |stage: &str| STAGES.iter().position(|known| *known == stage).unwrap_or(STAGES.len());
    let mut timings: Vec<(&String, &f64)> = index.manifest.timings_ms.iter().collect();
    timings.sort_by_key(|(stage, _)| place(stage));
    let most = timings.iter().map(|(_, time)| **time).fold(0.0_f64, f64::max);
    let total: f64 = timings.iter().map(|(_, time)| **time).sum();
    html! {
        @if !timings.is_empty() {
            section.card {
                h2 { "Time" small { (duration(total)) } }
                dl.parts {
                    @for (stage, time) in &timings {
                        dt { (stage.replace('_', " ")) }
                        dd { (bar(if most > 0.0 { **time / most } else { 0.0 }, "plain")) span { (duration(**time)) } }
                    }
                }
            }
        }
    }
}

fn strings(facts: &ResultFacts) -> Markup {
    html! {
        @if let Some(text) = &facts.text {
            section.card.line {
                h2 { "Strings" }
                p {
                    b { (text.kept) } " of " b { (text.seen) } " strings that can be seen are in the result"
                    @if text.unseen.total > 0 { ", and " b { (text.unseen.total) } " that can't be seen are listed with the reason" }
                    "."
                }
            }
        }
    }
}

fn warnings(facts: &ResultFacts) -> Markup {
    let warnings = &facts.warnings;
    html! {
        @if warnings.total > 0 {
            section.card {
                h2 { "Warnings" small { (warnings.total) } }
                ul.warnings { @for warning in &warnings.first { (warning_row(warning)) } }
                (beyond(warnings.total - warnings.first.len()))
            }
        }
    }
}

fn warning_row(warning: &WarningFacts) -> Markup {
    html! {
        li {
            code { (warning.code) }
            span { (warning.message) }
            @if let Some(node) = &warning.node_id { code.node { (node) } }
            @if let Some(count) = warning.count.filter(|count| *count > 1) { b { "×" (count) } }
        }
    }
}

fn selection(facts: &ResultFacts) -> Markup {
    let selection = &facts.selection;
    html! {
        @if selection.total > 0 {
            details.card {
                summary { h2 { "Components" small { (selection.total) } } }
                div.scroll {
                    table {
                        thead { tr { th { "Layer" } th { "Seen as" } th { "Made of" } th { "Fit" } } }
                        tbody { @for selected in &selection.first { (selection_row(selected)) } }
                    }
                }
                (beyond(selection.total - selection.first.len()))
            }
        }
    }
}

fn selection_row(selected: &Selected) -> Markup {
    html! {
        tr {
            td { (selected.name) " " code.node { (selected.node_id) } }
            td { (selected.archetype.as_deref().unwrap_or("–").replace('_', " ")) }
            td { @if let Some(row) = &selected.row { code { (row) } } @else { span.none { "a plain box" } } }
            td {
                @if let Some(fit) = selected.fit {
                    div.fit { (bar(fit, tone(fit))) span { (format!("{fit:.2}")) } }
                }
            }
        }
    }
}

fn beyond(more: usize) -> Markup {
    html! { @if more > 0 { p.note { "and " (more) " more, in " code { "result" } "." } } }
}

fn artifacts(run: &Run, index: &Index) -> Markup {
    let row = |name: &str, artifact: &Artifact| {
        html! {
            tr {
                td { a href=(href(run, name)) { (name) } }
                td { (artifact.media_type) }
                td.number { (size(artifact.bytes)) }
                td { code title=(artifact.sha256) { (artifact.sha256.chars().take(12).collect::<String>()) } }
            }
        }
    };
    html! {
        section.card {
            h2 { "Artifacts" small { "attempt " (index.manifest.attempt) } }
            div.scroll {
                table {
                    thead { tr { th { "Name" } th { "Type" } th.number { "Size" } th { "SHA-256" } } }
                    tbody {
                        @for (name, artifact) in &index.manifest.artifacts { (row(name, artifact)) }
                        (row(MANIFEST, &index.own))
                    }
                }
            }
        }
    }
}

fn details(run: &Run) -> Markup {
    let auto = if run.auto_confirm == AutoConfirm::Auto { "yes" } else { "no" };
    let rows = [
        ("Run", Some(run.id.to_string())),
        ("File", Some(run.figma_file_key.clone())),
        ("Node", Some(run.wf_node_id.clone())),
        ("Screen", Some(run.screen_id.clone())),
        ("Project", Some(run.project_id.to_string())),
        ("Prompt", run.prompt.clone()),
        ("Place at", run.placement_target.clone()),
        ("Confirm by itself", Some(auto.to_owned())),
        ("Attempt", Some(run.attempt.to_string())),
        ("Flags", run.state.flag_count().map(|count| count.to_string())),
        (
            "Asked for",
            Some(format!("{} by {} ({})", run.created_at, run.created_by, run.trigger_surface.name())),
        ),
        ("Changed", Some(format!("{} by {}", run.updated_at, run.updated_by))),
        ("Result", run.state.result_url().map(str::to_owned)),
    ];
    html! {
        section.card {
            h2 { "Facts" }
            dl.facts {
                @for (name, value) in rows {
                    @if let Some(value) = value { dt { (name) } dd { (value) } }
                }
            }
        }
    }
}
