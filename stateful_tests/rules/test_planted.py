"""Rules see the bugs that are planted for them, in whole runs, and the control is silent in such runs."""

from __future__ import annotations

import pytest

from impl.variants.catalogue import NO_REPAIR
from invariants.concepts import PROGRAMMED, PROPERTIES
from invariants.hazards import HAZARDS
from invariants.rules.declared import BY_NAME
from invariants.rules.rule import RULES
from invariants.rules.telling_apart import looked_for
from invariants.rules.watch import LATE
from invariants.verdict import Outcome
from stateful_tests.rules.programs import PROGRAMS
from stateful_tests.worlds.healing import is_promise
from stateful_tests.worlds.profiles import STRATEGIES
from stateful_tests.worlds.run import Plan, run
from stateful_tests.worlds.subjects import DECLARED, subject_named

PLANTED = (
    ("acknowledged_is_delivered", "repaired+seeded-units-name-ends", "stored_sync", "calm", 0),
    ("delivered_was_sent", "repaired+seeded-broker-gives-ids", "stored_sync", "calm", 0),
    ("settled_is_over", "repaired+seeded-batch-comes-again", "stored_sync", "calm", 0),
    ("committed_offset_never_goes_back", "repaired+seeded-some-commits-are-lower", "stored_sync", "calm", 0),
    ("commits_pass_nothing_unfinished", "repaired+seeded-greatest-settled", "stored_retry", "calm", 0),
    ("order_is_kept", "repaired+seeded-equal-keys-take-turns", "sending_in_order", "calm", 0),
    ("transactions_keep_their_order", "repaired+seeded-half-is-shown", "transactions", "calm", 0),
    ("half_messages_are_resolved", "repaired+seeded-transaction-is-not-run", "transactions", "calm", 0),
    ("one_owner_at_once", "repaired+seeded-all-but-one-given-up", "stored_sync", "calm", 0),
    ("given_up_after_its_attempts", "repaired+seeded-one-attempt-more", "stored_retry", "calm", 0),
    ("every_message_is_settled", "repaired+seeded-written-queues-are-read", "resized", "calm", 0),
    ("every_message_is_settled", "repaired+ol-go-retrylater-skips", "stored_orderly", "calm", 0),
    ("ordered_messages_stay_in_order", "repaired+ol-go-retrylater-skips", "stored_orderly", "calm", 0),
    ("failure_is_retried_once", "repaired+rt-wrong-batch-sent-back", "stored_retry", "calm", 0),
    ("what_is_taken_away_stays_away", "repaired-N-13", "operators", "calm", 5),
    ("orders_are_kept", "repaired+seeded-group-is-not-written", "administered", "calm", 1),
    ("orders_are_kept", "repaired+seeded-key-takes-its-namespace", "administered", "calm", 0),
    ("key_values_survive", "repaired+seeded-keys-are-not-written", "administered", "calm", 1),
    ("orders_change_nothing_else", "repaired+seeded-nobody-may-be-written", "administered", "calm", 0),
    ("operators_are_told_what_is_so", "repaired+seeded-who-is-away-has-no-lag", "inspected", "calm", 0),
    ("illegal_orders_are_refused", "repaired+seeded-nothing-is-reserved", "inspected", "calm", 1),
    ("deleted_topic_takes_its_messages", "repaired+seeded-deleted-messages-stay", "inspected", "calm", 2),
    ("other_topics_keep_their_queues", "repaired+seeded-small-topics-go-along", "inspected", "calm", 2),
    ("made_topic_is_announced", "repaired+seeded-made-topic-waits", "inspected", "calm", 0),
    ("ordered_topics_are_those_of_name_servers", "repaired+seeded-order-is-for-ever", "inspected", "calm", 8),
    ("closed_topics_get_no_messages", "repaired+seeded-closed-topic-is-written", "far_behind", "calm", 0),
    ("registered_versions_go_forward", "repaired+seeded-version-is-written-late", "administered", "calm", 1),
    ("goodbye_reaches_all_name_servers", "repaired+seeded-goodbye-ends-at-an-error", "inspected", "calm", 1),
    ("gone_broker_is_not_heard_of", "repaired+seeded-gone-broker-registers", "routes", "calm", 0),
    ("routed_topics_are_not_denied", "repaired+seeded-no-route-without-master", "routes", "calm", 3),
    ("suspended_members_take_nothing", "repaired+seeded-suspended-rebalance", "clustering", "calm", 1),
    ("new_topic_is_for_everybody", "repaired+seeded-made-topic-is-a-pattern", "sending_anyhow", "calm", 0),
    ("orders_are_kept", "repaired+seeded-offsets-go-by-suffix", "inspected", "calm", 5),
    ("slave_follows_its_master", "repaired+seeded-slave-counts-itself", "routes", "calm", 0),
    ("waiting_request_is_refused_in_its_time", "repaired+seeded-busy-broker-says-nothing", "bothered", "calm", 0),
    ("waiting_request_is_refused_in_its_time", "repaired+seeded-late-request-is-dropped", "bothered", "calm", 0),
    ("time_leads_to_its_first_message", "repaired+seeded-time-is-passed", "bothered", "calm", 0),
    ("illegal_orders_are_refused", "repaired+seeded-broker-takes-any-topic", "bothered", "calm", 0),
    ("pull_answer_fits_its_queue", "repaired+seeded-moved-pull-begins-again", "bothered", "calm", 1),
    ("pull_answer_fits_its_queue", "repaired+seeded-old-pull-goes-to-the-end", "bothered", "calm", 1),
    ("pull_answer_fits_its_queue", "repaired+seeded-pull-waits-behind-the-end", "bothered", "calm", 0),
    ("pull_answer_fits_its_queue", "repaired+seeded-nobody-lags", "bothered", "calm", 0),
    ("pull_answer_fits_its_queue", "repaired+seeded-twice-as-many-are-found", "listeners", "calm", 0),
    ("held_pull_waits_for_what_comes_next", "repaired+seeded-pull-waits-behind-the-end", "replicated", "calm", 0),
    ("routes_say_what_brokers_have", "repaired+seeded-only-greater-versions-count", "outages", "calm", 1),
    ("changed_topics_are_counted", "repaired+seeded-versions-count-nothing", "administered", "calm", 0),
    ("lock_answers_are_true", "repaired+seeded-expired-lock-keeps-its-owner", "ordered_listeners", "calm", 1),
    ("group_offsets_go_with_the_group", "repaired+po-deleted-group-keeps-offset", "operators", "calm", 1),
    ("committed_offset_survives_its_broker", "repaired+seeded-offsets-are-not-written", "operators", "calm", 1),
    ("closed_producer_is_delisted", "repaired+seeded-producers-outlive-connections", "clustering", "threads", 0),
    ("who_consumes_is_answered", "repaired+bc-topic-group-index-value", "operators", "calm", 0),
    ("producers_are_known", "repaired+seeded-producers-are-stamped-once", "clustering", "calm", 0),
    ("only_the_subscribed_is_held", "repaired+seeded-unsubscribed-is-kept", "subscriptions", "calm", 0),
    ("clients_forget_the_dead", "repaired+seeded-dead-brokers-stay-known", "operators", "calm", 0),
    ("goodbye_frees_its_sender_only", "repaired+ns-unregister-by-id", "promotion", "calm", 0),
    ("known_version_changes_nothing", "repaired+ns-dataversion-never-equal", "operators", "calm", 0),
    ("topic_survives_its_broker", "repaired+seeded-topics-are-not-written", "routes", "calm", 0),
    ("group_survives_its_broker", "repaired+seeded-groups-are-not-written", "operators", "calm", 1),
    ("slave_follows_its_master", "repaired+seeded-slave-copies-no-offsets", "routes", "calm", 0),
    ("slave_follows_its_master", "repaired+seeded-slave-copies-no-groups", "routes", "calm", 0),
    ("broadcaster_goes_on_where_it_ended", "repaired+po-broadcast-illegal-loop", "broadcasting", "calm", 1),
    ("reset_is_done", "repaired+seeded-reset-is-ignored", "resets", "calm", 0),
    ("reset_is_done", "repaired+seeded-one-queue-is-reset", "resets", "calm", 1),
    ("reset_goes_where_it_is_told", "repaired+seeded-reset-goes-up-only", "resets", "calm", 0),
    ("only_the_settled_is_committed", "repaired+po-cpp-ordered-early-commit", "ordered_listeners", "calm", 0),
    ("settled_is_committed", "repaired+seeded-offsets-sent-at-the-end-only", "listeners", "calm", 0),
    ("living_members_do_not_expire", "repaired+seeded-heartbeats-end-at-an-error", "operators", "calm", 0),
    ("goodbye_delists_a_member", "repaired+seeded-no-goodbye", "shared", "calm", 0),
    ("members_are_told_of_changes", "repaired+seeded-join-is-not-announced", "clustering", "threads", 1),
    ("queue_is_taken_once", "repaired+rb-two-pull-loops", "resets", "storm", 1),
    ("start_is_what_the_broker_answered", "repaired+po-fetch-failure-commits-zero", "listeners", "network", 2),
    ("only_the_settled_is_committed", "repaired-L8", "resets", "calm", 1),
    ("reset_takes_effect", "repaired+po-reset-vs-inflight", "resets", "threads", 3),
    ("reset_goes_to_its_time", "repaired+po-search-by-time", "resets", "calm", 1),
    ("commits_of_a_holding_go_forward", "repaired+seeded-offset-goes-back", "listeners", "threads", 17),
    ("commits_of_a_holding_go_forward", "repaired+fc-commit-interleave", "listeners", "threads", 17),
    ("only_ordered_groups_lock", "repaired+ol-lock-everyone", "clustering", "calm", 0),
    ("taken_queue_counts_as_locked", "repaired-U8", "orderly", "calm", 0),
    ("held_queue_stays_locked", "repaired+ol-unlock-other-topics", "orderly", "calm", 0),
    ("listener_keeps_its_lock", "repaired+ol-consume-while-releasing", "ordered_listeners", "threads", 3),
    ("refused_lock_is_not_believed", "repaired+seeded-refusal-is-ignored", "orderly", "clocks", 3),
    ("leaver_frees_its_locks", "repaired+ol-unlock-missing-on-leave", "orderly", "calm", 0),
    ("changed_share_renews_the_subscription", "repaired+bc-subversion-not-bumped", "clustering", "threads", 0),
    ("versions_are_times", "repaired+xl-subversion-units", "clustering", "calm", 0),
    ("notifications_have_a_reason", "repaired+seeded-every-heartbeat-notifies", "clustering", "calm", 0),
    ("group_has_its_retry_topic", "repaired+seeded-retry-topic-is-not-made", "clustering", "calm", 0),
    ("heartbeat_makes_the_retry_topic", "repaired+seeded-retry-topic-is-not-made", "clustering", "calm", 0),
    ("replies_find_the_producer", "repaired-B-23", "clustering", "storm", 0),
    ("closed_broker_is_dropped", "repaired+seeded-closed-brokers-stay", "one_topic", "storm", 28),
    ("held_queue_is_pulled", "repaired+seeded-moved-pull-is-the-last", "broadcasting", "calm", 1),
    ("given_up_lock_is_freed", "repaired+seeded-given-up-stays-locked", "orderly", "calm", 0),
    ("closed_connection_is_delisted", "repaired+seeded-close-in-one-group", "shared", "storm", 0),
    ("cluster_info_fits_together", "repaired+ns-clusterinfo-unlocked", "operators", "threads", 1),
    ("members_share_at_once", "repaired+rb-unsigned-underflow", "clustering", "calm", 0),
    ("members_share_at_once", "repaired+seeded-notification-is-ignored", "groups", "calm", 0),
    ("told_members_rebalance", "repaired+seeded-notification-is-ignored", "groups", "calm", 0),
    ("held_queue_is_worked_on", "repaired+seeded-moved-pull-is-the-last", "broadcasting", "calm", 1),
    ("only_the_readable_is_held", "repaired+seeded-all-but-one-given-up", "operators", "calm", 0),
    ("queue_is_not_left_alone", "repaired+seeded-given-up-stays-locked", "orderly", "calm", 0),
    ("members_share_at_once", "repaired+seeded-resume-waits", "clustering", "calm", 2),
    ("brokers_hear_of_each_group", "repaired+seeded-suspended-are-not-in-heartbeats", "clustering", "calm", 1),
    ("shutdown_drops_all_queues", "repaired+seeded-shutdown-drops-nothing", "listeners", "calm", 0),
    ("listener_begins_under_a_fresh_lock", "repaired+seeded-belief-never-expires", "one_topic", "crashes", 3),
    ("listener_begins_under_a_fresh_lock", "repaired+seeded-any-lock", "behind_in_order", "calm", 0),
    ("pulls_follow_one_another", "repaired+seeded-found-is-pulled-again", "listeners", "calm", 0),
    ("found_is_settled", "repaired+seeded-last-message-is-kept", "listeners", "calm", 0),
    ("found_is_settled", "repaired+seeded-second-pull-waits", "listeners", "calm", 0),
    ("found_is_settled", "repaired+seeded-queue-stays-busy", "ordered_listeners", "calm", 0),
    ("settled_is_remembered", "repaired+seeded-last-message-is-not-committed", "listeners", "calm", 3),
    ("no_offset_is_made_up", "repaired+seeded-no-offset-is-zero", "operators", "calm", 0),
    ("acknowledged_survives_crash", "repaired+seeded-answer-before-the-force", "stored_sync", "disks", 2),
    ("acknowledged_is_on_the_disk", "repaired+seeded-answer-before-the-force", "stored_sync", "disks", 1),
    ("acknowledged_is_on_the_disk", "repaired+fl-error-swallowed", "stored_sync", "disks", 0),
    ("acknowledged_is_on_the_disk", "repaired+seeded-disk-time-out-is-success", "patient", "disks", 3),
    ("acknowledged_message_is_on_the_slave", "repaired+seeded-slave-time-out-is-success", "patient", "calm", 0),
    ("slave_keeps_its_connection", "repaired+ha-report-starved", "patient", "calm", 0),
    ("slave_log_is_a_prefix", "repaired+seeded-part-of-a-frame-is-enough", "replicated_sync", "network", 0),
    ("slave_log_is_a_prefix", "repaired+seeded-buffer-outlives-connections", "two_slaves", "network", 1),
    ("clean_up_keeps_the_units_of_records", "repaired+seeded-queue-files-expire-early", "cramped", "calm", 0),
    ("broker_takes_messages", "repaired+seeded-log-files-end-without-a-blank", "cramped", "calm", 0),
    ("acknowledged_survives_crash", "repaired+seeded-buffer-is-left-at-a-stop", "buffered", "calm", 1),
    ("delayed_message_comes_at_last", "repaired+seeded-levels-have-no-end", "cramped", "calm", 0),
    ("message_is_found_by_its_key", "repaired+seeded-full-index-takes-no-more", "cramped", "calm", 0),
    ("message_is_found_by_its_key", "repaired+seeded-last-index-is-asked", "cramped", "calm", 0),
    ("slave_follows_its_master", "repaired+seeded-group-keeps-its-version", "administered", "calm", 0),
    ("pull_waits_for_its_version", "repaired+seeded-old-expressions-answer", "subscriptions", "threads", 0),
    ("time_out_is_over", "repaired+fl-second-flush-unchecked", "stored_sync", "calm", 0),
    ("time_out_is_over", "repaired+ha-five-wakeups", "replicated_sync", "calm", 0),
    ("dispatch_goes_forward", "repaired+st-reput-wrong-increment", "stored", "calm", 0),
    ("unit_names_its_record", "repaired+st-cq-duplicate-dispatch", "stored", "disks", 1),
    ("queue_offsets_are_consecutive", "repaired+st-offset-table-key", "stored", "calm", 0),
    ("queue_offsets_are_consecutive", "repaired+st-offset-lock-granularity", "stored_sync", "threads", 5),
    ("slave_log_is_a_prefix", "repaired+ha-rust-append-start", "replicated", "calm", 0),
    ("visible_is_durable", "repaired-V16", "stored", "disks", 5),
    ("queue_offsets_are_consecutive", "repaired+seeded-offsets-begin-again", "stored", "calm", 0),
    ("unit_names_its_record", "repaired+seeded-units-name-ends", "stored", "calm", 0),
    ("no_record_is_missed", "repaired+seeded-queue-is-left-out", "stored", "calm", 0),
    ("full_disk_refuses_writes", "repaired+seeded-full-disk-is-ignored", "stored_sync", "disks", 1),
    ("full_disk_makes_room", "repaired+seeded-log-is-kept", "cramped", "calm", 0),
    ("rolled_back_stays_hidden", "repaired+seeded-rollback-commits", "transactions", "calm", 0),
    ("delivered_was_sent", "repaired+seeded-rollback-commits", "transactions", "calm", 0),
    ("delays_are_waited", "repaired+seeded-delays-are-halved", "delayed", "calm", 0),
    ("message_comes_as_it_was_sent", "repaired+seeded-delayed-lose-their-flag", "delayed", "calm", 0),
    ("message_comes_as_it_was_sent", "repaired+seeded-committed-lose-their-tags", "transactions", "calm", 0),
    ("message_is_in_the_named_queue", "repaired+seeded-committed-go-to-queue-0", "transactions", "calm", 0),
    ("send_outcome_is_honest", "repaired+seeded-answers-name-the-log", "stored", "calm", 0),
    ("acknowledged_is_delivered", "repaired+seeded-tags-have-no-sign", "filtered", "calm", 0),
    ("delayed_message_comes_at_last", "repaired+seeded-delays-are-forgotten", "delayed", "calm", 0),
    ("only_subscribed_is_delivered", "repaired+seeded-filters-let-all-pass", "filtered", "calm", 0),
    ("copy_is_the_message", "repaired+seeded-delayed-are-born-late", "delayed", "calm", 0),
    ("copy_is_the_message", "repaired+seeded-origin-is-the-last-copy", "stored_retry", "calm", 0),
    ("message_is_found_by_its_key", "repaired+seeded-index-knows-milliseconds", "asked", "calm", 0),
    ("message_is_found_by_its_key", "repaired+seeded-index-has-one-key", "asked", "calm", 0),
    ("reset_goes_to_its_time", "repaired+seeded-reset-is-never-forced", "asked", "calm", 0),
    ("reset_is_of_all_queues", "repaired+seeded-first-queue-is-not-reset", "asked", "calm", 0),
    ("half_message_is_asked_about_so_often", "repaired+seeded-one-check-more", "undecided", "calm", 0),
    ("ended_half_message_is_left_alone", "repaired+seeded-op-names-the-log", "undecided", "calm", 0),
    ("held_pull_ends_in_its_time", "repaired+seeded-other-tag-forgets-the-pull", "filtered", "calm", 0),
    ("half_message_ends_at_last", "repaired+tx-immunity-boundary", "transactions", "calm", 0),
    ("retry_reaches_another_broker", "repaired+pr-go-shadowed-last-broker", "sending", "calm", 0),
    ("retry_reaches_another_broker", "repaired+pr-latency-ignores-last", "sending", "calm", 1),
    ("attempts_are_used", "repaired+pr-async-no-retry-on-connect", "sending", "calm", 0),
    ("attempts_are_used", "repaired+pr-retry-single-broker-null", "sending", "calm", 0),
    ("retry_reaches_another_broker", "repaired+pr-avoid-becomes-force", "sending", "storm", 0),
    ("settled_is_remembered", "repaired+fc-visible-before-cached", "stored_retry", "calm", 0),
    ("every_message_is_settled", "repaired+fc-permit-leak-on-panic", "stored_retry", "calm", 0),
    ("cache_is_counted", "repaired+fc-size-not-reduced", "stored_retry", "calm", 0),
    ("given_up_is_not_committed", "repaired+seeded-given-up-is-committed", "stored", "calm", 0),
    ("polls_follow_one_another", "repaired+seeded-seek-keeps-what-waits", "polled", "calm", 0),
    ("only_what_was_worked_on_is_committed", "repaired+seeded-pulled-counts-as-polled", "polled", "calm", 0),
    ("only_what_was_worked_on_is_committed", "repaired+seeded-polls-commit-by-themselves", "polled", "calm", 0),
    ("only_what_was_worked_on_is_committed", "repaired+seeded-returned-counts-as-consumed", "polled", "calm", 0),
    ("only_the_held_is_polled", "repaired+seeded-dropped-is-polled", "polled", "calm", 0),
    ("rested_queue_is_not_pulled", "repaired+seeded-rest-is-ignored", "polled", "calm", 0),
    ("poll_waits_as_asked", "repaired+seeded-poll-does-not-wait", "polled", "calm", 0),
    ("found_is_polled_at_once", "repaired+seeded-arrival-wakes-no-poll", "polled", "calm", 0),
    ("polled_queue_is_pulled", "repaired+seeded-rest-lasts", "polled", "calm", 0),
    ("polled_is_committed", "repaired+seeded-nothing-commits-itself", "polled", "calm", 0),
    ("seek_stays_in_the_queue", "repaired+seeded-seek-goes-anywhere", "polled", "calm", 0),
    ("ways_exclude_each_other", "repaired+seeded-ways-are-mixed", "polled", "calm", 0),
    ("seek_is_committed", "repaired+seeded-seek-is-not-committed", "polled", "calm", 0),
    ("poller_begins_where_it_is_to", "repaired+seeded-poller-begins-at-the-end", "throttled", "calm", 0),
    ("failed_pull_is_put_off", "repaired+seeded-failed-pull-comes-at-once", "listeners", "calm", 0),
    ("held_queue_is_worked_on", "repaired+seeded-failed-pull-is-the-last", "listeners", "calm", 0),
    ("pull_asks_as_configured", "repaired+seeded-pulls-have-no-version", "filtered", "calm", 0),
    ("slave_is_told_no_offset", "repaired+seeded-slaves-are-told-offsets", "slave_reads", "calm", 0),
    ("suggestion_is_followed", "repaired+seeded-slave-is-for-ever", "slave_reads", "calm", 0),
    ("pull_commits_what_is_remembered", "repaired+seeded-pulls-commit-nothing", "stored", "calm", 0),
    ("cache_is_bounded", "repaired+seeded-caches-have-no-end", "throttled", "calm", 0),
    ("cache_is_bounded", "repaired+seeded-bytes-have-no-end", "large", "calm", 0),
    ("cache_is_bounded", "repaired+seeded-queue-counts-as-topic", "large", "calm", 0),
    ("room_is_filled", "repaired+seeded-one-message-fills-a-queue", "throttled", "calm", 0),
    ("suspended_consumer_does_not_pull", "repaired+seeded-suspended-pull-on", "clustering", "calm", 1),
    ("refused_queue_is_not_pulled", "repaired+seeded-unlocked-is-pulled", "one_topic", "storm", 7),
    ("illegal_offset_is_corrected", "repaired+seeded-illegal-queue-is-kept", "broadcasting", "calm", 1),
    ("corrected_offset_is_sent", "repaired+seeded-correction-is-not-sent", "replicated", "calm", 0),
    ("broker_knows_how_a_group_consumes", "repaired+seeded-all-say-clustering", "broadcasting", "calm", 0),
    ("failure_is_retried_once", "repaired+seeded-levels-are-not-asked-for", "asking", "calm", 0),
    ("retries_wait_longer_each_time", "repaired+seeded-levels-are-not-asked-for", "asking", "calm", 0),
    ("suspended_queue_rests", "repaired+seeded-rests-are-all-alike", "asking", "calm", 0),
    ("rested_queue_goes_on", "repaired+seeded-rests-have-no-end", "asking", "calm", 0),
    ("held_back_is_not_committed", "repaired+seeded-success-commits-always", "held_back", "calm", 0),
    ("committed_by_hand_is_remembered", "repaired+seeded-commit-is-a-success", "held_back", "calm", 0),
    ("rolled_back_comes_first", "repaired+seeded-one-batch-is-rolled-back", "held_back", "calm", 0),
    ("queue_has_one_thread", "repaired-D13+seeded-two-threads-a-queue", "ordered_resets", "calm", 1),
    ("given_up_is_not_settled", "repaired+seeded-given-up-is-settled", "listeners", "calm", 2),
    ("attempts_count_up", "repaired+seeded-suspended-is-not-counted", "stored_orderly", "calm", 0),
    ("failed_is_settled_when_it_is_kept", "repaired+seeded-failed-send-back-is-forgotten", "stored_retry", "network",
     1),
    ("broadcast_is_over_when_it_is_answered", "repaired+seeded-broadcast-keeps-what-fails", "stored_broadcast", "calm",
     0),
    ("settled_is_written", "repaired+seeded-file-is-not-written", "broadcasting", "calm", 0),
    ("expired_was_had_too_long", "repaired+seeded-timeout-is-in-seconds", "stored_retry", "calm", 0),
    ("leaver_commits_before_it_leaves", "repaired+seeded-goodbye-comes-first", "stored", "calm", 1),
    ("send_outcome_is_honest", "repaired+seeded-refused-is-stored", "sending", "calm", 0),
    ("dead_letter_comes_after_all_attempts", "repaired+seeded-given-up-too-soon", "stored_retry", "calm", 0),
    ("retries_wait_longer_each_time", "repaired+seeded-retries-wait-a-second", "stored_retry", "calm", 0),
    ("suspended_queue_rests", "repaired+seeded-suspended-begins-at-once", "stored_orderly", "calm", 0),
    ("batch_is_no_larger_than_wished", "repaired+seeded-pull-is-one-batch", "stored_retry", "calm", 0),
    ("arriving_message_answers_the_pull", "repaired+seeded-arrival-is-not-told", "stored_sync", "calm", 0),
    ("message_comes_as_it_was_sent", "repaired+seeded-compressed-is-not-marked", "sending", "calm", 0),
    ("message_comes_as_it_was_sent", "repaired+seeded-body-stays-compressed", "sending", "network", 0),
    ("message_comes_as_it_was_sent", "repaired+seeded-retry-topic-is-shown", "stored_retry", "calm", 0),
    ("result_is_what_the_broker_says", "repaired+seeded-offset-behind-is-told", "sending", "calm", 0),
    ("result_is_what_the_broker_says", "repaired+seeded-all-is-well", "replicated_sync", "calm", 0),
    ("attempts_are_no_more_than_asked", "repaired+seeded-one-retry-more", "sending", "calm", 0),
    ("attempts_are_used", "repaired+seeded-one-retry-less", "sending", "calm", 0),
    ("callback_comes_in_its_time", "repaired+seeded-nobody-is-called-back", "sending", "network", 0),
    ("queues_take_turns", "repaired+seeded-first-queue-for-ever", "sending", "calm", 0),
    ("message_is_born_when_it_is_sent", "repaired+seeded-born-at-zero", "sending", "calm", 0),
    ("message_comes_as_it_was_sent", "repaired+seeded-namespace-is-shown", "tenants", "calm", 0),
    ("acknowledged_is_delivered", "repaired+seeded-groups-have-no-namespace", "tenants", "calm", 0),
    ("message_is_left_as_it_was", "repaired+seeded-body-stays-compressed", "sending", "calm", 0),
    ("attempt_has_the_time_that_is_left", "repaired+seeded-retries-begin-anew", "sending", "network", 0),
    ("request_names_what_is_meant", "repaired+seeded-first-queue-is-named", "sending_anyhow", "calm", 0),
    ("illegal_message_is_not_sent", "repaired+seeded-nothing-is-illegal", "sending_anyhow", "calm", 0),
    ("legal_message_is_tried", "repaired+seeded-long-is-illegal", "sending_anyhow", "calm", 0),
    ("new_topic_is_as_large_as_wished", "repaired+seeded-default-topic-is-not-capped", "sending_anyhow", "calm", 0),
    ("slow_broker_is_shunned", "repaired+seeded-failed-counts-as-quick", "sending", "network", 0),
    ("available_queues_take_turns", "repaired+seeded-first-queue-for-ever", "sending", "calm", 0),
    ("transaction_ends_as_its_listener_says", "repaired+seeded-thrown-is-rolled-back", "transactions", "calm", 0),
    ("transaction_is_run_when_its_message_is_safe", "repaired+seeded-unsafe-transactions-run", "sending_anyhow", "calm",
     0),
    ("half_message_is_not_delayed", "repaired+seeded-half-messages-wait", "transactions", "calm", 0),
    ("reply_is_that_of_its_request", "repaired+seeded-first-gets-the-reply", "requests", "calm", 0),
    ("request_is_over_in_its_time", "repaired+seeded-requests-wait-for-ever", "requests", "calm", 0),
    ("reply_comes_to_who_waits", "repaired+seeded-replies-are-dropped", "requests", "calm", 0),
    ("request_says_how_long_it_waits", "repaired+seeded-requests-say-no-time", "requests", "calm", 0),
    ("leaver_has_committed", "repaired+seeded-leaver-commits-nothing", "leaving", "calm", 0),
    ("goodbye_reaches_all_brokers", "repaired+seeded-masters-hear-goodbye", "leaving", "calm", 0),
    ("heartbeats_reach_all_brokers", "repaired+seeded-heartbeats-end-at-an-error", "operators", "calm", 0),
    ("clients_know_the_addresses_of_routes", "repaired+seeded-addresses-are-merged", "promotion", "calm", 0),
    ("brokers_know_how_groups_consume", "repaired+seeded-groups-begin-at-the-last", "stored", "calm", 0),
    ("message_is_stored_once", "repaired+seeded-some-are-stored-twice", "sending", "calm", 0),
    ("queue_is_one_of_the_list", "repaired+seeded-queue-behind-is-named", "sending", "calm", 0),
    ("list_is_that_of_its_route", "repaired+seeded-queue-is-forgotten", "sending", "calm", 0),
    ("equal_arguments_have_one_queue", "repaired+seeded-equal-keys-take-turns", "sending_in_order", "calm", 0),
    ("attempts_are_bounded", "repaired+seeded-attempts-are-not-counted", "stored_retry", "calm", 0),
    ("attempts_are_bounded", "repaired+seeded-most-is-one-more", "stored_retry", "calm", 1),
    ("dead_letter_is_there_at_once", "repaired+seeded-dead-letters-wait", "stored_retry", "calm", 0),
    ("accepted_send_back_is_kept", "repaired+seeded-second-copy-is-not-kept", "stored_retry", "calm", 0),
    ("retry_is_where_it_is_read", "repaired+seeded-retry-queues-begin-at-1", "stored_retry", "calm", 0),
    ("retried_pull_goes_on", "repaired+seeded-end-does-not-match", "stored", "calm", 0),
    ("broadcast_reaches_everyone", "repaired+seeded-last-message-is-kept", "stored_broadcast", "calm", 0),
    ("slave_log_is_a_prefix", "repaired+seeded-frame-comes-again", "replicated", "calm", 0),
    ("copies_keep_their_place", "repaired+seeded-frame-comes-again", "replicated", "calm", 0),
    ("acknowledged_message_is_on_the_slave", "repaired+seeded-no-slave-is-waited-for", "replicated_sync", "calm", 0),
    ("lagging_slave_catches_up", "repaired+seeded-slave-gets-one-file", "replicated_sync", "calm", 0),
    ("sender_is_waited_for", "repaired+seeded-own-copies-are-not-waited-for", "stored_orderly", "calm", 0),
    ("retry_reaches_another_broker", "repaired+seeded-async-retries-stay", "sending", "network", 0),
    ("attempts_are_no_more_than_asked", "repaired+seeded-all-is-tried-again", "sending", "network", 0),
    ("message_is_stored_once", "repaired+seeded-ids-are-times", "sending", "calm", 0),
    ("outcome_is_told_once", "repaired+seeded-reply-is-waited-for-again", "requests", "calm", 0),
    ("transaction_ends_as_its_listener_says", "repaired+seeded-check-answers-swap-offsets", "transactions", "calm", 0),
    ("failed_is_settled_when_it_is_kept", "repaired+seeded-no-answer-is-success", "asking", "calm", 0),
    ("failed_is_settled_when_it_is_kept", "repaired+seeded-thrown-is-success-in-order", "stored_orderly", "calm", 0),
    ("held_pull_is_waited_for", "repaired+seeded-pulls-end-before-brokers-answer", "stored", "calm", 0),
    ("empty_answer_has_waited", "repaired+seeded-pulls-are-not-held", "stored", "calm", 0),
    ("every_message_is_settled", "repaired+seeded-retries-are-not-subscribed", "tenants", "calm", 0),
    ("clients_know_the_addresses_of_routes", "repaired+seeded-moved-broker-is-no-change", "promotion", "calm", 0),
    ("producers_know_the_queues", "repaired+seeded-published-topics-are-not-polled", "sending_in_order", "calm", 0),
    ("cache_is_bounded", "repaired+seeded-polled-caches-have-no-end", "throttled", "calm", 0),
    ("left_topic_is_not_pulled", "repaired+seeded-left-topic-is-pulled", "polled", "calm", 0),
    ("polled_is_committed", "repaired+seeded-poller-ends-uncommitted", "polled", "calm", 3),
    ("polled_is_committed", "repaired+seeded-auto-commit-is-by-the-minute", "polled", "calm", 0),
    ("seek_stays_in_the_queue", "repaired+seeded-seek-takes-any-queue", "polled", "calm", 0),
    ("seek_stays_in_the_queue", "repaired+seeded-seek-begins-anywhere", "polled", "calm", 1),
    ("poller_is_listed", "repaired+seeded-polled-groups-have-no-namespace", "polling_tenants", "calm", 0),
    ("locks_last_a_minute", "repaired+seeded-lock-is-for-ever", "expiring", "calm", 0),
    ("locks_last_a_minute", "repaired+seeded-lock-lasts-two-minutes", "expiring", "calm", 0),
    ("locks_last_a_minute", "repaired+seeded-lock-lasts-40-s", "expiring", "calm", 0),
    ("closed_is_not_read", "repaired+seeded-closed-group-reads", "guarded", "calm", 0),
    ("closed_is_not_read", "repaired+seeded-closed-topic-is-read", "guarded", "calm", 0),
    ("dead_broker_is_dropped", "repaired+seeded-silent-broker-stays", "expiring", "calm", 0),
    ("reset_goes_to_its_time", "repaired+seeded-reset-is-always-forced", "far_behind", "calm", 0),
    ("illegal_orders_are_refused", "repaired+seeded-any-half-is-ended", "searched", "calm", 0),
    ("producers_are_asked_in_turn", "repaired+seeded-first-producer-is-asked", "transactions", "calm", 0),
    ("message_is_found_by_its_key", "repaired+seeded-keys-have-no-time", "searched", "calm", 0),
    ("orders_are_kept", "repaired+seeded-switch-is-not-read", "guarded", "calm", 0),
    ("orders_are_kept", "repaired+seeded-flags-are-not-read", "guarded", "calm", 0),
    ("operators_are_told_what_is_so", "repaired+seeded-first-message-is-shown", "searched", "calm", 0),
    ("message_is_found_by_its_key", "repaired+seeded-one-is-found", "searched", "calm", 0),
    ("message_is_found_by_its_key", "repaired+seeded-slots-have-one-key", "asked", "calm", 0),
    ("message_is_in_the_named_queue", "repaired+seeded-delayed-go-to-queue-0", "delayed", "calm", 0),
    ("half_message_has_its_time", "repaired+seeded-nobody-is-immune", "transactions", "calm", 0),
    ("half_message_is_asked_about_so_often", "repaired+seeded-checks-are-not-counted", "undecided", "calm", 0),
    ("who_lags_is_sent_to_a_slave", "repaired+seeded-masters-never-send-away", "slave_reads", "calm", 0),
    ("who_lags_is_sent_to_a_slave", "repaired+seeded-masters-always-send-away", "slave_reads", "calm", 0),
    ("only_subscribed_is_delivered", "repaired+seeded-null-is-not-in", "filtered", "calm", 0),
    ("only_subscribed_is_delivered", "repaired+seeded-and-is-or", "filtered", "calm", 0),
    ("acknowledged_is_delivered", "repaired+seeded-between-has-no-ends", "filtered", "calm", 0),
    ("only_slow_brokers_are_shunned", "repaired+seeded-slow-is-shunned-for-hours", "shunned", "calm", 0),
    ("closed_is_not_read", "repaired+seeded-closed-broker-is-read", "permitted", "calm", 0),
    ("routes_say_what_brokers_have", "repaired+seeded-closed-broker-registers-as-open", "permitted", "calm", 0),
    ("given_up_can_be_found", "repaired+seeded-given-up-is-thrown-away", "undecided", "calm", 0),
    ("only_ordered_groups_lock", "repaired+seeded-everybody-waits-for-locks", "ordered_to_all", "calm", 0),
    ("ordered_queue_rests_after_a_minute", "repaired+seeded-ordered-queues-never-rest", "behind_in_order", "calm", 0),
    ("message_is_born_where_its_id_says", "repaired+seeded-born-at-the-broker", "stored_sync", "calm", 0),
    ("pull_that_is_sent_on_is_noted", "repaired+seeded-moved-offsets-are-not-noted", "bothered", "calm", 0),
    ("index_goes_with_the_log", "repaired+seeded-index-is-for-ever", "cramped", "calm", 0),
    ("shunning_ends", "repaired+seeded-failed-is-shunned-for-hours", "sending", "calm", 0),
    ("name_server_that_is_away_is_left", "repaired+seeded-first-name-server-for-ever", "passers_by", "calm", 0),
    ("only_listed_name_servers_are_asked", "repaired+seeded-shorter-list-is-no-change", "name_servers", "calm", 0),
    ("silent_client_expires", "repaired+seeded-silent-clients-stay", "passers_by", "calm", 0),
    ("silent_broker_expires", "repaired+seeded-silent-brokers-stay", "expiring", "calm", 0),
    ("new_group_begins_where_it_is_to", "repaired+seeded-times-are-ends", "from_a_time", "calm", 0),
    ("slave_follows_its_master", "repaired+seeded-first-master-for-ever", "moving", "calm", 0),
    ("waiting_queue_is_committed", "repaired+seeded-passed-over-is-read-again", "seldom", "calm", 0),
    ("file_keeps_its_offsets", "repaired+seeded-file-has-what-is-new", "broadcasting", "calm", 0),
    ("check_passes_every_op_message", "repaired+seeded-op-messages-are-read-again", "transactions", "calm", 0),
    ("left_topic_is_not_committed", "repaired+seeded-left-topic-is-committed", "polled", "calm", 0),
    ("held_queue_is_committed_again", "repaired+seeded-unchanged-is-not-committed", "stored", "calm", 0),
    ("waiting_queue_is_committed", "repaired+seeded-zero-is-not-committed", "clustering", "calm", 0),
    ("illegal_offset_is_corrected", "repaired+seeded-corrections-begin-again", "broadcasting", "calm", 1),
    ("producers_know_the_queues", "repaired+seeded-read-queues-are-written", "uneven", "calm", 0),
    ("broker_takes_messages", "repaired+seeded-all-are-written-as-the-first", "uneven", "calm", 0),
    ("route_cache_becomes_true", "repaired+seeded-all-are-read-as-the-first", "uneven", "calm", 1),
    ("queue_is_one_of_the_list", "repaired+seeded-least-bad-has-the-most-queues", "uneven", "calm", 0),
    ("broker_takes_messages", "repaired+seeded-late-senders-are-refused", "uneven", "calm", 0),
    ("routes_say_what_brokers_have", "repaired+seeded-last-number-of-queues-counts", "uneven", "calm", 0),
    ("pull_finds_as_many_as_fit", "repaired+seeded-disks-are-read-as-memory", "hungry", "calm", 0),
    ("pull_finds_as_many_as_fit", "repaired+seeded-memory-is-read-as-a-disk", "hungry", "calm", 0),
    ("pull_finds_as_many_as_fit", "repaired+seeded-answers-have-any-size", "hungry", "calm", 0),
    ("pull_finds_as_many_as_fit", "repaired+seeded-answers-have-one-more", "hungry", "calm", 0),
    ("retried_pull_goes_on", "repaired+seeded-first-message-must-fit", "hungry", "calm", 0),
    ("pull_finds_as_many_as_fit", "repaired+seeded-kilobytes-have-1000-bytes", "hungry", "calm", 0),
    ("slave_follows_its_master", "repaired+seeded-slave-copies-no-delays", "copied_delays", "calm", 0),
    ("slave_follows_its_master", "repaired+seeded-slave-copies-delays-once", "copied_delays", "calm", 0),
    ("delayed_message_comes_at_last", "repaired+seeded-delays-begin-at-the-end", "copied_delays", "calm", 1),
    ("notifications_can_be_switched_off", "repaired+seeded-silent-brokers-tell", "unannounced", "calm", 0),
    ("notifications_can_be_switched_off", "repaired+seeded-silent-groups-are-told", "unannounced", "calm", 0),
    ("members_are_told_of_changes", "repaired+seeded-one-silent-group-is-all", "unannounced", "calm", 0),
    ("queue_is_not_left_alone", "repaired+seeded-members-wait-to-be-told", "unannounced", "calm", 0),
    ("producers_are_known", "repaired+seeded-last-consumer-ends-its-client", "both_ways", "calm", 0),
    ("producers_are_known", "repaired+seeded-producers-are-silent", "both_ways", "calm", 0),
    ("running_producer_is_not_forgotten", "repaired+seeded-goodbye-is-of-the-client", "both_ways", "calm", 0),
)


