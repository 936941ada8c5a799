"""Benchpark: copied to its `experiments`, beside ci/entries/ramble for its application.
`benchpark experiment init ... membw+openmp preset=gcc-o3`: a whole node, where `stream` finds
sizes and threads itself. The calls are those of Benchpark in 2026."""

from benchpark.directives import variant
from benchpark.experiment import Experiment
from benchpark.openmp import OpenMPExperiment


class Membw(Experiment, OpenMPExperiment):
    variant('workload', default='stream', description='workload of the application')
    variant('preset', default='gcc-o3', description='row of configs/presets.yaml')

    def compute_applications_section(self):
        for name in ('n_nodes', 'processes_per_node', 'n_ranks'):
            self.add_experiment_variable(name, 1)
        self.add_experiment_variable('preset', self.spec.variants['preset'][0], named=True)
        self.set_required_variables(
            n_resources='{n_ranks}',
            process_problem_size='found by measuring',
            total_problem_size='found by measuring',
        )

    def compute_package_section(self):
        preset = self.spec.variants['preset'][0]
        # Benchpark appends +openmp: a value of a variant may hold a plus, so that a blank ends it
        self.add_package_spec(self.name, [f'membw programs:=stream preset={preset} '])
