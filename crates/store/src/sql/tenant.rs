//! Statements on `organization`, `project` and `user`.

pub(crate) mod sqlite {
    /// `?1` id, `?2` name, `?3` now.
    pub(crate) const ENSURE_ORGANIZATION: &str =
        "INSERT INTO organization (id, name, created_at) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO NOTHING";

    /// `?1` id, `?2` organization, `?3` name, `?4` now.
    pub(crate) const ENSURE_PROJECT: &str = "INSERT INTO project (id, organization_id, name, created_at) \
         VALUES (?1, ?2, ?3, ?4) ON CONFLICT (id) DO NOTHING";

    /// `?1` sub, `?2` now.
    pub(crate) const ENSURE_USER: &str =
        "INSERT INTO \"user\" (cognito_sub, created_at) VALUES (?1, ?2) ON CONFLICT (cognito_sub) DO NOTHING";

    /// `?1` organization, `?2` project.
    pub(crate) const HAS_PROJECT: &str =
        "SELECT EXISTS (SELECT 1 FROM project WHERE organization_id = ?1 AND id = ?2)";

    /// `?1` sub.
    pub(crate) const HAS_USER: &str = "SELECT EXISTS (SELECT 1 FROM \"user\" WHERE cognito_sub = ?1)";
}
