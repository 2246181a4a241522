-- A message that the queue will never take: when that was found, and why. It is kept to be looked at, and sent no more.
ALTER TABLE outbox ADD COLUMN dead_at TEXT;
ALTER TABLE outbox ADD COLUMN dead_reason TEXT CHECK ((dead_at IS NULL) = (dead_reason IS NULL));

DROP INDEX outbox_pending_idx;
CREATE INDEX outbox_pending_idx ON outbox (id) WHERE sent_at IS NULL AND dead_at IS NULL;
