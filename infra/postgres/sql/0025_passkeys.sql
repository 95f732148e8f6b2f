-- Passkeys: keys of users' devices that sign in in place of password and code (WebAuthn).

ALTER TABLE access.users ADD COLUMN passkey_handle bytea;

COMMENT ON COLUMN access.users.passkey_handle IS
    'Random name of the user on devices with passkeys; NULL: none was ever begun.';

CREATE TABLE access.passkeys (
    made_at_us    bigint NOT NULL,
    used_at_us    bigint,
    sign_count    bigint NOT NULL,
    name          text COLLATE "C" NOT NULL REFERENCES access.users,
    label         text COLLATE "C" NOT NULL,
    credential_id bytea NOT NULL,
    public_key    bytea NOT NULL,
    CONSTRAINT passkeys_pk PRIMARY KEY (credential_id)
);
CREATE INDEX ON access.passkeys (name);

COMMENT ON TABLE access.passkeys IS 'Passkeys of users. A removed one is deleted.';
COMMENT ON COLUMN access.passkeys.made_at_us IS 'When it was added, microseconds.';
COMMENT ON COLUMN access.passkeys.used_at_us IS 'When it last signed, microseconds; NULL: never.';
COMMENT ON COLUMN access.passkeys.sign_count IS
    'The device''s count of signatures at the last one; 0 for ever: it counts none.';
COMMENT ON COLUMN access.passkeys.name IS 'The user who signs in with it.';
COMMENT ON COLUMN access.passkeys.label IS 'What its user calls it.';
COMMENT ON COLUMN access.passkeys.credential_id IS 'What the device calls it.';
COMMENT ON COLUMN access.passkeys.public_key IS 'The key that checks its signatures (COSE, RFC 9052).';

CREATE TABLE access.passkey_challenges (
    made_at_us bigint NOT NULL,
    purpose    text COLLATE "C" NOT NULL,
    bound_to   bytea NOT NULL,
    challenge  bytea NOT NULL,
    CONSTRAINT passkey_challenges_pk PRIMARY KEY (bound_to, purpose)
);
CREATE INDEX ON access.passkey_challenges (made_at_us);

COMMENT ON TABLE access.passkey_challenges IS
    'Random challenges that passkeys sign. Each is deleted when an answer comes, right or wrong.';
COMMENT ON COLUMN access.passkey_challenges.made_at_us IS 'When it was made, microseconds.';
COMMENT ON COLUMN access.passkey_challenges.purpose IS 'add, sign_in or again.';
COMMENT ON COLUMN access.passkey_challenges.bound_to IS
    'SHA-256 of the token of the session, or of the form before sign-in, that asked for it.';
COMMENT ON COLUMN access.passkey_challenges.challenge IS '32 random bytes.';

GRANT SELECT, INSERT, DELETE ON access.passkeys, access.passkey_challenges TO ledger_doorkeeper;
GRANT UPDATE (used_at_us, sign_count) ON access.passkeys TO ledger_doorkeeper;
GRANT UPDATE (made_at_us, challenge) ON access.passkey_challenges TO ledger_doorkeeper;
GRANT UPDATE (passkey_handle) ON access.users TO ledger_doorkeeper;
