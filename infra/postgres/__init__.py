"""PostgreSQL: the record, the views' tables, migrations; the only user of psycopg."""
