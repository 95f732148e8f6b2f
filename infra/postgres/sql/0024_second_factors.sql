-- A second factor at sign-in: codes of an authenticator app (RFC 6238), and recovery codes.

CREATE TABLE access.second_factors (
    begun_at_us     bigint NOT NULL,
    confirmed_at_us bigint,
    used_step       bigint NOT NULL DEFAULT 0,
    name            text COLLATE "C" NOT NULL REFERENCES access.users,
    secret          bytea NOT NULL,
    CONSTRAINT second_factors_pk PRIMARY KEY (name)
);

COMMENT ON TABLE access.second_factors IS 'Secrets of authenticator apps, one for each user.';
COMMENT ON COLUMN access.second_factors.begun_at_us IS 'When the secret was made, microseconds.';
COMMENT ON COLUMN access.second_factors.confirmed_at_us IS
    'Since when sign-in asks for a code, microseconds; NULL: no code was given yet.';
COMMENT ON COLUMN access.second_factors.used_step IS
    'The newest time step whose code was taken: its code and older ones are refused.';
COMMENT ON COLUMN access.second_factors.name IS 'The user who signs in with it.';
COMMENT ON COLUMN access.second_factors.secret IS
    'The secret by AES-256-GCM, nonce first; the key is a file outside the database.';

CREATE TABLE access.recovery_codes (
    name      text COLLATE "C" NOT NULL REFERENCES access.users,
    code_hash bytea NOT NULL,
    CONSTRAINT recovery_codes_pk PRIMARY KEY (name, code_hash)
);

COMMENT ON TABLE access.recovery_codes IS 'Codes for a user who has lost the app. A used one is deleted.';
COMMENT ON COLUMN access.recovery_codes.name IS 'The user who may sign in with it.';
COMMENT ON COLUMN access.recovery_codes.code_hash IS 'SHA-256 of a random code of 120 bits.';

CREATE TABLE access.pending_sign_ins (
    began_at_us bigint NOT NULL,
    name        text COLLATE "C" NOT NULL REFERENCES access.users,
    token_hash  bytea NOT NULL,
    CONSTRAINT pending_sign_ins_pk PRIMARY KEY (token_hash)
);

COMMENT ON TABLE access.pending_sign_ins IS
    'Sign-ins whose password was right and whose code is not given yet. None is a session.';
COMMENT ON COLUMN access.pending_sign_ins.began_at_us IS 'When the password was given, microseconds.';
COMMENT ON COLUMN access.pending_sign_ins.name IS 'The user whose password was right.';
COMMENT ON COLUMN access.pending_sign_ins.token_hash IS 'SHA-256 of the random token in the cookie.';

GRANT SELECT, INSERT, DELETE ON access.second_factors, access.recovery_codes,
    access.pending_sign_ins TO ledger_doorkeeper;
GRANT UPDATE (begun_at_us, confirmed_at_us, used_step, secret) ON access.second_factors
    TO ledger_doorkeeper;