@pytest.mark.parametrize(("name", "subject", "workload", "profile", "seed"), PLANTED, ids=str)
def test_runs_of_planted_bugs_are_seen(name: str, subject: str, workload: str, profile: str, seed: int) -> None:
    """What the control is known for does not show a bug: then the run goes on behind it."""
    plan, control, in_time = Plan(subject, workload, profile), subject_named("repaired"), (name, name, LATE)

    def is_seen(*until: str) -> bool:
        seen = run(plan, STRATEGIES["uniform"](seed), until=until).seen
        return any(one.property == name and not control.explains(one.key) for one in seen)

    assert is_seen(*(in_time if is_promise(in_time) else (name,))) or is_seen()


@pytest.mark.parametrize(("name", "subject", "workload", "profile", "seed"), [
    ("nothing_is_skipped", "repaired-L2", "listeners", "storm", 4),
    ("commits_of_a_holding_go_forward", "repaired-X23", "resets", "clocks", 28),
    ("only_the_settled_is_committed", "repaired-X23", "ordered_resets", "threads", 54),
    ("reset_takes_effect", "repaired-X23", "resets", "threads", 42),
    ("reset_takes_effect", "repaired-X18", "resets", "clocks", 16),
    ("lock_outlasts_the_batch", "repaired-X11", "ordered_listeners", "threads", 1),
    ("goodbye_is_final", "repaired-B-30", "shared", "threads", 1),
    ("broadcaster_goes_on_where_it_ended", "repaired-X23", "broadcasting", "clocks", 39),
    ("settled_is_not_begun_again", "repaired", "listeners", "storm", 1),
], ids=str)
def test_races_are_seen_where_threads_stand_still_again_and_again(
    name: str, subject: str, workload: str, profile: str, seed: int,
) -> None:
    record = run(Plan(subject, workload, profile, "focus"), STRATEGIES["focus"](seed))
    assert name in {one.property for one in record.seen}
    assert [one for one in record.seen if not subject_named(subject).explains(one.key)] == []


