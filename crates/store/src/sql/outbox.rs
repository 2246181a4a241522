//! Statements on `outbox`.

pub(crate) mod sqlite {
    /// `?1` run, `?2` body, `?3` now.
    pub(crate) const INSERT: &str = "INSERT INTO outbox (run_id, body, created_at) VALUES (?1, ?2, ?3)";

    /// `?1` after this id, `?2` limit.
    pub(crate) const PENDING: &str = "SELECT id, run_id, body FROM outbox WHERE sent_at IS NULL AND dead_at IS NULL AND id > ?1 ORDER BY id LIMIT ?2";

    /// `?1` id, `?2` now.
    pub(crate) const MARK_SENT: &str =
        "UPDATE outbox SET sent_at = ?2 WHERE id = ?1 AND sent_at IS NULL AND dead_at IS NULL";

    /// `?1` id, `?2` now, `?3` reason.
    pub(crate) const MARK_DEAD: &str = "UPDATE outbox SET dead_at = ?2, dead_reason = ?3 \
         WHERE id = ?1 AND sent_at IS NULL AND dead_at IS NULL";
}
