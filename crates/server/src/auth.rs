//! Who is calling: a bearer token for the API, a cookie or an open door for the pages.

use std::collections::HashMap;

use axum::extract::FromRequestParts;
use axum::http::header::{AUTHORIZATION, COOKIE, HOST};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Redirect, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use heddle_generation::{OrganizationId, Requester};
use sha2::{Digest, Sha256};

use crate::app::App;
use crate::config::{CallerConfig, ConfigError, Pages};
use crate::pages::notice;
use crate::problem::Problem;

/// The name of the pages' cookie.
pub(crate) const COOKIE_NAME: &str = "heddle_pages";

/// The known callers, by the hash of what they show: a look-up by hash takes no time that depends on the secret.
pub(crate) struct Callers {
    by_token: HashMap<[u8; 32], Requester>,
    by_cookie: HashMap<[u8; 32], OrganizationId>,
}

impl Callers {
    pub(crate) fn new(callers: &[CallerConfig]) -> Result<Self, ConfigError> {
        let mut known = Self { by_token: HashMap::new(), by_cookie: HashMap::new() };
        for caller in callers {
            let sound = caller.token.len() >= CallerConfig::MIN_TOKEN_BYTES
                && caller.token.bytes().all(|byte| byte.is_ascii_graphic());
            if !sound {
                return Err(ConfigError::WeakToken { user: caller.user.clone() });
            }
            let requester = Requester {
                organization_id: caller.organization_id,
                user: caller.user.clone(),
                surface: caller.surface,
            };
            let cookie = cookie_of(&caller.token);
            known.by_cookie.insert(hash(cookie.as_bytes()), caller.organization_id);
            if let Some(other) = known.by_token.insert(hash(caller.token.as_bytes()), requester) {
                return Err(ConfigError::SharedToken { first: other.user, second: caller.user.clone() });
            }
        }
        Ok(known)
    }

    /// The caller who holds this token.
    pub(crate) fn by_token(&self, token: &str) -> Option<&Requester> {
        self.by_token.get(&hash(token.as_bytes()))
    }

    fn by_cookie(&self, cookie: &str) -> Option<OrganizationId> {
        self.by_cookie.get(&hash(cookie.as_bytes())).copied()
    }
}

/// The cookie that a token is exchanged for. The token can't be had from it, so that the cookie is good for the
/// pages alone.
pub(crate) fn cookie_of(token: &str) -> String {
    let mut digest = Sha256::new();
    digest.update(b"heddle pages v1\0");
    digest.update(token.as_bytes());
    URL_SAFE_NO_PAD.encode(digest.finalize())
}

fn hash(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// A caller of the API.
pub(crate) struct Caller(pub(crate) Requester);

impl FromRequestParts<App> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let shown = parts.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = shown.and_then(|shown| {
            let (scheme, token) = shown.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
        });
        let known = token.and_then(|token| app.callers.by_token(token));
        known.cloned().map(Caller).ok_or_else(Problem::unauthenticated)
    }
}

/// Somebody who looks at the pages, and whose runs are shown.
pub(crate) struct Viewer(pub(crate) OrganizationId);

impl FromRequestParts<App> for Viewer {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        match app.config.pages {
            Pages::Open { organization_id } => {
                let host = parts.headers.get(HOST).and_then(|value| value.to_str().ok());
                if host.is_some_and(is_loopback_host) {
                    Ok(Self(organization_id))
                } else {
                    Err(notice(
                        &Problem::new(
                            axum::http::StatusCode::FORBIDDEN,
                            "not_this_host",
                            "These pages are for this machine",
                        )
                        .detail("open them as http://localhost or http://127.0.0.1"),
                    ))
                }
            }
            Pages::SignIn { .. } => {
                let cookies = parts.headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
                let mut values = cookies
                    .flat_map(|cookies| cookies.split(';'))
                    .filter_map(|cookie| cookie.trim().strip_prefix(COOKIE_NAME)?.strip_prefix('='));
                values
                    .find_map(|cookie| app.callers.by_cookie(cookie))
                    .map(Self)
                    .ok_or_else(|| Redirect::to("/sign-in").into_response())
            }
        }
    }
}

/// Whether a `Host` header names this machine itself. A name that somebody else's DNS points here does not.
fn is_loopback_host(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or("", |(address, _)| address),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machines_names_are_loopback() {
        for host in ["localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:80", "[::1]", "[::1]:8080"] {
            assert!(is_loopback_host(host), "{host}");
        }
        for host in
            ["", "example.org", "localhost.example.org", "127.0.0.1.nip.io", "10.0.0.1", "[::2]:80", "["]
        {
            assert!(!is_loopback_host(host), "{host}");
        }
    }
}
