"""ReFrame's JUnit file has two words, failed and not failed: expected failures are added."""

import xml.etree.ElementTree as ET

from membw.errors import MembwError
from membw.run import summary
from membw.run.judge import judge, marked


def tell_expected(report, path):
    """KNOWN becomes <skipped> with its message, as pytest writes it; XPASS says what it is.

    ReFrame writes one <testcase> per case, in the order of its report.
    """
    runs = [run['testcases'] for run in summary.load(report)['runs']]
    if not any(marked(case) for cases in runs for case in cases):
        return
    try:
        tree = ET.parse(path)
    except (OSError, ET.ParseError) as err:
        raise MembwError(f"cannot read '{path}': {err}") from err
    for suite, cases in zip(tree.getroot().iter('testsuite'), runs, strict=True):
        for node, case in zip(suite.iter('testcase'), cases, strict=True):
            if marked(case):
                mark(suite, node, case)
    tree.write(path, encoding='utf-8', xml_declaration=True)


def mark(suite, node, case):
    word, why = judge(case)
    if word == 'KNOWN':
        suite.set('skipped', str(int(suite.get('skipped', 0)) + 1))
        ET.SubElement(node, 'skipped', type=word, message=f'{word}: {why}')
    else:
        node.find('failure').set('message', f'{word}: {why}')
