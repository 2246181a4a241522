-- Tenants, runs and the outbox. Forward only: a file that has been applied anywhere is never edited again.
-- Times are UTC, RFC 3339 with six decimals, so that their order as text is their order in time.

CREATE TABLE organization (
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL,
    created_at  TEXT NOT NULL
) STRICT;

CREATE TABLE project (
    id               INTEGER PRIMARY KEY,
    organization_id  INTEGER NOT NULL REFERENCES organization (id),
    name             TEXT NOT NULL,
    created_at       TEXT NOT NULL,
    UNIQUE (organization_id, id)
) STRICT;

CREATE TABLE "user" (
    cognito_sub  TEXT PRIMARY KEY NOT NULL,
    created_at   TEXT NOT NULL
) STRICT;

-- One run a row, both edges (contract G1). The CHECKs say what a row is; what may become of it says
-- heddle_generation::decide alone.
CREATE TABLE wf2des (
    id                TEXT PRIMARY KEY NOT NULL CHECK (length(id) <= 255),
    organization_id   INTEGER NOT NULL REFERENCES organization (id),
    project_id        INTEGER NOT NULL REFERENCES project (id),
    figma_file_key    TEXT NOT NULL,
    wf_node_id        TEXT NOT NULL,
    screen_id         TEXT NOT NULL,
    prompt            TEXT,
    placement_target  TEXT,
    auto_confirm      TEXT NOT NULL DEFAULT '0' CHECK (auto_confirm IN ('0', '1')),
    trigger_surface   TEXT NOT NULL CHECK (trigger_surface IN ('0', '1')),
    status            TEXT NOT NULL DEFAULT '0' CHECK (status IN ('0', '1', '2', '3', '4')),
    phase             TEXT CHECK (phase IN ('0', '1', '2')),
    attempt           INTEGER NOT NULL DEFAULT 1 CHECK (attempt >= 1),
    error_message     TEXT,
    result_url        TEXT,
    flag_count        INTEGER CHECK (flag_count >= 0),
    score             REAL CHECK (score BETWEEN 0 AND 1),
    score_version     TEXT CHECK (length(score_version) <= 32),
    materialized_at   TEXT,
    feedback_status   TEXT CHECK (feedback_status IN ('0', '1')),
    edge              TEXT NOT NULL DEFAULT '0' CHECK (edge IN ('0', '1')),
    created_at        TEXT NOT NULL,
    updated_at        TEXT NOT NULL,
    deleted_at        TEXT,
    created_by        TEXT NOT NULL REFERENCES "user" (cognito_sub),
    updated_by        TEXT NOT NULL REFERENCES "user" (cognito_sub),
    deleted_by        TEXT REFERENCES "user" (cognito_sub),
    -- A project of another tenant can't be named.
    FOREIGN KEY (organization_id, project_id) REFERENCES project (organization_id, id),
    CHECK ((status = '0') = (phase IS NOT NULL)),
    CHECK ((score IS NULL) = (score_version IS NULL)),
    CHECK ((deleted_at IS NULL) = (deleted_by IS NULL)),
    -- No invisible row holds the fence (G13).
    CHECK (deleted_at IS NULL OR status <> '0')
) STRICT;

-- The fence (G2).
CREATE UNIQUE INDEX wf2des_open_generation_uq
    ON wf2des (project_id, figma_file_key, wf_node_id, edge) WHERE status = '0';

-- The list of a file, and what is completed and not placed yet (G3).
CREATE INDEX wf2des_org_project_file_status_idx
    ON wf2des (organization_id, project_id, figma_file_key, status);

-- A tenant's newest runs, page by page, without sorting them all.
CREATE INDEX wf2des_org_created_idx
    ON wf2des (organization_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;

-- What must reach the queue, written with the row that it speaks of (G5). Sent messages stay: they say which
-- source a run was given.
CREATE TABLE outbox (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id      TEXT NOT NULL REFERENCES wf2des (id),
    body        TEXT NOT NULL,
    created_at  TEXT NOT NULL,
    sent_at     TEXT
) STRICT;

CREATE INDEX outbox_pending_idx ON outbox (id) WHERE sent_at IS NULL;

CREATE INDEX outbox_run_idx ON outbox (run_id);
