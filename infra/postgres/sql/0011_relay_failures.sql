-- What relays ended with. A relay ends at whatever fails it and is started again, so that what it
-- counted itself would be gone with it.

CREATE TABLE views.relay_failures (
    count      bigint NOT NULL,
    last_at_us bigint NOT NULL,
    error      text COLLATE "C" NOT NULL,
    CONSTRAINT relay_failures_pk PRIMARY KEY (error)
) WITH (fillfactor = 50);

COMMENT ON TABLE views.relay_failures IS
    'How often a relay ended, by what it failed with. Written by the relay as it ends, where the database answers it; nothing is decided by it.';
COMMENT ON COLUMN views.relay_failures.count IS 'How often, ever.';
COMMENT ON COLUMN views.relay_failures.last_at_us IS
    'When last, by the database, microseconds.';
COMMENT ON COLUMN views.relay_failures.error IS
    'Name of the error: as the library of Kafka or PostgreSQL names it, or this program.';
