"""What went wrong with other bots in Discord, and which test shows that it does not here; or why it cannot."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
TESTS = FOLDER.parents[1]
TALKING, FAILURES = "test_talking", "test_failures_of_others"

# Number, what happened to others, and the test: its file in this folder, or from tests/; then its name.
SHOWN = (
    (1, "the model was asked before Discord was answered", TALKING, "ask_thinks_at_once_and_answers_in_place"),
    (2, "something slow before the first word", FAILURES, "a_command_is_acknowledged_before_anything_is_looked_up"),
    (2, "a slow database before the first word", "test_acknowledging", "a_database_that_is_slow_delays_no_first_word"),
    (3, "buttons that do their work first", "test_acknowledging", "a_verdict_is_acknowledged_before_it_is_kept"),
    (4, "an unknown interaction floods the log", FAILURES, "an_interaction_that_discord_no_longer_knows_is_one_line_in_the_log"),
    (5, "no answer after fifteen minutes", TALKING, "after_its_token_died_the_answer_comes_by_the_channel"),
    (6, "the heartbeat waits for the model", "journeys/test_discord", "the_core_at_work_keeps_no_heartbeat_waiting"),
    (7, "no answer where it is over 2,000 characters", TALKING, "a_long_answer_continues_in_further_messages"),
    (8, "a long answer breaks every later turn", FAILURES, "a_long_answer_is_one_turn_and_every_part_of_it_can_be_replied_to"),
    (9, "an answer in parts breaks the talk", FAILURES, "a_long_answer_is_one_turn_and_every_part_of_it_can_be_replied_to"),
    (10, "code cut in two", TALKING, "code_that_is_cut_is_closed_and_opened_again"),
    (11, "the end of code made it too long", "bots/test_pieces", "no_piece_is_too_long_or_leaves_code_open_and_nothing_is_lost"),
    (12, "a very long language made it too long", "bots/test_pieces", "a_very_long_language_is_not_repeated"),
    (13, "code left open in a draft", "test_render", "a_growing_answer_never_leaves_code_open"),
    (14, "a growing answer cut at 2,000 characters", TALKING, "a_long_answer_continues_in_further_messages"),
    (15, "parts lost to a failure that passes", TALKING, "a_post_that_fails_never_runs_the_model_again"),
    (15, "parts lost while Discord is away", "bots/test_desk", "a_platform_that_is_out_for_long_gets_the_stored_answer_later"),
    (17, "Chinese cut at a third of the length", TALKING, "a_long_answer_continues_in_further_messages"),
    (18, "tables as bars", "test_render", "a_table_that_is_too_wide_for_a_phone_is_a_list"),
    (19, "tables that do not align in Chinese", "test_render", "a_table_is_aligned_by_what_its_signs_take_on_the_screen"),
    (20, "links shown as they are typed", "test_render", "an_address_in_a_title_leads_nowhere"),
    (21, "a flood of previews", TALKING, "nobody_is_called_and_nothing_unfurls"),
    (22, "an empty answer", "rag/test_composing", "a_stream_that_fails_is_empty_or_breaks_off_is_an_error_and_is_closed"),
    (22, "nothing said where there is no answer", TALKING, "a_failure_is_said_plainly"),
    (23, "a thread's name that is blank or too long", FAILURES, "a_thread_always_has_a_name_that_discord_takes"),
    (24, "empty messages without the intent", TALKING, "without_the_intent_mentions_commands_and_replies_work"),
    (24, "nobody is told why", "test_checks", "an_intent_that_the_portal_does_not_give_is_told_unless_it_is_done_without"),
    (
        24,
        "nobody is told why at the start",
        "journeys/test_discord",
        "a_wrong_token_and_a_missing_intent_end_the_start_with_one_clear_line",
    ),
    (25, "answers every @everyone", TALKING, "bots_webhooks_system_messages_and_everyone_are_ignored"),
    (26, "two bots talk for ever", TALKING, "bots_webhooks_system_messages_and_everyone_are_ignored"),
    (27, "a long paste is ignored", FAILURES, "a_long_paste_comes_as_a_file_without_a_type_and_is_read_up_to_a_limit"),
    (28, "a new post is ignored", TALKING, "a_new_post_of_a_forum_is_answered_under_it_where_configured"),
    (29, "a post is answered before its first message", TALKING, "a_new_post_of_a_forum_is_answered_under_it_where_configured"),
    (30, "the thread it is called into is not read", TALKING, "called_into_a_thread_it_reads_what_was_said_there"),
    (31, "direct messages without memory or a switch", TALKING, "direct_messages_are_off_until_they_are_switched_on"),
    (32, "two people at once", "bots/test_desk", "questions_of_one_thread_are_answered_one_at_a_time_in_order"),
    (33, "a thread that is there already", FAILURES, "a_thread_that_cannot_be_opened_is_said_to_who_wanted_it_alone"),
    (34, "a thread announced and never opened", FAILURES, "an_answer_that_gets_no_thread_stays_where_it_is"),
    (35, "the model paid for a locked thread", TALKING, "a_locked_thread_costs_no_model"),
    (36, "a thread locked while it was answered", TALKING, "a_thread_locked_meanwhile_ends_quietly"),
    (37, "an invitation without the permissions", "test_checks", "the_link_invites_with_the_least_permissions"),
    (37, "nobody is told which one is missing", "test_checks", "permissions_that_are_missing_in_a_channel_are_named"),
    (38, "too many threads", FAILURES, "an_answer_that_gets_no_thread_stays_where_it_is"),
    (39, "the question was deleted meanwhile", TALKING, "a_question_deleted_meanwhile_gets_no_answer_and_an_edited_one_a_new_one"),
    (40, "a resumed connection, two answers", TALKING, "a_replayed_event_is_answered_once"),
    (41, "nothing heard while the connection was cut", FAILURES, "what_is_said_while_the_connection_is_cut_is_answered_after_it"),
    (
        41,
        "nothing heard while a session was lost",
        "test_away",
        "what_is_said_while_a_session_is_lost_is_answered_in_order_and_what_was_answered_is_not_again",
    ),
    (42, "commands shown twice", TALKING, "commands_are_told_to_discord_only_when_they_changed"),
    (43, "commands told with every connection", FAILURES, "after_connecting_again_it_listens_on_and_tells_no_commands_anew"),
    (44, "buttons dead after a restart", TALKING, "feedback_works_after_a_restart_and_is_kept_with_the_answer"),
    (45, "edits that are too many", FAILURES, "twenty_answers_at_once_in_one_channel_are_complete_and_never_too_fast"),
    (46, "“is typing” ends too early", TALKING, "is_typing_is_said_again_as_long_as_it_takes"),
    (47, "SIGTERM", "journeys/test_discord", "asked_to_stop_it_ends_well_and_a_question_left_is_answered_by_the_next_process"),
)

CANNOT_BE = {16: "Fields and embeds that are too long: answers are plain messages, and nothing is ever sent as an embed."}


@pytest.mark.parametrize(("number", "what", "file", "name"), SHOWN, ids=[f"{row[0]}-{row[3]}" for row in SHOWN])
def test_what_happened_to_others_has_a_test(number: int, what: str, file: str, name: str) -> None:
    path = (TESTS if "/" in file else FOLDER) / f"{file}.py"

    assert re.search(rf"(?m)^(?:async )?def test_{name}\(", path.read_text(encoding="utf-8")), f"{number}: {what}"


def test_all_of_it_is_in_the_table() -> None:
    assert {row[0] for row in SHOWN} | CANNOT_BE.keys() == set(range(1, 48))
    assert not {row[0] for row in SHOWN} & CANNOT_BE.keys()
