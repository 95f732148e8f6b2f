-- Who had a dead letter handled again: until here only that it was, and when, was kept.

ALTER TABLE views.dead_replayed
    ADD COLUMN replayed_by text COLLATE "C" NOT NULL DEFAULT '';

COMMENT ON COLUMN views.dead_replayed.replayed_by IS
    'Who had it handled: a credential, or os:<login>; empty: a version before this one had.';
