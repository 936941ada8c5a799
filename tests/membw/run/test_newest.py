"""Which run is the newest one, whatever a clock said when it began."""

import time

from membw.run import newest


def test_a_run_of_a_clock_that_was_ahead_is_not_the_newest_for_ever(tmp_path):
    ages = {'next-year': 3e7, 'today': -60, 'yesterday': -86_400}
    for name, seconds in ages.items():
        begun = f'{{"session_info": {{"time_start_unix": {time.time() + seconds}}}}}'
        (tmp_path / name).write_text(begun)
    found = newest.newest_first(tmp_path.iterdir())
    assert [file.name for file in found] == ['today', 'yesterday', 'next-year']
