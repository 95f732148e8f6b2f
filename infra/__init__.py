"""Edges: settings, PostgreSQL, Kafka and local services. The only users of psycopg and kafka."""
