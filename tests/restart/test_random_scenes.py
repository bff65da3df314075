"""Equal bits of random scenes, over threads, divisions of the run, files, copies, looks, sorts and undone steps."""
import pytest
from random_scenes import RandomScene, differences

pytestmark = [pytest.mark.usefixtures("many_threads_and_sorts"), pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize("seeds", [*([seed] for seed in range(12)), *(
    pytest.param(range(first, first + 24), marks=pytest.mark.slow) for first in range(12, 324, 24))], ids=min)
def test_nothing_that_is_done_besides_changes_bits(seeds, tmp_path):
    for seed in seeds:
        scene = RandomScene(seed)
        expected = scene.run()
        for threads in (1, 2, 3) if len(seeds) > 1 else [1 + seed % 3]:
            found = differences(expected, scene.run(threads, threads, tmp_path))
            assert not any(found), f"{scene}, {threads} threads: {found}"
