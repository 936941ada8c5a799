"""ReFrame's JUnit file: of its first session alone, and with two words, failed and not failed.

Each case gets the verdict that the table has: that of all rounds, and KNOWN and XPASS as well.
"""

import xml.etree.ElementTree as ET

from membw.errors import MembwError
from membw.run import rows, summary
from membw.run.judge import judge, measures

# child of a <testcase>; of what was not measured ReFrame's own stays
CHILD = {'PASS': None, 'KNOWN': 'skipped', 'XPASS': 'failure', 'FAIL': 'failure',
         'INVALID': 'failure'}  # fmt: skip


def tell_verdicts(report, path):
    """KNOWN becomes <skipped> with its message, as pytest writes it; XPASS says what it is.

    ReFrame writes one <testsuite> per run and one <testcase> per case, in the order of its report;
    what further rounds added to the report has none.
    """
    report = summary.load(report)
    runs = [run['testcases'] for run in report['runs']]
    try:
        # ReFrame 4.10 writes 'utf8', a name that expat does not know
        tree = ET.parse(path, ET.XMLParser(encoding='utf-8'))
    except (OSError, ET.ParseError) as err:
        raise MembwError(f"cannot read '{path}': {err}") from err
    suites = list(tree.getroot().iter('testsuite'))
    in_rounds = len(runs) > len(suites)
    final = {rows.key(case): case for case in rows.of_report(report)} if in_rounds else {}
    for suite, cases in zip(suites, runs):
        for node, case in zip(suite.iter('testcase'), cases, strict=True):
            if measures(case):
                tell(node, final.get(rows.key(case), case))
        for name, child in (('failures', 'failure'), ('skipped', 'skipped')):
            count = len(suite.findall(f'testcase/{child}'))
            if count or suite.get(name):
                suite.set(name, str(count))
    tree.write(path, encoding='utf-8', xml_declaration=True)


def tell(node, case):
    """The one child of a <testcase> that says its verdict."""
    word, why = judge(case)
    if word not in CHILD:
        return
    kept = node.find('failure')
    for name in ('failure', 'skipped'):
        for child in node.findall(name):
            node.remove(child)
    if CHILD[word] == 'failure' and word != 'XPASS' and kept is not None:
        node.append(kept)  # ReFrame's, with all of its text
        kept.set('message', f'{word}: {why}')
    elif CHILD[word]:
        ET.SubElement(node, CHILD[word], type=word, message=f'{word}: {why}')
