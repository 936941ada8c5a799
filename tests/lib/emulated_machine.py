"""A machine of tests/machines: its file, how qemu is started for it, and what its runs left.

The kernel is a real one, without KVM: NUMA domains, memory policies, cgroups, HMAT and offline
CPUs are what Linux makes of them. Rates mean nothing there. This host's files are the guest's,
read-only (9p), below a tmpfs; another architecture has busybox and static programs.
"""

import json
import platform
import shutil
import struct
import subprocess
import time

import topologies
import yaml
from places import ROOT

FOLDER = ROOT / 'tests/machines'
SETUP = ROOT / '.venv/.setup'
HERE = platform.machine()
DEBIAN = {'x86_64': 'amd64', 'aarch64': 'arm64', 'ppc64le': 'ppc64el'}
# by architecture: qemu's name of it, the machine and the CPU, the console
BOARDS = {
    'x86_64': ('x86_64', 'q35', 'max', 'ttyS0'),
    'aarch64': ('aarch64', 'virt,gic-version=3', 'max', 'ttyAMA0'),
    'ppc64le': ('ppc64', 'pseries', 'power9', 'hvc0'),
}
LIMIT_S = 900  # of a boot, on a host that is busy

INIT = """\
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc
for pass in 1 2 3; do # each needs others: in which order depends on the kernel
	for module in /modules/*.ko; do $b insmod $module 2>/dev/null; done
done
share='-t 9p -o trans=virtio,version=9p2000.L,msize=262144'
if [ -e /is-foreign ]; then
	root=
else
	root=/root
	$b mount $share,ro,cache=loose host /lower
	$b mount -t tmpfs -o size=60% tmpfs /upper
	$b mkdir /upper/above /upper/work
	$b mount -t overlay -o lowerdir=/lower,upperdir=/upper/above,workdir=/upper/work o /root
	$b mount -t proc proc $root/proc
fi
$b mount -t sysfs sys $root/sys
$b mount -t devtmpfs dev $root/dev
$b mount $share out $root/mnt
PATH=/mnt/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH HOME=/root
[ -e /is-foreign ] && $b --install -s /bin && $b sh /mnt/runs
[ -e /is-foreign ] || $b chroot /root /bin/sh /mnt/runs
$b poweroff -f
"""


def load(name):
    return yaml.safe_load((FOLDER / f'{name}.yaml').read_text())


def names():
    return sorted(path.stem for path in FOLDER.glob('*.yaml'))


