"""Launchers that bind processes by themselves: a program pins its own threads."""

from collections.abc import Mapping

# what a launcher may think of binding: the threads pin themselves by OMP_PLACES. Open MPI 4 and 5
# would bind a rank to one core, and 5 refuses a rank that spans packages; Intel MPI
UNBOUND = {
    'OMPI_MCA_hwloc_base_binding_policy': 'none',
    'PRTE_MCA_hwloc_default_binding_policy': 'none',
    'I_MPI_PIN': 'off',
}


def given_or(variables: Mapping[str, object]) -> list[str]:
    """Lines of a job script: each variable as the site has it, else as here."""
    lines = [f': "${{{name}:={value}}}"' for name, value in variables.items()]
    return [*lines, f'export {" ".join(variables)}']
