"""What one machine instruction does with memory, the same words for x86-64 and aarch64."""

from dataclasses import dataclass, field

import capstone
from capstone import arm64_const as arm
from capstone import x86_const as x86

# an SVE register holds at least this many bits; how many more, the CPU knows
SCALABLE_AT_LEAST = 128
X86_NO_ACCESS = ('lea', 'nop', 'prefetch', 'call', 'jmp', 'clflush', 'clwb', 'push', 'pop')
X86_ONLY_READS = ('cmp', 'test', 'ucomis', 'comis', 'vucomis', 'vcomis', 'bt', 'div', 'mul')


@dataclass(frozen=True)
class Access:
    """One load or store: bits, and where, as far as two accesses can be told apart."""

    bits: int
    base: tuple  # base and index register, scale
    offset: int  # bytes from there

    def after(self, bumped):
        """The same place, seen from the registers as they were before they were bumped."""
        base, index, scale = self.base
        moved = bumped.get(base, 0) + bumped.get(index, 0) * scale
        return Access(self.bits, self.base, self.offset + moved)


@dataclass
class Step:
    """One instruction, as far as a streaming loop is concerned."""

    address: int
    text: str
    mnemonic: str = ''
    loads: list = field(default_factory=list)
    stores: list = field(default_factory=list)
    nontemporal: bool = False
    scalable: bool = False
    prefetch: Access = None
    fma: bool = False
    string: bool = False  # rep movs, rep stos
    jump: int = None  # target inside the program
    call: int = None
    slot: int = None  # called or jumped to through this GOT entry
    refers: int = None  # an address that it computes
    bumps: tuple = None  # register, bytes added to it by this instruction


def steps(machine, code, address):
    """The instructions of a function, in the order of addresses."""
    if machine == 'x86-64':
        engine = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    else:
        engine = capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM)
    engine.detail = True
    engine.skipdata = True  # a literal amidst the code must not end the reading
    body = list(engine.disasm(code, address))
    reader = X86Reader(body) if machine == 'x86-64' else ArmReader()
    return [reader.read(insn) for insn in body]


def start(insn):
    return Step(insn.address, f'{insn.mnemonic} {insn.op_str}'.strip(), insn.mnemonic)


# --- x86-64 ----------------------------------------------------------------------------------


class X86Reader:
    """In optimised code rbp is a register like any other: whoever uses it as a frame sets it."""

    def __init__(self, body):
        self.framed = any(
            insn.op_str.startswith('rbp, ') and 'rsp' in insn.op_str for insn in body
        )

    def read(self, insn):
        step = start(insn)
        if not insn.id:
            return step
        step.nontemporal = 'movnt' in insn.mnemonic and 'movntdqa' not in insn.mnemonic
        step.fma = insn.mnemonic.startswith(('vfmadd', 'vfnmadd', 'vfmsub', 'vfnmsub'))
        step.string = insn.mnemonic.startswith(('rep movs', 'rep stos'))
        step.bumps = bump_x86(insn)
        follow_x86(insn, step)
        memory = [(n, op) for n, op in enumerate(insn.operands) if op.type == x86.X86_OP_MEM]
        if memory and not step.string:
            touch_x86(insn, step, *memory[0], self.framed)
        return step


def follow_x86(insn, step):
    """Where it goes, and what address it takes."""
    groups, last = insn.groups, insn.operands[-1] if insn.operands else None
    if not last:
        return
    goes = capstone.CS_GRP_JUMP in groups or capstone.CS_GRP_CALL in groups
    relative = last.type == x86.X86_OP_MEM and last.mem.base == x86.X86_REG_RIP
    there = insn.address + insn.size + last.mem.disp if relative else None
    if goes and last.type == x86.X86_OP_IMM:
        step.call = last.imm if capstone.CS_GRP_CALL in groups else None
        step.jump = None if step.call else last.imm
    elif goes:
        step.slot = there
    elif insn.mnemonic == 'lea' and relative:
        step.refers = there
    elif insn.mnemonic.startswith('mov') and last.type == x86.X86_OP_IMM:
        step.refers = last.imm


def bump_x86(insn):
    """add rax, 8 and the like."""
    operands = insn.operands
    if not operands or operands[0].type != x86.X86_OP_REG:
        return None
    by = {'inc': 1, 'dec': -1}.get(insn.mnemonic)
    if insn.mnemonic in ('add', 'sub') and operands[1].type == x86.X86_OP_IMM:
        by = operands[1].imm if insn.mnemonic == 'add' else -operands[1].imm
    return (operands[0].reg, by) if by else None


