"""A second session finds the classes of builds that were made by name."""

import pytest
from lib import binaries


@pytest.mark.parametrize('name', ['spack_stream', 'stream_binary', 'stream_mpi_binary'])
def test_a_class_that_is_made_by_name_is_found_by_it(name):
    assert getattr(binaries, name).__qualname__ == name


def test_what_is_no_build_is_not_found():
    with pytest.raises(AttributeError):
        binaries.nothing  # noqa: B018