class Machine:
    def __init__(self, name, folder):
        self.facts, self.folder = load(name), folder
        self.arch = self.facts.get('arch', HERE)
        self.is_foreign = self.arch != HERE
        self.kernel = SETUP / f'kernel-{DEBIAN.get(self.arch, self.arch)}'
        name, self.board, self.cpu, self.console_device = BOARDS[self.arch]
        self.qemu = f'qemu-system-{name}'
        self.cc = f'{self.arch.replace("ppc64le", "powerpc64le")}-linux-gnu-gcc'

    def why_not(self):
        """What is missing here, '' if nothing is."""
        if not self.is_foreign and HERE != 'x86_64':
            return f'this host is {HERE}: the machines are written for x86_64'
        for tool in (self.qemu, 'cpio'):
            if not shutil.which(tool):
                return f"no '{tool}' on the PATH"
        if not (self.kernel / 'vmlinuz').exists():
            return f'no {self.kernel.relative_to(ROOT)}: tests/machines/kernel.sh makes it'
        return ''

    # --- before -------------------------------------------------------------------------------

    def initrd(self):
        tree = self.folder / 'tree'
        for name in ('bin', 'proc', 'sys', 'dev', 'lower', 'upper', 'root', 'mnt', 'tmp'):
            (tree / name).mkdir(parents=True, exist_ok=True)
        shutil.copytree(self.kernel / 'modules', tree / 'modules')
        shutil.copy(self.kernel / 'busybox', tree / 'bin/busybox')
        (tree / 'init').write_text(INIT)
        for program in ('init', 'bin/busybox'):
            (tree / program).chmod(0o755)
        if self.is_foreign:
            (tree / 'is-foreign').touch()
        path = self.folder / 'initrd'
        line = f'find . | cpio -o -H newc --quiet >{path}'
        subprocess.run(['sh', '-c', line], cwd=tree, check=True)
        return path

    def tables(self):
        """The firmware's SRAT and SLIT where numbers are left out, which qemu's own do not.

        Linux numbers domains as it meets them: one that is left out has a CPU that is not there.
        """
        domains, entries, at = self.facts['domains'], [], 0
        distance = {frozenset(p.split('-')): d for p, d in self.facts.get('distances', {}).items()}
        numbers = range(max(domains) + 1)
        for number in numbers:
            for cpu in topologies.expand(domains.get(number, {}).get('cpus', 0xF0 + number)):
                entries.append(struct.pack('<BBBBIII', 0, 16, number, cpu, 1, 0, 0))
        for number, domain in domains.items():
            size = domain.get('mib', 0) << 20
            entries.append(struct.pack('<BBIHQQIIQ', 1, 40, number, 0, at, size, 0, 1, 0))
            at += size
        matrix = [
            10 if a == b else distance.get(frozenset((str(a), str(b))), 20)
            for a in numbers
            for b in numbers
        ]
        yield 'SRAT', struct.pack('<IQ', 1, 0) + b''.join(entries)
        yield 'SLIT', struct.pack('<Q', len(numbers)) + bytes(matrix)

    def domains(self):
        """Options of the domains; one of 0 MiB has no memory, one without CPUs none."""
        if list(self.facts['domains']) != list(range(len(self.facts['domains']))):
            for signature, body in self.tables():
                (self.folder / signature).write_bytes(body)
                yield from ('-acpitable', f'sig={signature},rev=3,data={self.folder / signature}')
            return
        for number, domain in self.facts['domains'].items():
            node = f'node,nodeid={number}'
            if domain.get('mib'):
                yield from ('-object', f'memory-backend-ram,size={domain["mib"]}M,id=m{number}')
                node += f',memdev=m{number}'
            for cpus in filter(None, str(domain.get('cpus', '')).split(',')):
                node += f',cpus={cpus}'
            if 'initiator' in domain:
                node += f',initiator={domain["initiator"]}'
            yield from ('-numa', node)
        for pair, distance in self.facts.get('distances', {}).items():
            source, _, target = pair.partition('-')
            yield from ('-numa', f'dist,src={source},dst={target},val={distance}')
        for pair, (ns, gbs) in self.facts.get('hmat', {}).items():
            source, _, target = pair.partition('-')
            value = f'hmat-lb,initiator={source},target={target},hierarchy=memory,data-type=access'
            yield from ('-numa', f'{value}-latency,latency={ns}')
            yield from ('-numa', f'{value}-bandwidth,bandwidth={gbs}G')

    def command(self):
        words = f'quiet panic=-1 no_timer_check {self.facts.get("append", "")}'
        memory = sum(domain.get('mib', 0) for domain in self.facts['domains'].values())
        share = 'security_model=none,multidevs=remap'
        return [
            *(self.qemu, '-nographic', '-no-reboot', '-cpu', self.cpu, '-m', f'{memory}M'),
            *('-machine', self.board + (',hmat=on' if 'hmat' in self.facts else '')),
            *('-smp', self.facts['smp'], *self.domains()),
            *('-kernel', self.kernel / 'vmlinuz', '-initrd', self.initrd()),
            *('-append', f'console={self.console_device} {words}'),
            *('-fsdev', f'local,id=h,path=/,readonly=on,{share}'),
            *('-device', 'virtio-9p-pci,fsdev=h,mount_tag=host'),
            *('-fsdev', f'local,id=o,path={self.folder}/out,{share}'),
            *('-device', 'virtio-9p-pci,fsdev=o,mount_tag=out'),
        ]

    def script(self):
        """The set-up of the file, then its runs one after the other."""
        lines = [f'export CHECKOUT={ROOT}', self.facts.get('setup', '')]
        for number, run in enumerate(self.facts['runs']):
            words = f'{run.get("through", "")} {run["run"]}'
            if run.get('record', True):
                words += f' --json /tmp/{number}.json'
            to = f'>/mnt/{number}.out 2>/mnt/{number}.err'
            lines.append(f'({run.get("shell", "")}\n{words}) {to} </dev/null')
            lines.append(f'echo $? >/mnt/{number}.status')
            lines.append(f'cat /tmp/{number}.json >/mnt/{number}.json 2>/dev/null')
        return '\n'.join(lines) + '\n'

    # --- the boot -----------------------------------------------------------------------------

    def boot(self, programs):
        """Runs all; `programs`: {name: path} of what the guest has on its PATH."""
        out = self.folder / 'out'
        (out / 'bin').mkdir(parents=True)
        for name, path in programs.items():
            shutil.copy(path, out / 'bin' / name)
        (out / 'runs').write_text(self.script())
        begun = time.monotonic()
        done = subprocess.run(
            [str(word) for word in self.command()],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors='replace',
            timeout=LIMIT_S,
        )
        self.console = done.stdout + done.stderr
        self.seconds = time.monotonic() - begun
        return [Outcome(out, number) for number in range(len(self.facts['runs']))]


class Outcome:
    """What one run of a machine left."""

    def __init__(self, out, number):
        def read(end):
            path = out / f'{number}.{end}'
            return path.read_text() if path.exists() else ''

        self.text = read('out') + read('err')
        self.status = int(read('status') or -1)
        self.record = json.loads(read('json') or '{}')

    def placements(self):
        """[{domain: pages}] of the record, before and after; of each pair, in `tiers`."""
        holders = self.record.get('pairs_of_domains', [self.record])
        keys = ('placement_before', 'placement_after')
        return [holder[key]['pages_on'] for holder in holders for key in keys if key in holder]
