//! `workflow_escalations` (W9). Nothing reads it yet.

pub(in crate::workflows) mod sqlite {
    pub(in crate::workflows) const CREATE: &str = "CREATE TABLE {escalations} (
    id             {primary_key},
    instance_id    {key} NOT NULL REFERENCES {instances} (id) ON DELETE CASCADE,
    step_run_id    {key} NOT NULL REFERENCES {step_runs} (id) ON DELETE CASCADE,
    level          INTEGER NOT NULL CHECK (level BETWEEN 1 AND 65535),
    due_at         TEXT NOT NULL,
    actions        TEXT NOT NULL,
    status         TEXT NOT NULL CHECK (length(status) <= 16),
    attempts       INTEGER NOT NULL DEFAULT 0 CHECK (attempts BETWEEN 0 AND 65535),
    claim_token    TEXT CHECK (length(claim_token) <= 26),
    claimed_at     TEXT,
    fired_at       TEXT,
    cancelled_at   TEXT,
    error_code     TEXT CHECK (length(error_code) <= 64),
    error_message  TEXT,
    created_at     TEXT NOT NULL,
    updated_at     TEXT NOT NULL
) STRICT;
CREATE INDEX wesc_due_idx ON {escalations} (status, due_at);
CREATE INDEX wesc_instance_idx ON {escalations} (instance_id);
CREATE INDEX wesc_step_idx ON {escalations} (step_run_id);
";
}

pub(in crate::workflows) mod postgres {
    pub(in crate::workflows) const CREATE: &str = "CREATE TABLE {escalations} (
    id             {primary_key},
    instance_id    {key} NOT NULL REFERENCES {instances} (id) ON DELETE CASCADE,
    step_run_id    {key} NOT NULL REFERENCES {step_runs} (id) ON DELETE CASCADE,
    level          bigint NOT NULL CHECK (level BETWEEN 1 AND 65535),
    due_at         timestamptz NOT NULL,
    actions        json NOT NULL,
    status         varchar(16) COLLATE \"C\" NOT NULL,
    attempts       bigint NOT NULL DEFAULT 0 CHECK (attempts BETWEEN 0 AND 65535),
    claim_token    varchar(26),
    claimed_at     timestamptz,
    fired_at       timestamptz,
    cancelled_at   timestamptz,
    error_code     varchar(64),
    error_message  text,
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL
);
CREATE INDEX wesc_due_idx ON {escalations} (status, due_at);
CREATE INDEX wesc_instance_idx ON {escalations} (instance_id);
CREATE INDEX wesc_step_idx ON {escalations} (step_run_id);
";
}
