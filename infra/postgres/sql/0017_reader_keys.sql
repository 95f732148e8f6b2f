-- Keys of systems that read finance over HTTP. They are apart from the keys of devices: a key that
-- reads neither lets facts be sent nor makes devices show a key.

CREATE TABLE access.reader_keys (
    made_at_us    bigint NOT NULL,
    revoked_at_us bigint,
    key_id        text COLLATE "C" NOT NULL,
    role          text COLLATE "C" NOT NULL,
    reader        text COLLATE "C" NOT NULL,
    secret_hash   bytea NOT NULL,
    CONSTRAINT reader_keys_pk PRIMARY KEY (key_id),
    CONSTRAINT reader_keys_role CHECK (role IN ('finance', 'auditor'))
);

COMMENT ON TABLE access.reader_keys IS
    'Keys that systems read finance with. Never removed: a revoked one stays known as such.';
COMMENT ON COLUMN access.reader_keys.made_at_us IS 'When it was made, microseconds.';
COMMENT ON COLUMN access.reader_keys.revoked_at_us IS 'Since when it opens nothing; NULL: it does.';
COMMENT ON COLUMN access.reader_keys.key_id IS 'Its name, part of the key itself and no secret.';
COMMENT ON COLUMN access.reader_keys.role IS 'The role that it reads as: finance or auditor.';
COMMENT ON COLUMN access.reader_keys.reader IS 'The system that reads with it, as general-ledger.';
COMMENT ON COLUMN access.reader_keys.secret_hash IS 'SHA-256 of its random secret.';

GRANT SELECT, INSERT ON access.reader_keys TO ledger_doorkeeper;
GRANT UPDATE (revoked_at_us) ON access.reader_keys TO ledger_doorkeeper;
