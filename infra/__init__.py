"""Settings, PostgreSQL, Kafka and local services. Only `infra` imports psycopg and kafka."""
