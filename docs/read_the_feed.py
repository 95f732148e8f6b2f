"""Follow the feed with nothing but kafka-python: `python read_the_feed.py HOST:PORT [--until-end]`.

Prints every fact once, in the order of its tape. Keep `seen` with what you make of the facts, in
one transaction, and you may be killed at any moment. A hole in a tape is never passed over.
"""

import sys

from kafka import KafkaConsumer, TopicPartition

TOPIC = "ledger.table-events.v1"
consumer = KafkaConsumer(
    bootstrap_servers=sys.argv[1].split(","),
    auto_offset_reset="none",  # an offset that is gone is an error, never a jump
    enable_auto_commit=False,
    allow_auto_create_topics=False,
)
partitions = [TopicPartition(TOPIC, n) for n in sorted(consumer.partitions_for_topic(TOPIC))]
ends = consumer.end_offsets(partitions)
consumer.assign(partitions)
consumer.seek_to_beginning()

seen: dict[str, int] = {}  # by place: the sequence of the last fact taken in
while "--until-end" not in sys.argv or any(consumer.position(p) < ends[p] for p in partitions):
    for records in consumer.poll(timeout_ms=500).values():
        for record in records:
            headers, place = dict(record.headers), record.key.decode()
            sequence = int(headers["ledger_table_seq"])
            if sequence <= seen.get(place, 0):
                continue  # sent again, as happens after any fault
            if place in seen and sequence > seen[place] + 1:
                sys.exit(f"facts of {place} after {seen[place]} are missing: republish them")
            seen[place] = sequence
            print(place, sequence, headers["ce_type"].decode(), record.value.decode())  # noqa: T201
