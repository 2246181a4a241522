//! What every page has around it, and the small things that pages share.

use std::sync::LazyLock;

use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use heddle_exchange::keys::sha256_hex;
use heddle_generation::{Edge, Run, State, Status};
use jiff::Timestamp;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The look, light and dark.
pub(super) const STYLE: &str = include_str!("style.css");

/// Where the look is, by its hash.
static STYLE_HREF: LazyLock<String> =
    LazyLock::new(|| format!("/style.css?v={}", &sha256_hex(STYLE.as_bytes())[..12]));

/// Nothing but our own style sheet and pictures, and no script.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; \
     base-uri 'none'; frame-ancestors 'none'";

const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect \
     width='32' height='32' rx='8' fill='%234b43c4'/%3E%3Cg fill='none' stroke='%23fff' stroke-width='2.4' \
     stroke-linecap='round'%3E%3Cpath d='M9 6v5m0 6v9M16 6v9m0 6v5M23 6v5m0 6v9'/%3E%3Ccircle cx='9' cy='14' r='3'/%3E\
     %3Ccircle cx='16' cy='18' r='3'/%3E%3Ccircle cx='23' cy='14' r='3'/%3E%3C/g%3E%3C/svg%3E";

/// Three warp threads, each through the eye of its heddle.
const MARK: &str = r#"<svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><g fill="none" stroke="currentColor" stroke-width="2.4" stroke-linecap="round"><path d="M7 3v8m0 6v12M16 3v12m0 6v8M25 3v8m0 6v12"/><circle cx="7" cy="14" r="3"/><circle cx="16" cy="18" r="3"/><circle cx="25" cy="14" r="3"/></g></svg>"#;

/// What the frame is told.
pub(super) struct Frame<'a> {
    pub(super) title: &'a str,
    /// Load again after so many seconds: something on the page is about to change.
    pub(super) refresh_seconds: Option<u32>,
    /// Whether there is somebody to sign out.
    pub(super) signed_in: bool,
}

/// A whole page.
pub(super) fn page(frame: &Frame<'_>, body: &Markup) -> Response {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                @if let Some(seconds) = frame.refresh_seconds {
                    meta http-equiv="refresh" content=(seconds);
                }
                title { (frame.title) " · Heddle" }
                link rel="icon" href=(ICON);
                link rel="stylesheet" href=(*STYLE_HREF);
            }
            body {
                header.top {
                    a.brand href="/" { (PreEscaped(MARK)) span { "Heddle" } }
                    nav {
                        a href="/openapi.json" { "API" }
                        @if frame.signed_in {
                            form method="post" action="/sign-out" { button.link type="submit" { "Sign out" } }
                        }
                    }
                }
                main { (body) }
            }
        }
    };
    let mut response = Html(markup.into_string()).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A run's status.
pub(super) fn pill(status: Status) -> Markup {
    html! { span.pill.(status.name()) { i {} (status.name()) } }
}

/// Which way a run goes, in words.
pub(super) const fn way(edge: Edge) -> (&'static str, &'static str) {
    match edge {
        Edge::Des2wf => ("design", "wireframe"),
        Edge::Wf2des => ("wireframe", "design"),
    }
}

/// A bar for a share of 0 to 1. It is drawn, not styled, so that no style need be allowed inline.
pub(super) fn bar(share: f64, class: &str) -> Markup {
    let width = format!("{:.2}", share.clamp(0.0, 1.0) * 100.0);
    html! {
        svg.bar.(class) viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" {
            rect.track width="100" height="6" {}
            rect.fill width=(width) height="6" {}
        }
    }
}

/// The class that a score of 0 to 1 is coloured by.
pub(super) fn tone(share: f64) -> &'static str {
    match share {
        share if share >= 0.9 => "good",
        share if share >= 0.8 => "fair",
        share if share >= 0.6 => "weak",
        _ => "poor",
    }
}

/// A time, told from now and in full.
pub(super) fn when(at: Timestamp, now: Timestamp) -> Markup {
    let second = at.as_second();
    let full = Timestamp::from_second(second).unwrap_or(at).to_string();
    html! { time datetime=(full) title=(full) { (ago(now.as_second() - second)) } }
}

fn ago(seconds: i64) -> String {
    match seconds {
        ..5 => "just now".to_owned(),
        5..60 => format!("{seconds} s ago"),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..172_800 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

/// How long a run took, or has been under way.
pub(super) fn took(run: &Run, now: Timestamp) -> String {
    let end = match run.state {
        State::Processing { .. } => now,
        _ => run.updated_at,
    };
    let milliseconds = (end.as_millisecond() - run.created_at.as_millisecond()).max(0);
    duration(milliseconds as f64)
}

/// A duration for people.
pub(super) fn duration(milliseconds: f64) -> String {
    match milliseconds {
        ms if ms < 10.0 => format!("{ms:.1} ms"),
        ms if ms < 1000.0 => format!("{ms:.0} ms"),
        ms if ms < 60_000.0 => format!("{:.1} s", ms / 1000.0),
        ms if ms < 3_600_000.0 => format!("{:.0} min", ms / 60_000.0),
        ms => format!("{:.1} h", ms / 3_600_000.0),
    }
}

/// A size for people.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_are_for_people() {
        assert_eq!(ago(-3), "just now");
        assert_eq!(ago(59), "59 s ago");
        assert_eq!(ago(61), "1 min ago");
        assert_eq!(ago(90_000), "25 h ago");
        assert_eq!(ago(200_000), "2 days ago");
        assert_eq!(duration(3.25), "3.2 ms");
        assert_eq!(duration(12_345.0), "12.3 s");
        assert_eq!(duration(125_000.0), "2 min");
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size(5 * 1_048_576), "5.0 MiB");
    }
}
