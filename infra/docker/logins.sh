#!/bin/sh
# Creates the logins of the services, each with its own password and the fewest roles it needs.
set -eu
PGPASSWORD=$(cat /run/secrets/postgres_password)
export PGPASSWORD

login() {
    LOGIN_PASSWORD=$(cat "/run/secrets/$1_password") psql --quiet --no-psqlrc \
        -v login="ledger_$1" -v roles="$2" -f "${0%/*}/login.sql"
}

# serve: takes facts, shows pages, updates views, records decisions, keeps users and keys
login web ledger_writer,ledger_reader,ledger_projector,ledger_desk,ledger_doorkeeper
login views ledger_projector,ledger_writer  # locks of disputed footage are facts
login alerts ledger_projector
login relay ledger_projector
login seal ledger_sealer
login backup ledger_reader,pg_read_all_data
login ingest ledger_writer,ledger_reader
login report ledger_reader  # SQL and dashboards of your own
