-- When the user of a session showed the password last: exports, releases and approvals ask for it
-- again after a quarter of an hour. A program of the version before leaves it out: then it is when
-- the session began.

ALTER TABLE access.sessions ADD COLUMN proven_at_us bigint;

COMMENT ON COLUMN access.sessions.proven_at_us IS
    'When its user showed the password again, microseconds; NULL: not since it began.';

GRANT UPDATE (proven_at_us) ON access.sessions TO ledger_doorkeeper;
