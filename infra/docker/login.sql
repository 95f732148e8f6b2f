-- Creates a login of the ledger, or changes it: its password, and the roles that it may act as.
-- Run it as a superuser after `migrate --apply`, again whenever a password changes:
-- LOGIN_PASSWORD=... psql -v login=ledger_web -v roles=ledger_writer,ledger_reader -f login.sql
\set ON_ERROR_STOP on
\getenv password LOGIN_PASSWORD
SELECT format('CREATE ROLE %I', :'login')
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'login') \gexec
ALTER ROLE :"login" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS
    PASSWORD :'password';
SELECT format('REVOKE %I FROM %I', r.rolname, :'login')
  FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid
 WHERE m.member = (SELECT oid FROM pg_roles WHERE rolname = :'login') \gexec
GRANT :roles TO :"login";
