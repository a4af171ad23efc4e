"""The few ways in which events that Python handles change the world."""

from gnomon.api import NEVER, Kind, Reason, State
from gnomon.control.board import CORDONED, LOST, Board
from gnomon.engine.world import CALL, HELD, TASKS_INSIDE, TIMER
from gnomon.scheduling.compose import compose
from gnomon.scheduling.events import take_events
from tests.builders import amount, nodes, task
from tests.control.reading import plot


def board(*sizes: float, gpus: int = 0) -> Board:
    """A world of tasks of one CPU on two nodes, the tasks in their queue."""
    tasks = [task(f"t{i}", size, 50, gpus=gpus) for i, size in enumerate(sizes or (1,))]
    made = Board(compose(plot(tasks, cluster=nodes(amount(4, gpus=2), amount(4, gpus=2)))).world)
    made.w.at[0] = 0
    take_events(made.w, 0)
    return made


def kinds(made: Board) -> list[str]:
    """The rows so far."""
    return [Kind(int(kind)).name for kind in made.w.log_kind[: made.w.at[8]]]


def test_a_node_closes_once_for_a_reason() -> None:
    made = board()
    first = made.close(0, LOST, -1)
    assert made.close(0, LOST, -1) == first
    assert made.close(0, CORDONED, -1) == first + 1
    assert kinds(made)[1:] == ["CLOSE", "CLOSE"]


def test_a_node_is_open_when_the_last_reason_is_gone() -> None:
    made = board()
    made.close(0, LOST, -1)
    made.close(0, CORDONED, -1)
    made.open(0, LOST, -1)
    assert made.w.closed[0] == CORDONED
    made.open(0, CORDONED, -1)
    made.open(0, CORDONED, -1)
    assert made.w.closed[0] == 0
    assert kinds(made)[1:] == ["CLOSE", "CLOSE", "OPEN", "OPEN"]


def test_what_is_given_back_of_a_lost_device_stays_away() -> None:
    made = board(gpus=1)
    made.leave_queue(0)
    made.start_here(0, 0, 0b01, -1)
    made.lose_device(0, 0)
    assert made.lost_devices == {(0, 0): 0}  # somebody uses it
    made.lose(0, Reason.DEVICE, -1, 0)
    made.sweep()
    assert made.lost_devices == {(0, 0): 10_000}
    assert made.w.free[0].tolist()[-2:] == [0, 10_000]
    made.restore_device(0, 0)
    assert made.w.free[0].tolist()[-2:] == [10_000, 10_000]
    assert not made.w.withheld.any()


def test_room_that_is_withheld_is_nobodys() -> None:
    made = board(3)
    made.withhold(0, 0, 0, 1)
    assert (made.w.free[0][0], made.w.withheld[0][0]) == (1_000, 3_000)
    made.withhold(0, 0, 0, -1)
    assert (made.w.free[0][0], made.w.withheld[0][0]) == (4_000, 0)


def test_a_task_that_leaves_its_queue_is_not_in_the_system() -> None:
    made = board(1, 1)
    made.leave_queue(0)
    made.delay([0], Reason.NEEDS, -1, NEVER)
    assert made.w.at[TASKS_INSIDE] == 1
    assert made.state(0) is State.DELAYED
    made.queue(0, -1, 0)
    assert made.w.at[TASKS_INSIDE] == 2
    assert made.state(0) is State.WAITING


def test_a_task_ends_now_as_it_is_told() -> None:
    made = board(1, 1)
    for number, fate in enumerate((Kind.END, Kind.CANCEL)):
        made.leave_queue(number)
        made.start_here(number, 0, 0, -1)
        made.end_now(number, fate, -1)
    assert [made.state(number) for number in (0, 1)] == [State.DONE, State.KILLED]
    assert made.w.at[TASKS_INSIDE] == 0
    assert made.w.free[0][0] == 4_000


def test_a_job_avoids_nodes_one_after_the_other() -> None:
    made = board(1, 1)
    made.avoid(0, 1)
    made.avoid(1, 0)
    made.avoid(0, 0)
    assert made.w.avoid[made.w.avoids[0]].tolist() == [1, 1]
    assert made.w.avoid[made.w.avoids[1]].tolist() == [1, 0]


def test_the_log_grows_where_rows_need_room() -> None:
    made = board()
    room = len(made.w.log_t)
    for _ in range(room + 10):
        made.row(Kind.WAKE)
    assert made.w.at[8] == room + 11
    assert len(made.w.log_t) > room


def test_the_loop_is_told_when_to_call() -> None:
    made = board()
    made.call(due_ns=7, again=True)
    assert (made.w.at[TIMER], made.w.at[CALL]) == (7, 1)
    assert made.w.at[HELD] == 0


def test_details_belong_to_their_row() -> None:
    made = board()
    row = made.row(Kind.CALM, node=0, value=5, details={"used": 3})
    assert made.details == {row: {"used": 3}}
