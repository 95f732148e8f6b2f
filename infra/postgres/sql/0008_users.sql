-- Who may look, and which device may speak. None of it is the record or a view of it, so it stands in
-- a schema of its own that only the role at the door reads: no view, backup reader or writer of
-- facts sees a password's hash.

CREATE TABLE access.users (
    made_at_us     bigint NOT NULL,
    disabled_at_us bigint,
    name           text COLLATE "C" NOT NULL,
    employee       text COLLATE "C" NOT NULL,
    roles          text[] COLLATE "C" NOT NULL,
    password       text COLLATE "C",
    subject        text COLLATE "C",
    CONSTRAINT users_pk PRIMARY KEY (name),
    CONSTRAINT users_subject UNIQUE (subject),
    CONSTRAINT users_roles CHECK (
        cardinality(roles) > 0 AND roles <@ ARRAY['surveillance', 'finance', 'ops', 'auditor'])
);

COMMENT ON TABLE access.users IS
    'People who may sign in. Never removed: the record names them by credential.';
COMMENT ON COLUMN access.users.made_at_us IS 'When it was made, by the database, microseconds.';
COMMENT ON COLUMN access.users.disabled_at_us IS 'Since when nobody signs in as them; NULL: they may.';
COMMENT ON COLUMN access.users.name IS 'What they sign in with.';
COMMENT ON COLUMN access.users.employee IS 'Credential number, as facts name people.';
COMMENT ON COLUMN access.users.roles IS 'What they may see and do.';
COMMENT ON COLUMN access.users.password IS
    'argon2id of the password; NULL: they sign in at the identity provider only.';
COMMENT ON COLUMN access.users.subject IS
    'What the identity provider calls them; NULL: they sign in with a password only.';

CREATE TABLE access.sessions (
    began_at_us bigint NOT NULL,
    used_at_us  bigint NOT NULL,
    name        text COLLATE "C" NOT NULL REFERENCES access.users,
    token_hash  bytea NOT NULL,
    CONSTRAINT sessions_pk PRIMARY KEY (token_hash)
) WITH (fillfactor = 80);
CREATE INDEX ON access.sessions (name);

COMMENT ON TABLE access.sessions IS
    'Who is signed in. Removed at signing out, and when a password or roles change.';
COMMENT ON COLUMN access.sessions.began_at_us IS 'When they signed in, microseconds.';
COMMENT ON COLUMN access.sessions.used_at_us IS 'When it was last used, to about a minute.';
COMMENT ON COLUMN access.sessions.name IS 'Whose it is.';
COMMENT ON COLUMN access.sessions.token_hash IS
    'SHA-256 of the random token in the cookie: who reads this table can be nobody.';

CREATE TABLE access.tries (
    tried_at_us bigint NOT NULL,
    name        text COLLATE "C" NOT NULL,
    address     text COLLATE "C" NOT NULL
);
CREATE INDEX ON access.tries (tried_at_us);

COMMENT ON TABLE access.tries IS
    'Tries to sign in that have not succeeded, kept for as long as they are counted.';
COMMENT ON COLUMN access.tries.tried_at_us IS 'When, by the database, microseconds.';
COMMENT ON COLUMN access.tries.name IS 'The name that was given, known or not.';
COMMENT ON COLUMN access.tries.address IS 'Where from.';

CREATE TABLE access.device_keys (
    made_at_us    bigint NOT NULL,
    revoked_at_us bigint,
    key_id        text COLLATE "C" NOT NULL,
    source        text COLLATE "C" NOT NULL,
    secret_hash   bytea NOT NULL,
    CONSTRAINT device_keys_pk PRIMARY KEY (key_id)
);

COMMENT ON TABLE access.device_keys IS
    'Keys that devices send facts with. Never removed: a revoked one stays known as such.';
COMMENT ON COLUMN access.device_keys.made_at_us IS 'When it was made, microseconds.';
COMMENT ON COLUMN access.device_keys.revoked_at_us IS 'Since when it opens nothing; NULL: it does.';
COMMENT ON COLUMN access.device_keys.key_id IS 'Its name, part of the key itself and no secret.';
COMMENT ON COLUMN access.device_keys.source IS
    'What it may speak for: /property, /property/place or /property/place/device.';
COMMENT ON COLUMN access.device_keys.secret_hash IS 'SHA-256 of its random secret.';

CREATE TABLE access.events (
    number  bigint GENERATED ALWAYS AS IDENTITY,
    at_us   bigint NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
    what    text COLLATE "C" NOT NULL,
    name    text COLLATE "C" NOT NULL,
    actor   text COLLATE "C" NOT NULL,
    address text COLLATE "C" NOT NULL,
    detail  text COLLATE "C" NOT NULL,
    CONSTRAINT events_pk PRIMARY KEY (number)
);

COMMENT ON TABLE access.events IS 'What happened at the door. Only added to.';
COMMENT ON COLUMN access.events.number IS 'Ascends; may leave holes.';
COMMENT ON COLUMN access.events.at_us IS 'When, by the database, microseconds.';
COMMENT ON COLUMN access.events.what IS 'signed_in, sign_in_failed, signed_out, user_added, key_revoked, ...';
COMMENT ON COLUMN access.events.name IS 'The user or key it is about; a failed try: the name given.';
COMMENT ON COLUMN access.events.actor IS
    'Who did it: a user''s name, or os:<login> for a command on the machine.';
COMMENT ON COLUMN access.events.address IS 'Where a browser or device asked from; empty: a command.';
COMMENT ON COLUMN access.events.detail IS 'What it became, e.g. the roles. Never a secret.';

CREATE FUNCTION access.refuse() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    RAISE EXCEPTION '%.% is only added to', tg_table_schema, tg_table_name
        USING ERRCODE = 'insufficient_privilege';
END
$body$;
COMMENT ON FUNCTION access.refuse() IS 'Refuses to change what is only added to, for the owner too.';

CREATE TRIGGER only_added_to BEFORE UPDATE OR DELETE OR TRUNCATE ON access.events
    FOR EACH STATEMENT EXECUTE FUNCTION access.refuse();

GRANT USAGE ON SCHEMA access TO ledger_doorkeeper;
GRANT SELECT, INSERT ON access.users, access.sessions, access.tries, access.device_keys,
    access.events TO ledger_doorkeeper;
GRANT UPDATE (disabled_at_us, roles, password, subject) ON access.users TO ledger_doorkeeper;
GRANT UPDATE (used_at_us), DELETE ON access.sessions TO ledger_doorkeeper;
GRANT DELETE ON access.tries TO ledger_doorkeeper;
GRANT UPDATE (revoked_at_us) ON access.device_keys TO ledger_doorkeeper;