@pytest.mark.parametrize(("workload", "profile", "strategy"), [
    ("listeners", "storm", "uniform"), ("ordered_listeners", "threads", "focus"), ("resets", "clocks", "swarm"),
    ("promotion", "crashes", "uniform"), ("shared", "network", "priority"), ("containers", "storm", "focus"),
    ("broadcasting", "clocks", "focus"), ("operators", "calm", "uniform"), ("subscriptions", "threads", "focus"),
    ("groups", "crashes", "uniform"), ("stored", "disks", "uniform"), ("stored_sync", "disks", "uniform"),
])
def test_the_control_is_silent(workload: str, profile: str, strategy: str) -> None:
    record = run(Plan("repaired", workload, profile, strategy), STRATEGIES[strategy](0))
    assert [one for one in record.seen if not subject_named("repaired").explains(one.key)] == []
    assert record.unknown == ""


@pytest.mark.parametrize(("workload", "profile", "strategy", "seed"), [
    ("clustering", "clocks", "focus", 4),  # a producer's heartbeat is handled when it is gone, and a clock is set back
    ("shared", "clocks", "focus", 0), ("containers", "storm", "focus", 0), ("promotion", "calm", "uniform", 0),
])
def test_what_is_seen_of_rocketmq_as_shipped_has_a_hazard(
    workload: str, profile: str, strategy: str, seed: int,
) -> None:
    record = run(Plan("shipped", workload, profile, strategy), STRATEGIES[strategy](seed))
    assert record.seen
    assert [one for one in record.seen if not subject_named("shipped").explains(one.key)] == []


