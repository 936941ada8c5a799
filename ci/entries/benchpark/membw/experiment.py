"""Benchpark: copied to its experiment repository, beside ci/entries/ramble for its application.
Each preset is an experiment on the whole node: `stream` finds sizes and threads."""

from benchpark.directives import variant
from benchpark.experiment import Experiment


class Membw(Experiment):
    variant(
        'programming_model', default='openmp', values=('openmp',), description='threads of a node'
    )

    def compute_applications_section(self):
        experiment = {
            'variants': {'package_manager': 'spack'},
            'variables': {
                'n_nodes': '1',
                'processes_per_node': '1',
                'n_ranks': '1',
                'preset': ['gcc-o2', 'gcc-o3'],
                'env_name': 'membw-{preset}',
            },
            'matrix': ['preset'],
        }
        return {'membw': {'workloads': {'stream': {'experiments': {'{preset}': experiment}}}}}

    def compute_include_section(self):
        return ['./configs/software.yaml', './configs/variables.yaml', './configs/modifier.yaml']

    def compute_spack_section(self):
        spec = 'membw programs:=stream preset={preset}{modifier_spack_variant}'
        return {
            'packages': {'membw-{preset}': {'pkg_spec': spec, 'compiler': 'default-compiler'}},
            'environments': {'membw-{preset}': {'packages': ['membw-{preset}']}},
        }
