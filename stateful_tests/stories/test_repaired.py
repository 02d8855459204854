"""The stories of the other files, told again with a repair: each comes to a sentence that is no longer true.

That sentence is the harm itself, or the moment at which a thread would have stood between two steps that are one now.
"""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable

import pytest

from impl.variants.catalogue import REPAIRS
from impl.variants.repairs import store_reads, store_recovery
from impl.variants.stack import active
from stateful_tests.stories import (
    test_broker_clients as clients,
    test_client_tables as tables,
    test_clients as alone,
    test_leaving as leaving,
    test_listeners as listeners,
    test_lost_and_late as late,
    test_messages as messages,
    test_more_owners as more,
    test_name_server as names,
    test_no_owner as unowned,
    test_offset_reset as resets,
    test_offsets as offsets,
    test_pollers as pollers,
    test_replicas as replicas,
    test_route_tables as routes,
    test_senders as senders,
    test_slaves as slaves,
    test_stores as stores,
    test_two_owners as owners,
)
from stateful_tests.worlds.producers import SEND_EVERY_MS, Sending
from stateful_tests.worlds.world import World

Story = Callable[[], None]

REFUTED: tuple[tuple[Story, str, str], ...] = (
    (senders.test_p1_the_last_attempt_is_refused_and_an_earlier_one_is_stored, "honest_exceptions",
     "CONNECT_BROKER_EXCEPTION"),
    (senders.test_p3_the_list_that_all_share_loses_the_queues_of_a_broker, "queues_of_its_own", "== {BROKERS[0]}"),
    (senders.test_p4_an_asynchronous_retry_names_a_queue_that_the_broker_has_not, "queue_of_the_retried_broker",
     "is illegal"),
    (senders.test_p16_a_producer_sends_to_a_broker_whose_write_permission_was_wiped, "least_bad_of_the_list",
     "stored(world) == [BROKERS[0]]"),
    (senders.test_p16_all_sends_go_to_a_broker_without_its_master_while_another_one_is_shunned,
     "least_bad_of_the_list", "BrokersSent"),
    (senders.test_p5_a_busy_broker_ends_the_send_and_the_other_one_is_not_asked, "refusals_are_tried_elsewhere",
     "[BUSY, BUSY]"),
    (senders.test_p7_an_asynchronous_send_that_is_refused_is_not_tried_elsewhere, "refusals_are_tried_elsewhere",
     "count(SendResult) == 2"),
    (senders.test_p14_a_request_that_fails_at_once_is_called_back_besides, "failed_requests_are_over",
     "told.count(told[0]) == 2"),
    (senders.test_p15_a_broker_that_has_refused_an_asynchronous_send_is_not_shunned, "calls_are_no_answers",
     "in first[1:]"),
    (senders.test_q3_a_retry_goes_to_the_broker_that_has_just_failed, "another_broker_for_retries", "any(one == other"),
    (clients.test_b1_members_with_different_topics_remove_each_others, "one_set_of_topics", "<= set(tables)"),
    (late.test_b2_two_heartbeats_at_once_leave_an_empty_subscription_table, "update_in_one_step", "first.hit"),
    (late.test_b29_a_heartbeat_that_was_overtaken_puts_an_older_subscription_over_a_newer_one, "put_in_one_step",
     "[1, 3, 2]"),
    (late.test_b29_of_two_first_heartbeats_the_newer_one_is_lost, "put_in_one_step", "== [1]"),
    (late.test_b31_a_heartbeat_that_was_overtaken_by_one_of_the_same_client_takes_its_new_topic_away,
     "topics_with_their_connection", "paused.hit"),
    (late.test_b33_a_goodbye_beside_a_heartbeat_of_the_same_client_takes_the_group_away,
     "topics_with_their_connection", "paused.hit"),
    (more.test_b5_a_client_with_two_connections_has_two_places_in_the_list, "newest_connection_counts", "== 3"),
    (tables.test_b6_a_goodbye_on_another_connection_removes_nobody_and_is_announced, "goodbye_on_any_connection",
     'listed(BROKER, "G") == ["c1"'),
    (clients.test_b7_a_heartbeat_enters_a_group_object_that_has_just_been_removed, "group_goes_with_its_last_member",
     "paused.hit"),
    (leaving.test_b8_the_second_goodbye_removes_a_group_that_is_another_one_by_now, "group_goes_with_its_last_member",
     "first.hit"),
    (clients.test_b9_a_heartbeat_that_is_handled_after_the_goodbye_makes_a_ghost, "goodbye_counts",
     'listed(BROKER, "G") == [leaver'),
    (clients.test_b9_the_ghost_on_an_old_connection_expires_while_its_member_connects_anew, "goodbye_counts",
     '"expired", since_ms)] == [member'),
    (clients.test_b10_a_ghost_that_shares_its_info_with_a_living_group_never_expires, "own_info_for_each_group",
     'listed(BROKER, "G") == [leaver'),
    (clients.test_b11_the_expiry_of_the_ghost_takes_the_living_group_with_it, "expiry_ends_the_entry_only",
     '"closed", since_ms)] == ["H"]'),
    (clients.test_b11_a_member_that_is_heard_while_the_scan_looks_at_it_expires, "expiry_ends_the_entry_only",
     "looked.hit"),
    (clients.test_b12_nobody_is_told_of_a_member_that_the_scan_evicts, "expiry_is_announced",
     "events(ConsumerIdsChanged, since_ms) == []"),
    (tables.test_b14_members_are_told_of_a_subscription_before_its_filter_is_there, "compile_before_change",
     "filter_version(world) is None"),
    (tables.test_b16_the_last_heartbeat_says_how_the_group_consumes, "one_message_model", "set(models)"),
    (clients.test_b17_a_call_that_times_out_evicts_its_caller, "time_out_closes_nothing", 'listed(BROKER, "G") == []'),
    (late.test_b18_of_two_commits_of_one_client_the_older_one_stays, "commits_in_order", "[20, 10]"),
    (tables.test_b20_a_query_deletes_the_offsets_of_the_groups_that_it_is_to_leave_out, "query_deletes_nothing",
     "== [-1, -1]"),
    (tables.test_b20_what_a_query_has_deleted_is_gone_after_a_restart, "query_deletes_nothing", "== [-1]"),
    (tables.test_b21_of_two_first_commits_one_is_lost, "commit_in_one_step", "commit_twice"),
    (tables.test_b21_what_was_lost_of_two_first_commits_is_gone_after_a_restart, "commit_in_one_step", "commit_twice"),
    (late.test_b22a_a_renewal_and_a_take_over_of_an_expired_lock_are_both_granted, "renew_in_one_step", "paused.hit"),
    (late.test_b22b_a_renewal_that_comes_after_the_unlock_locks_a_queue_that_nobody_has, "locks_in_order",
     "granted[-1][1] == first"),
    (tables.test_b23_replies_no_longer_find_a_producer_that_has_reconnected, "reply_to_the_living",
     'find_channel("p1") is None'),
    (tables.test_b24_heartbeats_that_wait_for_a_thread_cost_everybody_the_membership, "time_out_closes_nothing",
     'listed(BROKER, "G") == []'),
    (tables.test_b25_a_group_whose_heartbeat_waits_too_long_has_no_retry_topic, "heartbeat_waits_for_its_topic",
     "world.ask(ADDR, second"),
    (tables.test_b26_a_text_that_does_not_compile_takes_the_filter_and_raises_the_version, "expressions_compile",
     "BROKEN_SQL"),
    (tables.test_b26_a_goodbye_that_is_handled_after_a_new_heartbeat_kills_the_filter, "filters_die_with_their_group",
     "paused.hit"),
    (tables.test_b27_the_topic_of_a_member_that_left_stays_until_another_one_is_heard_of, "one_set_of_topics",
     '["invoices", "orders"]'),
    (leaving.test_d5_a_member_whose_call_times_out_loses_its_queues_to_others_and_keeps_them, "time_out_closes_nothing",
     "two_owners"),
    (owners.test_d6_two_processes_with_one_client_id_own_the_same_half_and_nobody_the_other,
     "client_id_names_the_process", "two_owners"),
    (owners.test_d9_a_delayed_unlock_frees_the_lock_that_its_owner_has_taken_anew, "unlock_unless_wanted", "is None"),
    (owners.test_d10_an_orderly_shutdown_gives_the_locks_away_before_its_listener_and_its_offsets,
     "hand_over_before_unlock", "two_owners"),
    (leaving.test_d12_a_consumer_that_stops_locks_queues_after_it_has_unlocked_all, "take_nothing_once_stopped",
     "== {first.instance.client_id}"),
    (offsets.test_x12_the_offsets_of_a_topic_that_is_no_longer_subscribed_are_forgotten_unsent,
     "topic_is_left_in_order", "committed(world) == 0"),
    (offsets.test_x28_an_offset_that_was_settled_while_the_timer_committed_is_forgotten_unsent,
     "timer_forgets_what_nobody_sets", "in_memory(first, taken) == -1"),
    (offsets.test_x29_an_offset_of_a_queue_that_was_taken_anew_goes_with_the_correction_of_the_former_one,
     "offset_is_forgotten_with_its_holding", "in_memory(first, FIRST) == -1"),
    (offsets.test_l2_a_busy_broker_is_taken_for_one_without_the_offset, "errors_are_errors", "[200]"),
    (resets.test_d13_a_queue_that_was_reset_and_taken_anew_changes_hands_under_its_former_listener,
     "consume_lock_of_the_queue", "== second"),
    (resets.test_l8_a_pull_that_was_held_undoes_the_reset, "dropped_is_over", "== 40"),
    (resets.test_l14_a_commit_that_was_read_before_the_reset_and_waits_for_an_address_undoes_it, "offset_is_read_last",
     "== 40"),
    (resets.test_l14_a_pull_that_waits_for_an_address_commits_what_was_so_before, "offset_is_read_last", "[41, 40]"),
    (leaving.test_l10_a_broadcasting_consumer_forgets_the_offsets_of_a_broker_that_was_away, "file_keeps_all",
     "again.offset == 200"),
    (leaving.test_l10_a_broadcasting_consumer_that_ends_while_a_broker_is_away_begins_its_queues_anew, "file_keeps_all",
     "== [0]"),
    (offsets.test_l1_what_came_before_the_first_commit_of_a_new_group_is_skipped, "first_offset_is_committed",
     "commits(world) == []"),
    (offsets.test_x24_a_new_group_that_is_told_to_begin_at_the_end_begins_a_young_queue_at_its_first_message,
     "new_group_is_told_so", "== [0]"),
    (offsets.test_x25_a_queue_is_begun_again_at_a_message_that_has_expired, "expired_is_committed", "== [0, 1]"),
    (offsets.test_l11_the_retry_topic_of_a_group_that_begins_at_a_time_begins_at_its_end, "retry_from_the_first",
     "== [7]"),
    (offsets.test_x11_an_ordered_queue_is_given_up_before_its_batch_has_ended, "batch_ends_first",
     ".get(LAST) is None"),
    (resets.test_x18_an_answer_that_comes_while_the_reset_waits_is_overwritten_and_one_that_comes_later_undoes_it,
     "dropped_is_looked_at_last", "[FIRST] == 44"),
    (names.test_n1_a_late_goodbye_of_the_old_master_removes_the_new_one, "unregister_own_address", "is None"),
    (names.test_n27_a_goodbye_that_comes_after_the_restart_of_its_broker_removes_the_new_process,
     "unregister_by_its_connection", "is None"),
    (alone.test_u17_commits_to_a_broker_that_has_vanished_hold_up_the_whole_timer, "threads_for_all_timers",
     "max(gaps)"),
    (alone.test_r2_a_client_that_connects_while_its_list_changes_asks_a_name_server_that_left_it,
     "choose_from_the_list_of_now", "last.addr not in"),
    (alone.test_r3_a_client_that_waits_for_a_name_server_without_power_hangs_up_on_the_one_that_lives,
     "connect_before_the_call", "[None] * 5"),
    (names.test_n29_a_broker_that_comes_back_under_another_name_stays_listed_under_both, "leave_former_names",
     "== {"),
    (names.test_n28_a_name_server_that_has_just_started_denies_topics_that_exist, "answer_when_brokers_have_registered",
     "TOPIC_NOT_EXIST"),
    (names.test_n2_after_an_increment_the_other_topics_look_unchanged_for_ever, "register_whole_table",
     'routed(NS, "orders") == []'),
    (late.test_n3_an_increment_overtakes_the_full_registration_of_a_topic_that_a_heartbeat_made, "register_whole_table",
     'routed(NS, "%RETRY%G") == []'),
    (names.test_n4_a_registration_in_the_middle_of_the_scan_ends_the_scan_for_ever, "scan_begins_anew", "for event in"),
    (routes.test_n5_the_scan_evicts_the_living_broker_that_shares_a_connection_with_the_expired_one,
     "destroy_who_is_meant", "not in dropped"),
    (routes.test_n6_half_a_registration_never_expires, "register_whole_or_not", 'address_of(NS, "half")'),
    (names.test_n7_the_clean_up_after_a_broken_connection_removes_the_broker_that_has_come_back, "destroy_in_one_step",
     "paused.hit"),
    (names.test_n8_the_scan_removes_what_was_registered_while_it_looked, "expire_in_one_step", "paused.hit"),
    (routes.test_n10_the_two_halves_of_the_cluster_information_are_of_different_times, "cluster_info_in_one_step",
     "paused.hit"),
    (late.test_n16_a_slave_that_becomes_master_does_not_bring_its_topics, "new_holder_is_first",
     'routed(NS, "invoices") == []'),
    (routes.test_n18_the_vote_of_a_slow_name_server_is_missing, "silence_wants_it time_out_closes_nothing",
     'routed(NS, "orders") == []'),
    (late.test_n21_a_registration_that_times_out_removes_the_broker, "time_out_closes_nothing",
     'routed(NS, "orders") == []'),
    (routes.test_n9_a_route_names_queues_of_a_broker_whose_address_it_has_not, "route_in_one_step",
     "answers[0].body.queue_datas"),
    (routes.test_n9_a_route_has_brokers_and_no_queues, "route_in_one_step", "queue_datas == ()"),
    (routes.test_n13_a_write_permission_that_was_wiped_comes_back_with_the_next_topic, "wiped_stays_wiped",
     "[PERM_READ | PERM_WRITE]"),
    (routes.test_n14_a_topic_that_was_deleted_at_the_name_server_comes_back, "deleted_stays_deleted", "[BROKER]"),
    (routes.test_n14_a_topic_that_was_deleted_at_its_broker_is_routed_for_ever, "deleted_stays_deleted", "[BROKER]"),
    (routes.test_n17_a_query_of_the_version_does_not_tell_the_new_connection, "query_is_on_record",
     'routed(NS, "orders") == []'),
    (slaves.test_n19_the_name_server_that_answers_first_tells_the_slave_that_there_is_no_master,
     "who_knows_the_master", "master_addr is None"),
    (routes.test_n20_a_broker_is_told_success_and_is_not_registered, "success_is_registered", "SUCCESS"),
    (routes.test_n22_a_name_server_that_hangs_holds_up_new_groups_and_the_offsets, "topics_are_announced_later",
     "new == []"),
    (routes.test_n23_a_compressed_registration_loses_the_unit_flag, "compress_all_of_a_topic", "== []"),
    (routes.test_n30_a_broker_that_starts_again_with_another_permission_is_routed_with_the_former_one,
     "permission_has_a_version", "== [PERM_READ | PERM_WRITE]"),
    (routes.test_n24_two_writers_of_the_key_values_leave_no_file, "key_values_one_writer", "paused.hit"),
    (routes.test_n25_a_close_that_finds_the_event_queue_full_is_forgotten, "all_events_wait", "EventDropped"),
    (routes.test_n26_a_broker_that_changes_its_cluster_stays_in_the_old_one_too, "one_cluster_for_a_name",
     "names.key_set()"),
    (unowned.test_u3_the_second_place_of_a_client_id_that_is_listed_twice_is_nobodys, "client_id_names_the_process",
     "assert ids =="),
    (more.test_u4_the_share_of_a_member_that_does_not_subscribe_the_topic_is_nobodys, "one_set_of_topics",
     'no_owner("G", "orders")) == 2'),
    (unowned.test_u6_a_batch_that_never_returns_keeps_a_queue_from_its_owner_for_ever, "renew_what_is_held",
     'holder("G", LAST) == first'),
    (more.test_u7_an_orderly_queue_that_flaps_while_its_batch_runs_is_dead_for_two_minutes, "give_back_what_is_stuck",
     "is pq"),
    (more.test_u8_an_orderly_queue_that_was_just_taken_waits_for_the_next_renewal, "believe_at_once",
     "taken_ms > 100"),
    (unowned.test_u9_an_orderly_consumer_that_broadcasts_never_pulls, "lock_in_clustering", "== {}"),
    (offsets.test_x17_the_correction_of_an_illegal_offset_overwrites_what_the_next_owner_has_committed,
     "correction_is_of_its_holding", "== 0, 10_000"),
    (offsets.test_u10_a_queue_with_an_illegal_offset_has_no_owner_for_ten_seconds_and_a_rebalance,
     "corrected_queue_is_taken_at_once", "waited_ms > 25_000"),
    (offsets.test_u16_a_broadcasting_consumer_begins_again_at_the_illegal_offset_that_was_corrected,
     "file_keeps_corrections", "== [100]"),
    (offsets.test_u16_a_broadcasting_consumer_leaves_out_what_is_stored_below_the_offset_that_was_corrected,
     "file_keeps_corrections", "> 1, 60_000"),
    (offsets.test_u11_a_member_that_cannot_read_the_offset_keeps_the_lock_from_others, "lock_goes_with_its_queue",
     'holder("G", LAST) == first'),
    (unowned.test_u14_a_topic_that_may_no_longer_be_read_keeps_its_owners, "nothing_is_shared_out",
     'len(world.views.holders("G", "orders")) == 4'),
    (resets.test_u15_a_reset_holds_a_thread_that_notifications_need, "reset_waits_beside",
     'two_owners("H", "invoices")'),
    (late.test_u12_a_heartbeat_under_way_keeps_the_new_version_of_a_subscription_from_the_broker,
     "heartbeat_is_not_skipped", "mine > stored"),
    (stores.test_v38_a_file_is_deleted_before_its_buffer_is_written_and_no_buffer_comes_back,
     "clean_up_waits_for_buffers", "[BUSY, BUSY]"),
    (stores.test_v39_a_level_whose_delivery_has_met_a_full_disk_delivers_no_more,
     "level_goes_on_after_an_error", "== others"),
    (stores.test_v40_an_index_that_the_disk_has_no_page_for_ends_the_dispatch,
     "dispatch_goes_on_after_an_error", "== (0, 2)"),
    (stores.test_v41_the_deletion_of_a_topic_takes_the_queue_of_another_one_that_a_loss_of_power_has_taken_from_the_table,
     "delete_own_queues", "not in world.views.queue_units"),
    (stores.test_v42_a_level_that_begins_beyond_the_end_of_its_queue_passes_over_what_comes_in_its_first_second,
     "levels_begin_in_their_queues", "len(put & came) == 1"),
    (stores.test_v44_behind_a_clean_up_of_what_was_not_flushed_yet_nothing_is_flushed_any_more,
     "flush_goes_on_at_the_first_file", "flushed.offset < expired.min_offset"),
    (stores.test_v43_a_loss_of_power_takes_the_queues_that_a_topic_was_given_before_it, "topics_are_forced",
     "== {0, 1}"),
    (stores.test_t7_the_end_of_a_half_message_that_a_crash_has_taken_commits_the_one_in_its_place,
     "end_is_of_its_message", "== [(there,)]"),
    (stores.test_v6_a_force_fails_and_the_message_is_acknowledged_and_gone_after_a_loss_of_power,
     "failed_force_is_no_flush", "== [ACCEPTED]"),
    (stores.test_v4_messages_that_recovery_has_cut_off_are_back_after_the_next_crash, "tail_is_zeroed", "third.key"),
    (stores.test_v7_a_message_is_recovered_without_its_properties, "whole_record_is_checked", "== [None]"),
    (stores.test_v3_a_queue_has_a_message_that_nobody_has_sent, "queues_are_built_anew", "== (0, 1)"),
    (stores.test_v26_the_name_of_the_abort_file_is_lost_and_a_queue_lacks_a_message_of_the_log, "abort_is_forced",
     "[ABORT].durable"),
    (stores.test_v33_a_unit_that_the_disk_does_not_take_counts_as_written, "unwritten_unit_is_written_again",
     "== 0 !="),
    (stores.test_v16_a_consumer_has_found_what_a_loss_of_power_takes_away, "only_the_durable_is_seen",
     "events(MessagesFound)"),
    (stores.test_v18_a_queue_of_which_all_messages_have_expired_begins_at_one_that_is_gone, "expired_queue_is_empty",
     "first == 0"),
    (stores.test_v24_a_disk_that_was_full_is_written_to_before_it_has_enough_space, "full_disk_stays_full",
     "== [ACCEPTED]"),
    (stores.test_v22_a_file_without_content_keeps_a_broker_from_starting, "empty_files_are_removed",
     "events(StoreRefused)"),
    (replicas.test_v25_a_master_that_is_asked_for_offset_0_sends_what_its_first_file_begins_with,
     "offset_0_is_looked_at", "== dict.fromkeys(mine, 0)"),
    (replicas.test_v29_an_empty_slave_gets_the_last_file_only, "empty_slave_gets_all", "== max(mine.values())"),
    (messages.test_m1_a_dead_letter_that_a_consumer_sends_itself_waits_for_its_delay_once_more,
     "dead_letters_do_not_wait", "== [0]"),
    (messages.test_m3_a_slave_that_ends_before_the_offset_is_asked_again_and_again, "slave_holds_what_is_ahead",
     "PULL_RETRY_IMMEDIATELY"),
    (messages.test_m4_a_group_with_more_retry_queues_loses_what_goes_into_the_new_ones, "retry_queue_is_the_topics",
     "> 0"),
    (stores.test_t4_a_half_message_that_cannot_be_read_keeps_the_check_from_all_behind_it, "unreadable_half_is_passed",
     "from_check"),
    (senders.test_t5_a_half_message_that_was_asked_about_comes_without_its_flag, "renewed_half_keeps_its_flag",
     "!= asked.contents"),
    (listeners.test_x5_a_send_back_that_is_not_answered_in_time_is_stored_and_sent_anew, "sent_back_once", "== 2"),
    (listeners.test_x5_a_send_back_that_is_refused_makes_a_dead_letter_of_what_has_an_attempt_left, "sent_back_once",
     "== [KEY]"),
    (pollers.test_u18_a_topic_that_is_subscribed_again_before_a_rebalance_is_not_pulled, "left_topic_is_given_up",
     "== []"),
    (pollers.test_u18_a_topic_that_is_left_while_a_rebalance_shares_it_out_is_not_pulled, "left_topic_is_given_up",
     "== []"),
    (pollers.test_x27_what_waits_of_a_topic_that_was_unsubscribed_is_polled, "left_topic_is_not_polled", "!= []"),
    (pollers.test_x31_what_is_polled_and_committed_of_a_queue_whose_beginning_nobody_has_said_is_not_sent,
     "queues_are_polled_that_have_begun", "== [-1]"),
    (pollers.test_x30_a_seek_whose_first_pull_is_not_answered_is_forgotten, "failed_seek_is_made_again", "> sought"),
    (listeners.test_x7_a_message_that_has_expired_is_sent_back_once_more_when_its_listener_fails, "expired_is_over",
     "== 2"),
    (listeners.test_x20_the_second_send_of_a_retry_has_lost_the_number_of_its_attempts, "attempts_are_kept",
     "== [(RETRY, 0)]"),
    (listeners.test_x26_a_dead_letter_is_given_again_with_its_batch_and_becomes_one_again, "dead_letter_is_over",
     "== [KEY, KEY, NEXT_KEY]"),
)
"""Story, the repairs that it is told with, and a part of the line that is no longer true."""


