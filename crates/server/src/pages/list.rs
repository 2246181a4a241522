//! The list of runs.

use axum::response::Response;
use heddle_generation::{Run, Status};
use heddle_store::{Page, RunFilter};
use jiff::Timestamp;
use maud::{Markup, html};

use super::frame::{Frame, bar, page, pill, tone, took, way, when};
use crate::api::views::cursor_text;

/// How often the list loads again while something on it is under way, in seconds.
const REFRESH_SECONDS: u32 = 4;

pub(super) struct View<'a> {
    pub(super) filter: &'a RunFilter,
    /// Whether this is the first page.
    pub(super) first: bool,
    pub(super) page: &'a Page,
    pub(super) now: Timestamp,
}

pub(super) fn render(view: &View<'_>, signed_in: bool) -> Response {
    let runs = &view.page.runs;
    let body = html! {
        section.head {
            h1 { "Runs" }
            p.lead { "Each run turns a design's frame into a wireframe. Newest first." }
        }
        nav.tabs aria-label="Filter by status" {
            (tab("all", "/", view.filter.status.is_none()))
            @for status in Status::ALL {
                (tab(status.name(), &format!("/?status={}", status.name()), view.filter.status == Some(*status)))
            }
        }
        @if runs.is_empty() {
            (nothing(view))
        } @else {
            ol.runs {
                @for run in runs { (row(run, view.now)) }
            }
        }
        @if !view.first || view.page.next.is_some() {
            nav.pager {
                @if !view.first { a href=(address(view.filter, None)) { "← Newest" } } @else { span {} }
                @if let Some(next) = view.page.next {
                    a href=(address(view.filter, Some(&cursor_text(next)))) { "Older →" }
                }
            }
        }
    };
    let alive = runs.iter().any(|run| run.state.phase().is_some());
    let refresh_seconds = (view.first && alive).then_some(REFRESH_SECONDS);
    page(&Frame { title: "Runs", refresh_seconds, signed_in }, &body)
}

fn tab(label: &str, href: &str, chosen: bool) -> Markup {
    html! { a href=(href) aria-current=[chosen.then_some("page")] { (label) } }
}

fn row(run: &Run, now: Timestamp) -> Markup {
    let (from, to) = way(run.edge);
    html! {
        li {
            a.run href={ "/runs/" (run.id) } {
                span.status { (pill(run.state.status())) }
                span.what {
                    strong { (run.figma_file_key) }
                    span.node { (run.wf_node_id) }
                    span.way { (from) " → " (to) }
                }
                span.score {
                    @if let Some(score) = run.state.score() {
                        @let value = score.value().get();
                        b { (format!("{value:.4}")) }
                        (bar(value, tone(value)))
                        small { (score.version()) }
                    } @else if let Some(message) = run.state.error_message() {
                        span.why { (message.lines().next().unwrap_or_default()) }
                    } @else if let Some(phase) = run.state.phase() {
                        span.why { (phase.name().replace('_', " ")) }
                    }
                }
                span.times {
                    (when(run.created_at, now))
                    small { (took(run, now)) }
                }
            }
        }
    }
}

fn nothing(view: &View<'_>) -> Markup {
    html! {
        section.empty {
            @if view.filter.status.is_some() || !view.first {
                p { "No run is like that." }
                p { a href="/" { "Show all" } }
            } @else {
                p { "No run yet. Ask for one:" }
                pre { code {
                    "curl -X POST \"$HEDDLE/v1/generations\" \\\n"
                    "  -H \"Authorization: Bearer $TOKEN\" \\\n"
                    "  -H 'Content-Type: application/json' \\\n"
                    "  -d '{\"edge\": \"des2wf\", \"project_id\": 1, \"figma_file_key\": \"…\", \"wf_node_id\": \"1:2\"}'"
                } }
            }
        }
    }
}

/// The address of a page of the same list.
fn address(filter: &RunFilter, cursor: Option<&str>) -> String {
    // Every value here is of our own alphabet; what visitors typed, a file's key say, isn't carried along.
    let status = filter.status.map(|status| format!("status={}", status.name()));
    let edge = filter.edge.map(|edge| format!("edge={}", edge.name()));
    let project = filter.project.map(|project| format!("project_id={project}"));
    let cursor = cursor.map(|cursor| format!("cursor={cursor}"));
    let query: Vec<String> = [status, edge, project, cursor].into_iter().flatten().collect();
    if query.is_empty() { "/".to_owned() } else { format!("/?{}", query.join("&")) }
}