def touch_x86(insn, step, position, operand, framed):
    """Loads and stores: Intel's order puts what is written first."""
    memory = operand.mem
    access = Access(operand.size * 8, (memory.base, memory.index, memory.scale), memory.disp)
    if insn.mnemonic.startswith('prefetch'):
        step.prefetch = access
    if insn.mnemonic.startswith(X86_NO_ACCESS) or on_stack_x86(memory, framed):
        return
    if position > 0 or insn.mnemonic.startswith(X86_ONLY_READS):
        step.loads.append(access)
        return
    step.stores.append(access)
    if 'mov' not in insn.mnemonic and 'extract' not in insn.mnemonic:
        step.loads.append(access)  # add [memory], register


def on_stack_x86(memory, framed):
    """Loop counters of unoptimised code; rip: constants."""
    local = framed and memory.base == x86.X86_REG_RBP and memory.disp < 0 and not memory.index
    return local or memory.base in (x86.X86_REG_RSP, x86.X86_REG_RIP)


# --- aarch64 ---------------------------------------------------------------------------------

ARM_BITS = {'q': 128, 'd': 64, 'x': 64, 's': 32, 'w': 32, 'z': SCALABLE_AT_LEAST}
ARM_HALF = (arm.ARM64_VAS_8B, arm.ARM64_VAS_4H, arm.ARM64_VAS_2S, arm.ARM64_VAS_1D)
ARM_STACK = (arm.ARM64_REG_SP, arm.ARM64_REG_X29)


class ArmReader:
    """An address is made by two instructions there, adrp and add: it keeps the first."""

    def __init__(self):
        self.pages = {}

    def read(self, insn):
        step = start(insn)
        if not insn.id:
            return step
        step.nontemporal = insn.mnemonic.startswith(('stnp', 'stnt1'))
        step.fma = insn.mnemonic.startswith(('fml', 'fmad', 'fmsub', 'fnm'))
        self.follow(insn, step)
        memory = [op for op in insn.operands if op.type == arm.ARM64_OP_MEM]
        if memory:
            touch_arm(insn, step, memory[0].mem)
        return step

    def follow(self, insn, step):
        groups, operands = insn.groups, insn.operands
        if capstone.CS_GRP_CALL in groups:
            step.call = operands[-1].imm if insn.mnemonic == 'bl' else None
        elif capstone.CS_GRP_JUMP in groups and operands[-1].type == arm.ARM64_OP_IMM:
            step.jump = operands[-1].imm
        elif insn.mnemonic == 'adr':
            step.refers = operands[1].imm
        elif insn.mnemonic == 'adrp':
            self.pages[operands[0].reg] = operands[1].imm
        elif insn.mnemonic == 'add' and operands[2].type == arm.ARM64_OP_IMM:
            if operands[0].reg == operands[1].reg:
                step.bumps = operands[0].reg, operands[2].imm
            page = self.pages.get(operands[1].reg)
            step.refers = None if page is None else page + operands[2].imm
        elif insn.mnemonic == 'ldr' and operands[-1].type == arm.ARM64_OP_MEM:
            page = self.pages.get(operands[-1].mem.base)
            step.slot = None if page is None else page + operands[-1].mem.disp


def touch_arm(insn, step, memory):
    base = (memory.base, memory.index, 1)
    if insn.writeback and insn.operands[-1].type == arm.ARM64_OP_IMM:
        step.bumps = memory.base, insn.operands[-1].imm
    if insn.mnemonic.startswith('prf'):
        step.prefetch = Access(0, base, memory.disp)
        return
    if memory.base in ARM_STACK or not insn.mnemonic.startswith(('ld', 'st')):
        return
    moved = step.loads if insn.mnemonic.startswith('ld') else step.stores
    offset = memory.disp
    for operand in insn.operands:
        bits = arm_bits(insn, operand)
        if bits:
            step.scalable |= insn.reg_name(operand.reg).startswith('z')
            moved.append(Access(bits, base, offset))
            offset += bits // 8


def arm_bits(insn, operand):
    """Bits of a data register; predicates and the rest have none."""
    if operand.type != arm.ARM64_OP_REG:
        return 0
    if operand.vas and not insn.reg_name(operand.reg).startswith('z'):
        return 64 if operand.vas in ARM_HALF else 128
    return ARM_BITS.get(insn.reg_name(operand.reg)[0], 0)