def refuted_line(story: Story) -> str:
    """The line of the story at which it fails; empty if it does not."""
    try:
        story()
    except (AssertionError, IndexError) as error:
        frames = traceback.extract_tb(error.__traceback__)
        file = story.__code__.co_filename
        return next(linecache.getline(file, frame.lineno or 0) for frame in frames if frame.filename == file)
    return ""


@pytest.mark.parametrize(("story", "repairs", "line"), REFUTED, ids=lambda value: getattr(value, "__name__", ""))
def test_with_its_repair_a_story_is_no_longer_true(story: Story, repairs: str, line: str) -> None:
    with active([REPAIRS[name] for name in repairs.split()]):
        assert line in refuted_line(story)


def test_every_other_repair_has_a_story_of_its_own() -> None:
    told = {name for _, repairs, _ in REFUTED for name in repairs.split()}
    of_stores = {one.name for one in (*store_recovery.REPAIRS, *store_reads.REPAIRS)}  # cover/store/test_repaired.py
    assert set(REPAIRS) - told - of_stores == {  # test_with_and_without.py
        "forget_unknown_topics", "wait_for_old_leases", "register_the_living",
        "reset_drops_what_it_removes", "goodbye_waits_for_heartbeats", "forget_unsubscribed_topics",
        "first_pull_reads_again", "run_removes_its_own", "late_read_changes_nothing",
        "recovered_log_is_forced",  # cover/crash/test_played.py
    }


@pytest.mark.parametrize("first_of_queue", [True, False])
def test_a_unit_that_the_disk_has_not_taken_is_written_when_there_is_room(*, first_of_queue: bool) -> None:
    with active([REPAIRS["unwritten_unit_is_written_again"]]), World() as world:
        stores.begin(world)
        stores.produce(world, 1, queues=1 if first_of_queue else 2)
        world.simulation.fill_disk(stores.BROKER, 100)
        world.add_producer(stores.PRODUCER, Sending("orders", queues=2))
        world.run(2 * SEND_EVERY_MS + 100)
        world.simulation.fill_disk(stores.BROKER, 0)
        world.run(2 * SEND_EVERY_MS)
        written = stores.sent(world)
        assert {one.queue_id for one in written} == {0, 1}
        assert {(one.queue_id, one.queue_offset): one.commit_log_offset for one in written} == {
            (one.queue_id, one.queue_offset): world.views.queue_unit(
                stores.BROKER, "orders", one.queue_id, one.queue_offset) for one in written}
