"""Follow the facts with kafka-python alone: `read_the_feed.py HOST:PORT [TOPIC] [--until-end]`.

`pip install 'kafka-python[zstd]'`: the feed is compressed, and plain kafka-python cannot read it.

TOPIC is the topic of facts, if the ledger's topics have a prefix. Other topics have other headers.

Prints every fact once, in the order of its tape. Keep `seen` with what you make of the facts, in
one transaction, and you may be killed at any moment. A sequence gap of a tape is reported, and the
facts after it wait until the missing ones are published again. A gap that is left is exit code 1.
"""

import sys

from kafka import KafkaConsumer, TopicPartition

given = [each for each in sys.argv[2:] if each != "--until-end"]
TOPIC = given[0] if given else "ledger.table-events.v1"  # behind the ledger's prefix if it has one
consumer = KafkaConsumer(
    bootstrap_servers=sys.argv[1].split(","),
    auto_offset_reset="none",  # an offset that is gone is an error, never a jump
    enable_auto_commit=False,
    allow_auto_create_topics=False,
)
partitions = [TopicPartition(TOPIC, n) for n in sorted(consumer.partitions_for_topic(TOPIC))]
begins, ends = consumer.beginning_offsets(partitions), consumer.end_offsets(partitions)
consumer.assign(partitions)
consumer.seek_to_beginning()

seen: dict[str, int] = {}  # by place: the sequence of the last fact taken in
waiting: dict[str, dict[int, str]] = {}  # by place: facts that came after a hole
while "--until-end" not in sys.argv or any(consumer.position(p) < ends[p] for p in partitions):
    for partition, records in consumer.poll(timeout_ms=500).items():
        for record in records:
            headers, place = dict(record.headers), record.key.decode()
            came = int(headers["ledger_table_seq"])
            if place not in seen:
                seen[place] = came - 1 if begins[partition] else 0  # what is older has expired
                print(f"{place} is read from {seen[place] + 1} on", file=sys.stderr)
            after = waiting.setdefault(place, {})
            if came > seen[place]:  # else it was sent again, as happens after any fault
                after[came] = f"{headers['ce_type'].decode()} {record.value.decode()}"
            while (following := seen[place] + 1) in after:
                print(place, following, after.pop(following))
                seen[place] = following
            if list(after) == [came]:
                print(f"facts of {place} after {seen[place]} are missing", file=sys.stderr)
sys.exit(int(any(waiting.values())))