@pytest.mark.parametrize(("workload", "seed"), [
    ("stored", 3),  # the last records of a queue are deleted, and the broker is killed
    ("stored", 4),  # a disk is full when a broker stops
    ("stored_sync", 8),  # a member begins at an offset that is deleted
])
def test_disks_that_fill_up_break_nothing_of_the_control(workload: str, seed: int) -> None:
    record = run(Plan("repaired", workload, "disks"), STRATEGIES["uniform"](seed))
    assert [one for one in record.seen if not subject_named("repaired").explains(one.key)] == []


def test_every_rule_breaks_by_a_planted_bug_or_a_hazard() -> None:
    planted = {name for name, *_ in (*PLANTED, *((name, bug) for bug, name, _ in PROGRAMS))}
    assert {name for name, rule in BY_NAME.items() if not rule.expected.hazards} <= planted
    assert all(set(rule.expected.hazards) <= set(HAZARDS) for rule in RULES.values())


def test_no_property_is_mute_because_of_a_hazard_without_repair() -> None:
    elsewhere = {name for name, one in PROPERTIES.items()
                 if one.concept.home not in {each.name for each in PROGRAMMED}} - {*BY_NAME}
    unrepaired = {name: set(one.expected.hazards) & set(NO_REPAIR) for name, one in DECLARED.items()
                  if name not in elsewhere}
    assert {name: hazards - looked_for(name) for name, hazards in unrepaired.items()
            if hazards - looked_for(name)} == {}


def test_a_rule_is_expected_as_its_hazards_say() -> None:
    shipped, repaired = subject_named("shipped"), subject_named("repaired")
    for name, one in BY_NAME.items():
        assert (shipped.expected(name) is Outcome.VIOLATED) is bool(one.expected.hazards)
        assert (repaired.expected(name) is Outcome.VIOLATED) is bool(set(one.expected.hazards) & set(NO_REPAIR))
