"""Every fault that memoria must stand, and where it is tried: by rows of the bench, or by tests.

In: nothing. Out: a table for the page. Touches nothing.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """A fault, what must come of it, and the rows and tests (``file::test``) that try it."""

    fault: str
    expected: str
    rows: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()


_ERRORS = "integration/store/test_errors.py::test_"

CATALOGUE: tuple[Entry, ...] = (
    Entry(
        "server down at start",
        "`UnavailableError` that names the address, within 2 s",
        tests=(f"{_ERRORS}server_that_is_down_is_unavailable_within_two_seconds",),
    ),
    Entry(
        "server killed during a query",
        "the paths delivered so far stay valid; a typed error; works again after the restart",
        ("server-killed",),
        (
            "integration/store/test_restart.py::test_server_killed_during_a_recall_is_a_typed_error_and_"
            "delivered_paths_stay_valid",
        ),
    ),
    Entry(
        "server or client killed during a write",
        "everything acknowledged is there; nothing is half written",
        ("server-killed", "server-restarted", "client-killed", "client-frozen"),
    ),
    Entry(
        "connection reset or closed at any message",
        "the answer or a typed error",
        ("reset", "half-close", "cut", "lost-request"),
    ),
    Entry("connection that delivers nothing more", "a typed error at the limit", ("black-hole",)),
    Entry("slow network, small packets", "the same answers", ("slow-wire",)),
    Entry("server frozen", "every call ends at its own limit", ("server-frozen",)),
    Entry(
        "garbage bytes, wrong messages",
        "a typed error; the connection is dropped",
        ("garbage-bytes", "wrong-message"),
    ),
    Entry(
        "caller cancels, or leaves early",
        "after 1 s, nothing is left on either side",
        ("cancelled", "stream-left"),
    ),
    Entry(
        "caller reads slowly",
        "the settings of an exploration limit how much is kept for the caller",
        tests=(
            "integration/recall/test_energy.py::test_three_branches_and_five_levels_give_at_most_243_paths",
        ),
    ),
    Entry(
        "more callers than sessions",
        "served in the order of their calls, or refused",
        ("pool-spent",),
        (
            f"{_ERRORS}two_hundred_callers_on_two_sessions_are_all_served",
            f"{_ERRORS}callers_are_served_in_order_and_told_when_there_is_no_room",
        ),
    ),
    Entry(
        "1,000 explorations or 300 tenants at the same time",
        "correct, marked as incomplete, or refused",
        ("explorations", "tenants-at-once"),
    ),
    Entry(
        "memory limit of a transaction",
        "`BudgetError`, without a retry",
        ("transaction-memory",),
        (f"{_ERRORS}query_over_its_memory_limit_is_a_budget_error_and_not_retried",),
    ),
    Entry(
        "memory limit of all transactions",
        "`OverloadedError`, without a retry",
        tests=(f"{_ERRORS}spent_memory_pool_is_overload_and_not_retried",),
    ),
    Entry(
        "hub with a very large number of edges",
        "not expanded if the energy of each edge would be below the minimum",
        ("transaction-memory",),
        (
            "integration/recall/test_relevance.py::test_a_hub_is_not_expanded_and_its_edges_are_read_from_"
            "the_other_end",
        ),
    ),
    Entry(
        "too many tags, too long a text, too deep a value",
        "`InvalidInputError` before anything is sent",
        ("values",),
        (
            "unit/test_validation.py::test_256_tags_pass_and_257_do_not",
            "unit/test_validation.py::test_larger_text_is_refused",
            "unit/test_validation.py::test_value_nested_thousands_deep_is_refused_and_crashes_nothing",
        ),
    ),
    Entry(
        "query over its time limit",
        "ended on both sides",
        tests=(f"{_ERRORS}query_that_takes_too_long_is_ended_on_both_sides",),
    ),
    Entry(
        "malformed inputs, injections",
        "a result or a typed error; only memoria's own statements are sent",
        (
            *("inputs-python", "inputs-commands", "inputs-mcp", "inputs-page"),
            "inputs-http",
            *("transcript-lines", "saved-recalls"),
        ),
    ),
    Entry(
        "a flood of connections, sessions, slow clients or large bodies over HTTP",
        "the server answers or says that it is busy; it recovers completely",
        ("idle-connections", "slow-clients", "sessions", "large-bodies"),
        (
            "integration/agents/test_floods.py::test_a_request_that_is_never_whole_is_cut_off",
            "integration/agents/test_floods.py::test_the_oldest_idle_connection_gives_way_and_a_busy_"
            "server_says_so",
        ),
    ),
    Entry(
        "an MCP server killed while it remembers; several servers, a page and an importer together",
        "nothing acknowledged is lost, nothing is stored twice, no resource use grows",
        ("mcp-killed", "together"),
    ),
    Entry(
        "a server on an address that other machines may reach",
        "it requires a token, or does not start",
        ("other-address",),
    ),
    Entry(
        "folders without write access",
        "the database is read and written, or one line says what to do",
        ("read-only-folder",),
    ),
    Entry(
        "a password or a token in a wrong place or form",
        "a typed error; no message, traceback, repr, log or process list shows it",
        ("secrets",),
        (
            "unit/test_secrets.py::test_a_secret_in_a_wrong_form_is_refused_without_showing_it",
            "unit/test_secrets.py::test_the_file_of_tokens_is_for_its_owner_alone",
            "integration/view/test_view.py::test_what_the_list_of_processes_shows_opens_the_page_once",
        ),
    ),
    Entry(
        "another writer's words in an id, kind, tag, relation, text or scope",
        "they appear inside the fence or quoted as a name; no character is hidden",
        ("words-of-others",),
        ("unit/agents/test_fences.py::test_ten_thousand_hostile_words_never_leave_the_fence",),
    ),
    Entry(
        "files made to exhaust memory or time",
        "read, or a typed error, within limits of memory and time",
        ("hostile-files",),
        ("timing/test_hostile_files.py::test_hostile_files_are_read_or_refused_within_bounds",),
    ),
    Entry(
        "export during writes",
        "both ends of every edge are exported; the file can be ingested completely",
        ("export-beside-writers",),
        (
            "integration/ingest/test_export.py::test_an_export_beside_a_writer_has_both_ends_of_every_edge",
        ),
    ),
    Entry(
        "invalid values from a custom embedder or extractor",
        "all texts are written, and those without a vector named; `InvalidInputError` for a "
        "mention",
        tests=(
            "integration/test_pending.py::test_one_bad_vector_leaves_only_its_own_memory_without_one",
            "integration/ingest/test_ingest.py::test_a_bad_vector_is_asked_for_no_more_while_the_rest_gets_"
            "its_own",
            "unit/remember/test_rules.py::test_what_an_extractor_finds_must_be_mentions",
        ),
    ),
    Entry(
        "offline import killed",
        "the old database or the complete new one; leftover texts are named, and the next start "
        "removes them",
        tests=(
            "unit/local/test_server.py::test_texts_of_a_killed_import_are_named_and_removed",
            "unit/local/test_server.py::test_a_killed_import_leaves_the_old_database_or_the_complete_"
            "new_one",
        ),
    ),
    Entry(
        "a write in a read session",
        "the server refuses it",
        tests=(f"{_ERRORS}write_in_a_read_session_is_refused",),
    ),
    Entry("access to another tenant", "only its own data", ("look-alikes", "tenants-at-once")),
    Entry(
        "memories and edges deleted between two levels",
        "no error; no path has an edge that never existed",
        ("changing-graph",),
        (
            "integration/recall/test_streaming.py::test_a_memory_deleted_before_its_text_is_read_ends_the_"
            "path_before_it",
        ),
    ),
    Entry(
        "weights that are not numbers, infinite, negative",
        "ignored",
        tests=(
            "integration/recall/test_energy.py::test_engine_finds_the_paths_worked_out_by_hand",
        ),
    ),
    Entry(
        "equal scores; records in any order",
        "the same result each time",
        ("asked-again",),
        ("integration/recall/test_seeds.py::test_ties_are_in_the_order_of_ids",),
    ),
    Entry(
        "vector of another size, or of length 0",
        "refused when it is written; the search by words still works",
        ("values",),
        (
            "integration/ingest/test_ingest.py::test_a_vector_of_another_size_is_refused",
            "integration/recall/test_seeds.py::test_vector_of_another_size_leaves_the_words_and_says_so",
            "unit/test_validation.py::test_anything_without_a_usable_direction_is_no_vector",
        ),
    ),
    Entry(
        "index missing, or still being built",
        "`IndexNotReadyError`",
        tests=(
            f"{_ERRORS}missing_index_says_what_to_run",
            "unit/store/test_store.py::test_errors_inside_index_procedures_are_told_apart_by_their_text",
        ),
    ),
    Entry(
        "one edge strengthened by many calls at the same time",
        "no call is lost",
        ("one-edge",),
        (
            "integration/learn/test_learn.py::test_a_hundred_concurrent_writers_give_exactly_the_"
            "sequential_result",
        ),
    ),
    Entry(
        "deadlocks between writers",
        "none; everything is written",
        tests=(
            "integration/ingest/test_ingest.py::test_concurrent_writers_of_the_same_edges_lose_none_and_"
            "never_deadlock",
            "integration/learn/test_learn.py::test_learners_and_writers_of_the_same_memories_do_not_"
            "deadlock",
        ),
    ),
    Entry(
        "closed driver, another event loop",
        "`ClosedError`",
        ("two-loops",),
        (f"{_ERRORS}closed_driver_is_a_closed_error",),
    ),
    Entry(
        "server restarted; stale connections",
        "the first call works",
        tests=("integration/store/test_restart.py::test_recall_after_a_restart_works_by_itself",),
    ),
    Entry(
        "disk full; clock that jumps",
        "typed errors; nothing acknowledged is lost",
        ("disk-full", "clock"),
    ),
    Entry(
        "nodes that share a scope and an id; a record of another program, or of a newer or older "
        "memoria",
        "an error that names them and says what to do",
        tests=(
            "integration/graph/test_schema.py::test_duplicates_from_before_the_set_up_are_an_error",
            "integration/graph/test_schema.py::test_a_record_that_this_memoria_can_not_read_is_refused_by_"
            "every_call",
            "integration/graph/test_schema.py::test_a_database_of_an_older_memoria_is_refused_until_it_is_"
            "set_up_again",
        ),
    ),
    Entry(
        "interrupt while a command is loading or running",
        "one line, exit code 130",
        tests=("unit/cli/test_interrupted.py::test_an_interrupt_is_one_line",),
    ),
    Entry("random programs of calls", "the database is as the model says", ("programs",)),
    Entry("all faults of the wire, for a long time", "no resource use grows", ("soak",)),
    Entry("thousands of recalls in one process", "no resource use grows", ("many-recalls",)),
)


def table() -> list[str]:
    """Return the lines of the table."""
    lines = ["| fault | expected result | rows and test files |", "|---|---|---|"]
    for entry in CATALOGUE:
        rows = [f"`{key}`" for key in entry.rows]
        files = dict.fromkeys(f"`{test.partition('::')[0]}`" for test in entry.tests)
        lines.append(f"| {entry.fault} | {entry.expected} | {', '.join([*rows, *files])} |")
    return lines
