"""Rounds: every program once, close together, so that what changes slowly cancels in the ratio."""

import os
import random
import statistics
import subprocess
import time

from membw.bench import interference as bench_weather
from membw.bench.programs import PINNING_VARIABLES
from membw.errors import MembwError

# a run that something disturbed is repeated at once, so often
TRIES = 2
LIMIT_S = 900
# of many variants, those that after so many rounds are so far behind the best need no more of them
PRUNE_AFTER = 2
PRUNE_BELOW = 0.85


def measure(programs, cpus, rounds, seconds, say):
    """List of rounds: {'programs': {name: rates}, 'disturbed': [..], 'failed': {..}, ..}.

    A program that crashes or does not validate is not run again.  A round in which a program
    stayed disturbed is repeated, at most as many rounds again in all.
    """
    rounds_done, begun, programs = [], time.monotonic(), list(programs)
    while programs and enough(rounds_done) < rounds and len(rounds_done) < 2 * rounds:
        if seconds and len(rounds_done) >= 2 and time.monotonic() - begun > seconds:
            say(f'{seconds} s are over after {len(rounds_done)} rounds')
            break
        number = len(rounds_done) + 1
        rounds_done.append(one_round(ordered(programs, number), cpus, number, rounds, say))
        programs = [p for p in programs if p.name in rounds_done[-1]['programs']]
        if number == PRUNE_AFTER:
            programs = prune(programs, rounds_done)
    return rounds_done


def enough(rounds):
    return sum(not r['disturbed'] for r in rounds)


def ordered(programs, number):
    """A new order each round, but the same for each run: none is always after the same one.

    Programs of one compile line stay together: they are compared with each other.
    """
    groups = {}
    for program in programs:
        groups.setdefault(program.line or program.name, []).append(program)
    shuffler = random.Random(number)
    order = list(groups.values())
    shuffler.shuffle(order)
    return [program for group in order for program in shuffler.sample(group, len(group))]


def in_turn(part, starts, rounds, say, seconds=None, is_known=lambda name, rounds: False):
    """[{name: what its start returned}] of each round; none is always after the same one.

    A name that `is_known`, by all rounds so far, is in no further one; after `seconds` nothing
    begins any more but for two rounds.
    """
    done, begun = [], time.monotonic()
    for number in range(rounds):
        first = number % len(starts)
        results = {}
        for name in [*list(starts)[first:], *list(starts)[:first]]:
            if seconds and len(done) >= 2 and time.monotonic() - begun > seconds:
                break
            if is_known(name, done):
                continue
            say(f'{part}, round {number + 1} of {rounds}: {name}', passing=True)
            results[name] = starts[name]()
        if not results:
            break
        say(f'{part}, round {number + 1} of {rounds}: {len(results)} done')
        done.append(results)
    return done


def one_round(programs, cpus, number, rounds, say):
    begun, results, disturbed, failed = time.monotonic(), {}, [], {}
    for program in programs:
        say(f'round {number} of {rounds}: {program.name}', passing=True)
        try:
            results[program.name], share = undisturbed(program, cpus)
        except MembwError as err:
            failed[program.name] = str(err)
            say(f'left out from here on: {err}')
            continue
        if bench_weather.is_disturbed(share):
            disturbed.append(f'{program.name} ({share:.0%})')
    took = time.monotonic() - begun
    more = f' and {len(disturbed) - 2} more' if len(disturbed) > 2 else ''
    spoilt = f'; disturbed, to be repeated: {"; ".join(disturbed[:2])}{more}' if disturbed else ''
    say(f'round {number} of {rounds}: {len(programs)} programs in {took:.0f} s{spoilt}')
    return {
        'programs': results,
        'disturbed': disturbed,
        'failed': failed,
        'seconds': round(took, 1),
    }


def undisturbed(program, cpus):
    """(rates, others' share of the CPUs) of the least disturbed of up to TRIES runs."""
    runs = []
    for _ in range(TRIES):
        before = bench_weather.read(cpus)
        text = run(program)
        share = bench_weather.share_of_others(before, bench_weather.read(cpus), cpus)
        runs.append((share, len(runs), program.parse(text)))
        if not bench_weather.is_disturbed(share):
            break
    share, _, rates = min(runs)
    return rates, share


def run(program):
    """Its standard output; our program says by exit status 1 that it finds itself INVALID."""
    env = {k: v for k, v in os.environ.items() if k not in PINNING_VARIABLES}
    try:
        done = subprocess.run(
            program.words,
            env={**env, **program.env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as err:
        raise MembwError(
            f"'{program.name}' does not run: {err}", "'--only' leaves it out"
        ) from err
    if done.returncode not in (0, 1):
        said = (done.stderr.strip() or done.stdout.strip() or 'nothing').splitlines()[-1]
        raise MembwError(f"'{program.name}' ended with exit status {done.returncode}: {said}")
    return done.stdout


def prune(programs, rounds):
    """Drop variants of likwid-bench that are far behind the best of their kernel."""

    def level(program):
        kernel = next(iter(rounds[0]['programs'][program.name]))
        values = [r['programs'][program.name][kernel]['mean_mbs'] for r in rounds]
        return kernel, statistics.median(values)

    levels = {p.name: level(p) for p in programs if p.part == 'likwid'}
    best = {}
    for program in programs:
        if program.name in levels:
            kernel, value = levels[program.name]
            key = kernel, program.nontemporal
            best[key] = max(value, best.get(key, 0))
    return [
        p
        for p in programs
        if p.name not in levels
        or levels[p.name][1] >= PRUNE_BELOW * best[levels[p.name][0], p.nontemporal]
    ]
