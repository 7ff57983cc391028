"""What went wrong with other bots in Slack, and which test shows that it does not here; or why it cannot."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
TESTS = FOLDER.parents[1]

# Number, what happened to others, and the test: its file in this folder, or from tests/; then its name.
SHOWN = (
    (
        1,
        "a mention and a message for one mention, both answered",
        "test_deliveries",
        "one_mention_that_slack_tells_twice_is_answered_once",
    ),
    (2, "retries answered two to four times", "test_deliveries", "events_that_come_twice_or_again_are_answered_once"),
    (
        3,
        "retries dropped, and with them messages that had never arrived",
        "test_deliveries",
        "a_message_whose_first_delivery_was_lost_is_answered_when_it_comes_again",
    ),
    (4, "what was answered is forgotten at a restart", "test_deliveries", "a_replay_after_a_restart_is_not_answered_again"),
    (5, "one gesture, two messages", "test_deliveries", "one_gesture_that_becomes_two_messages_is_answered_once"),
    (
        6,
        "a claim whose handler failed is never released",
        "test_deliveries",
        "what_could_not_be_kept_is_not_acknowledged_and_answered_when_it_comes_again",
    ),
    (6, "a claim whose handler died is never released", "bots/test_desk", "a_question_whose_process_died_is_answered_by_the_next"),
    (
        7,
        "previews, edits and replies taken for questions",
        "test_deliveries",
        "previews_and_replies_change_messages_and_ask_nothing",
    ),
    (8, "one message answered for ever", "test_deliveries", "a_message_that_looks_like_mark_up_is_answered_once"),
    (8, "no cap on a thread", "bots/test_access", "each_limit_has_a_friendly_notice"),
    (
        9,
        "several sockets, each with a memory of its own",
        "test_deliveries",
        "two_processes_share_the_events_and_answer_each_question_once",
    ),
    (9, "a forgotten process steals events", "test_checks", "other_processes_on_the_same_app_are_mentioned"),
    (10, "a socket that is never opened again", "test_deliveries", "after_a_socket_was_cut_questions_are_answered"),
    (11, "late and disordered events", "test_deliveries", "events_that_come_late_and_backwards_are_answered_once_each"),
    (12, "mentions lost among subscribed messages", "test_manifest", "the_variants_differ_in_what_they_are_for"),
    (
        13,
        "an event that nobody listens to is not acknowledged",
        "test_deliveries",
        "what_nobody_listens_to_is_acknowledged_at_once",
    ),
    (
        14,
        "a stream that ended after five minutes",
        "test_answers",
        "a_stream_that_slack_ends_after_five_minutes_becomes_the_whole_answer",
    ),
    (
        14,
        "a stream that grows old",
        "test_streams",
        "a_slow_answer_goes_on_in_a_further_message_before_slack_ends_the_stream",
    ),
    (15, "an answer that was written and never shown", "test_answers", "an_end_of_a_stream_that_is_refused_costs_nothing"),
    (
        16,
        "a stream that a crash left open",
        "test_answers",
        "a_stream_that_a_dead_process_left_open_is_ended_and_becomes_the_answer",
    ),
    (
        17,
        "after that only the last words are shown",
        "test_answers",
        "a_stream_that_slack_ends_after_five_minutes_becomes_the_whole_answer",
    ),
    (18, "no recipient named, no stream", "fakes/slack/test_web_api", "a_stream_outside_of_a_direct_message_names_who_it_is_for"),
    (19, "an empty thread in direct messages", "test_answers", "a_direct_message_is_answered_in_its_thread"),
    (
        20,
        "one bad block, nothing posted, and the model paid again",
        "test_answers",
        "blocks_that_are_refused_become_plain_text_and_no_model_runs_again",
    ),
    (20, "an address of more than 3,000 characters", "test_render", "a_source_without_a_link_that_can_be_clicked_is_named"),
    (21, "blocks that are too long together", "test_render", "a_long_answer_takes_several_messages_within_the_limits"),
    (22, "a text that is too long", "test_render", "nothing_of_a_long_answer_is_lost"),
    (23, "blocks of code split open", "test_render", "a_long_answer_takes_several_messages_within_the_limits"),
    (
        23,
        "blocks of code split open in a stream",
        "test_streams",
        "a_block_of_code_that_is_longer_than_a_message_is_closed_and_opened_again",
    ),
    (24, "a sign of life, and then nothing", "test_answers", "what_goes_wrong_is_said"),
    (
        25,
        "a status that stays, or that fails and takes the answer along",
        "test_answers",
        "a_status_is_shown_for_each_thread_and_taken_back",
    ),
    (25, "a status that fails and takes the answer along", "test_answers", "a_status_that_cannot_be_set_costs_no_answer"),
    (26, "an apology, and minutes later the answer", "test_answers", "a_slow_answer_is_never_announced_as_a_failure"),
    (
        27,
        "a command that times out while its work goes on",
        "test_answers",
        "a_private_question_is_acknowledged_at_once_and_its_answer_stays_private",
    ),
    (
        28,
        "a private answer for everybody",
        "test_answers",
        "a_private_question_is_acknowledged_at_once_and_its_answer_stays_private",
    ),
    (29, "the thread, or its own words, unknown", "test_incoming", "a_thread_is_read_with_our_own_words_and_everybodys_names"),
    (
        30,
        "own words cut to the first block, no pages",
        "test_incoming",
        "a_long_thread_is_read_page_by_page_and_people_are_asked_for_once",
    ),
    (31, "alerts read as empty", "test_incoming", "an_alert_is_read_though_its_text_is_empty"),
    (32, "forwarded messages without their text", "test_incoming", "a_forwarded_message_keeps_its_text_and_names_its_files"),
    (33, "files dropped, or said to be read", "test_incoming", "a_text_file_is_read_and_what_was_not_read_is_named"),
    (34, "pasted tables unseen", "test_incoming", "a_pasted_table_is_read"),
    (35, "ids for names", "test_incoming", "people_are_named_and_looked_up_once"),
    (37, "links and bold shown as they are typed", "test_render", "what_an_answer_says_reaches_slack_so"),
    (38, "brackets in titles break links", "test_render", "a_title_cannot_break_the_sources"),
    (39, "raw HTML shown", "test_render", "what_an_answer_says_reaches_slack_so"),
    (
        40,
        "addresses with asterisks, e-mail addresses cut, lists that begin anew",
        "test_render",
        "what_an_answer_says_reaches_slack_so",
    ),
    (41, "apostrophes escaped", "test_render", "what_an_answer_says_reaches_slack_so"),
    (42, "entities decoded twice", "test_incoming", "slacks_mark_up_is_decoded_once"),
    (43, "entities and links not decoded at all", "test_incoming", "slacks_mark_up_is_decoded_once"),
    (44, "bold beside Chinese and Japanese", "test_render", "what_an_answer_says_reaches_slack_so"),
    (45, "tables as bars", "test_render", "what_an_answer_says_reaches_slack_so"),
    (46, "answers itself", "test_deliveries", "our_own_words_are_never_a_question"),
    (47, "two bots talk for ever", "test_deliveries", "two_bots_never_talk_to_each_other"),
    (48, "mentions that are none", "test_deliveries", "a_mention_event_for_a_reply_that_mentions_nobody_is_no_mention"),
    (49, "answers Slackbot", "test_deliveries", "slackbot_is_not_answered"),
    (50, "pings everybody", "test_answers", "an_answer_pings_nobody_while_it_is_written_nor_afterwards"),
    (51, "answers other companies", "test_deliveries", "people_of_another_company_are_refused_once_and_cost_nothing"),
    (
        52,
        "answers from what only other channels may see",
        "rag/test_routing",
        "a_restricted_base_is_searched_only_where_its_route_allows",
    ),
    (
        52,
        "answers from what only other channels may see",
        "journeys/test_slack_routing",
        "a_base_is_asked_where_it_is_routed_and_what_it_says_is_shown_nowhere_else",
    ),
    (53, "takes another app for itself", "test_deliveries", "two_workspaces_have_a_bot_each_and_neither_is_taken_for_the_other"),
    (54, "asks for everybody's name with every message", "test_incoming", "people_are_named_and_looked_up_once"),
    (55, "reads threads more often than it may", "test_incoming", "a_rate_limit_on_reading_is_told_as_something_for_later"),
    (56, "tokens in logs", "test_answers", "no_token_and_no_word_of_anybody_is_logged_at_any_level"),
    (57, "messages in logs", "test_answers", "no_token_and_no_word_of_anybody_is_logged_at_any_level"),
    (58, "answers in the wrong thread", "test_answers", "the_answer_goes_to_the_thread_that_was_asked_in"),
    (59, "a renamed channel loses its settings", "test_deliveries", "a_channel_that_is_renamed_is_still_the_one_that_was_named"),
)

CANNOT_BE = {
    36: "The thread itself is found as a source: documents come from files, websites and repositories, never from Slack.",
}


@pytest.mark.parametrize(("number", "what", "file", "name"), SHOWN, ids=[f"{row[0]}-{row[3]}" for row in SHOWN])
def test_what_happened_to_others_has_a_test(number: int, what: str, file: str, name: str) -> None:
    path = (TESTS if "/" in file else FOLDER) / f"{file}.py"

    assert re.search(rf"(?m)^(?:async )?def test_{name}\(", path.read_text(encoding="utf-8")), f"{number}: {what}"


def test_all_of_it_is_in_the_table() -> None:
    assert {row[0] for row in SHOWN} | CANNOT_BE.keys() == set(range(1, 60))
    assert not {row[0] for row in SHOWN} & CANNOT_BE.keys()
