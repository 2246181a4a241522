//! The pages: runs, and one run with its two pictures side by side. Rendered here, with no script at all.
//!
//! They only ever read. Who may see them says [`Pages`](crate::Pages).

mod document;
mod frame;
mod list;
mod run;

use axum::extract::{Form, Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use heddle_generation::{Run, RunId};
use maud::html;
use serde::Deserialize;

use crate::api::generations::read_query;
use crate::app::{App, Shared, about};
use crate::artifacts::{self, Index};
use crate::auth::{COOKIE_NAME, Viewer, cookie_of};
use crate::config::Pages;
use crate::extract::QueryFields;
use crate::problem::Problem;
use document::ResultFacts;
use frame::{Frame, page};

/// How long a browser stays signed in, in seconds.
const SESSION_SECONDS: u32 = 12 * 60 * 60;
/// Largest result that a page reads for its facts, in bytes.
const MAX_RESULT_BYTES: u64 = 64 * 1024 * 1024;

/// An error as a page shows it.
pub(crate) struct PageProblem(Problem);

impl<E: Into<Problem>> From<E> for PageProblem {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for PageProblem {
    fn into_response(self) -> Response {
        notice(&self.0)
    }
}

/// A page that says what is wrong.
pub(crate) fn notice(problem: &Problem) -> Response {
    let (status, title, detail) = problem.for_people();
    let body = html! {
        section.notice {
            p.big { (status.as_u16()) }
            h1 { (title) }
            @if let Some(detail) = detail { p { (detail) } }
            p { a href="/" { "To the runs" } }
        }
    };
    (status, page(&Frame { title, refresh_seconds: None, signed_in: false }, &body)).into_response()
}

/// `/`: the runs, newest first.
pub(crate) async fn list(
    State(app): State<App>,
    Viewer(organization): Viewer,
    query: QueryFields,
) -> Result<Response, PageProblem> {
    let (filter, request) = read_query(query)?;
    let page = app.store.runs.list(organization, &filter, request).await?;
    let view =
        list::View { filter: &filter, first: request.after.is_none(), page: &page, now: app.clock.now() };
    Ok(list::render(&view, signed_in(&app)).into_response())
}

/// `/runs/{id}`: one run.
pub(crate) async fn run(
    State(app): State<App>,
    Viewer(organization): Viewer,
    Path(id): Path<String>,
) -> Result<Response, PageProblem> {
    let id = RunId::parse(&id).ok_or_else(Problem::no_such_run)?;
    about(id);
    let run = app.store.runs.get(organization, id).await?.ok_or_else(Problem::no_such_run)?;
    let objects = &app.exchange.objects;
    let index = artifacts::index(objects, &run).await.ok();
    let facts = match &index {
        Some(index) => result_facts(&app, &run, index).await,
        None => None,
    };
    let view = run::View { run: &run, index: index.as_ref(), facts: facts.as_ref(), now: app.clock.now() };
    Ok(run::render(&view, signed_in(&app)).into_response())
}

/// What the run's result says of itself. A result that can't be read leaves the page without these facts, not
/// the visitor without the page.
async fn result_facts(app: &Shared, run: &Run, index: &Index) -> Option<ResultFacts> {
    let result = index.manifest.artifacts.get("result")?;
    if result.bytes > MAX_RESULT_BYTES {
        return None;
    }
    let (_, bytes) = artifacts::read(&app.exchange.objects, run, index, "result").await.ok()?;
    tokio::task::spawn_blocking(move || ResultFacts::read(&bytes)).await.ok()?
}

/// `/runs/{id}/artifacts/{name}`: the same bytes as the API's, for those who see the pages.
pub(crate) async fn artifact(
    State(app): State<App>,
    Viewer(organization): Viewer,
    Path((id, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, PageProblem> {
    let id = RunId::parse(&id).ok_or_else(Problem::no_such_run)?;
    about(id);
    let run = app.store.runs.get(organization, id).await?.ok_or_else(Problem::no_such_run)?;
    let objects = &app.exchange.objects;
    let index = artifacts::index(objects, &run).await?;
    let (artifact, bytes) = artifacts::read(objects, &run, &index, &name).await?;
    Ok(artifacts::answer(&headers, &artifact, bytes))
}

/// `/sign-in`: where a token is exchanged for the pages' cookie.
pub(crate) async fn sign_in_form(State(app): State<App>) -> Response {
    if matches!(app.config.pages, Pages::Open { .. }) {
        return Redirect::to("/").into_response();
    }
    sign_in_page(StatusCode::OK, None)
}

fn sign_in_page(status: StatusCode, error: Option<&str>) -> Response {
    let body = html! {
        form.sign-in method="post" action="/sign-in" {
            h1 { "Sign in" }
            p { "Give an API token. This browser keeps a cookie that opens the pages, and nothing else." }
            label for="token" { "Token" }
            input #token type="password" name="token" autocomplete="current-password" required autofocus;
            @if let Some(error) = error { p.error role="alert" { (error) } }
            button type="submit" { "Sign in" }
        }
    };
    let frame = Frame { title: "Sign in", refresh_seconds: None, signed_in: false };
    (status, page(&frame, &body)).into_response()
}

#[derive(Deserialize)]
pub(crate) struct SignIn {
    token: String,
}

/// Takes the token in the body, so that it lands in no history and no log of addresses.
pub(crate) async fn sign_in(State(app): State<App>, Form(given): Form<SignIn>) -> Response {
    let Pages::SignIn { secure_cookie } = app.config.pages else {
        return Redirect::to("/").into_response();
    };
    let token = given.token.trim();
    if app.callers.by_token(token).is_none() {
        return sign_in_page(StatusCode::UNAUTHORIZED, Some("Nobody has this token."));
    }
    with_cookie(&cookie_of(token), SESSION_SECONDS, secure_cookie)
}

/// `/sign-out`.
pub(crate) async fn sign_out(State(app): State<App>) -> Response {
    let secure = matches!(app.config.pages, Pages::SignIn { secure_cookie: true });
    with_cookie("", 0, secure)
}

fn with_cookie(value: &str, seconds: u32, secure: bool) -> Response {
    let secure = if secure { "; Secure" } else { "" };
    let cookie =
        format!("{COOKIE_NAME}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    let mut response = Redirect::to("/").into_response();
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// `/style.css`. The page names it with its hash, so that it may be kept for ever.
pub(crate) async fn style() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/css; charset=utf-8"),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    (headers, frame::STYLE).into_response()
}

fn signed_in(app: &Shared) -> bool {
    matches!(app.config.pages, Pages::SignIn { .. })
}
