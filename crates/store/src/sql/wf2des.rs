//! Statements on `wf2des`.

pub(crate) mod sqlite {
    macro_rules! columns {
        () => {
            "id, organization_id, project_id, figma_file_key, wf_node_id, screen_id, prompt, placement_target, \
             auto_confirm, trigger_surface, status, phase, attempt, error_message, result_url, flag_count, score, \
             score_version, materialized_at, feedback_status, edge, created_at, updated_at, created_by, updated_by"
        };
    }

    /// Writes a list: `$index` names the index, where `SQLite` would not choose it (it takes the order of the list
    /// for worth more than the file), and `$scope` is what the index finds the rows by. Parameters are the same in all of them: `?1`
    /// organization, `?2` project, `?3` file, `?4` status, `?5` edge, `?6` materialized (0 or 1), `?7` and `?8`
    /// least and greatest score, `?9` score version, `?10` and `?11` the time and id before which the page
    /// begins, `?12` limit. Each of `?2` to `?9` may be NULL: no matter.
    macro_rules! list {
        ($index:literal, $scope:literal) => {
            concat!(
                "SELECT ",
                columns!(),
                " FROM wf2des",
                $index,
                " WHERE organization_id = ?1 AND deleted_at IS NULL",
                $scope,
                " AND (created_at, id) < (?10, ?11)",
                " AND (?2 IS NULL OR project_id = ?2) AND (?3 IS NULL OR figma_file_key = ?3)",
                " AND (?4 IS NULL OR status = ?4) AND (?5 IS NULL OR edge = ?5)",
                " AND (?6 IS NULL OR (materialized_at IS NOT NULL) = ?6)",
                " AND (?7 IS NULL OR score >= ?7) AND (?8 IS NULL OR score <= ?8)",
                " AND (?9 IS NULL OR score_version = ?9)",
                " ORDER BY created_at DESC, id DESC LIMIT ?12"
            )
        };
    }

    /// The columns in the order of the table, audit of deletion left out.
    pub(crate) const INSERT: &str = concat!(
        "INSERT INTO wf2des (",
        columns!(),
        ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, \
         ?22, ?23, ?24, ?25) ON CONFLICT (project_id, figma_file_key, wf_node_id, edge) WHERE status = '0' DO NOTHING"
    );

    /// Who holds the fence. `?1` project, `?2` file, `?3` node, `?4` edge.
    pub(crate) const LIVE: &str = "SELECT id FROM wf2des \
         WHERE project_id = ?1 AND figma_file_key = ?2 AND wf_node_id = ?3 AND edge = ?4 AND status = '0'";

    /// When the last run of a node was created, deleted ones included. `?1` organization, `?2` project, `?3` file,
    /// `?4` node, `?5` edge.
    pub(crate) const LATEST: &str = "SELECT max(created_at) FROM wf2des WHERE organization_id = ?1 \
         AND project_id = ?2 AND figma_file_key = ?3 AND wf_node_id = ?4 AND edge = ?5";

    /// `?1` id, `?2` organization.
    pub(crate) const GET: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM wf2des WHERE id = ?1 AND organization_id = ?2 AND deleted_at IS NULL"
    );

    /// `?1` id.
    pub(crate) const BY_JOB: &str =
        concat!("SELECT ", columns!(), " FROM wf2des WHERE id = ?1 AND deleted_at IS NULL");

    /// A tenant's runs, walked in order.
    pub(crate) const LIST: &str = list!("", "");

    /// A file's runs, by `wf2des_org_project_file_status_idx`.
    pub(crate) const LIST_FILE: &str = list!(
        " INDEXED BY wf2des_org_project_file_status_idx",
        " AND project_id = ?2 AND figma_file_key = ?3"
    );

    /// A file's runs in one status, by all of `wf2des_org_project_file_status_idx`. With status '1' and
    /// materialized 0 it is the late-materialisation query.
    pub(crate) const LIST_FILE_STATUS: &str = list!(
        " INDEXED BY wf2des_org_project_file_status_idx",
        " AND project_id = ?2 AND figma_file_key = ?3 AND status = ?4"
    );

    /// A change, under the guard of what it was decided on. `?1` id, `?2` organization, `?3` to `?5` status,
    /// phase and attempt as loaded; `?6` to `?14` the new state; `?15` now, `?16` by whom, `?17` deleted (0 or 1).
    pub(crate) const TRANSITION: &str = "UPDATE wf2des SET status = ?6, phase = ?7, error_message = ?8, \
         result_url = ?9, flag_count = ?10, score = ?11, score_version = ?12, materialized_at = ?13, \
         feedback_status = ?14, updated_at = ?15, updated_by = ?16, \
         deleted_at = CASE WHEN ?17 THEN ?15 END, deleted_by = CASE WHEN ?17 THEN ?16 END \
         WHERE id = ?1 AND organization_id = ?2 AND deleted_at IS NULL \
         AND status = ?3 AND phase IS ?4 AND attempt = ?5";
}
