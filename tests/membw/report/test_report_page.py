"""The report in a headless Chromium: it opens, it is whole, it can be used, on a phone too."""

import base64
import json
import re
import shutil

import fleet_generator as fleets
import pair_records
import pytest
import synthetic_run

from membw.report import inputs, page, sections

# Chromium starts in a second; each test opens its page anew
PHONE = 390
NODES = 1000
SLOW, FAST = (3, 40, 500), 700


@pytest.fixture(scope='module')
def pages(tmp_path_factory):
    """{'run': path, 'fleet': path}: a page of a run with its history, and one of a fleet."""
    folder = tmp_path_factory.mktemp('pages')
    results = synthetic_run.folder(folder / 'results', nights=4)
    fleet = fleets.healthy(NODES, 1)
    fleets.slow(fleet, SLOW, 0.08)
    fleet.rates[FAST] *= 1.5
    file = fleets.write(fleets.records(fleet), folder / 'fleet.jsonl')
    made = {
        'run': sections.build(inputs.gather([results])),
        'fleet': sections.build(inputs.gather([file]), 'n[00001-01001]'),
        'pairs': sections.build(inputs.gather([pair_records.folder(folder / 'pairs')])),
    }
    for name, report in made.items():
        (folder / f'{name}.html').write_text(page.render(report), encoding='utf-8')
    return {name: folder / f'{name}.html' for name in made}


@pytest.fixture(scope='module')
def chromium():
    binary = shutil.which('chromium') or shutil.which('google-chrome')
    driver = shutil.which('chromedriver') or '/usr/lib/chromium-browser/chromedriver'
    if not binary or not shutil.which(driver):
        pytest.skip('no chromium with chromedriver (apt-get install chromium chromium-driver)')
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for word in ('--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'):
        options.add_argument(word)
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'})
    browser = webdriver.Chrome(options=options, service=Service(driver))
    yield browser
    browser.quit()


@pytest.fixture
def visit(chromium, pages):
    """visit('run', width=390, dark=True): the browser, on a page of which every chart is drawn."""

    def go(name, width=1280, dark=False, whole=True):
        scheme = [{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}]
        chromium.execute_cdp_cmd('Emulation.setEmulatedMedia', {'media': '', 'features': scheme})
        resize(chromium, width, 900)
        chromium.get(pages[name].as_uri())
        if chromium.execute_script(FORGET):
            chromium.refresh()
        if whole:
            chromium.execute_script("document.querySelector('.folded')?.setAttribute('open', '')")
            resize(chromium, width, 30_000)  # all charts come near at once
            wait(chromium, ALL_DRAWN)
            resize(chromium, width, 900)
        return chromium

    yield go
    chromium.execute_cdp_cmd('Emulation.setScriptExecutionDisabled', {'value': False})


# what an earlier visit left, if any
FORGET = 'const kept = localStorage.length; localStorage.clear(); return kept'
ALL_DRAWN = "return [...document.querySelectorAll('.live')].every((e) => e.dataset.drawn)"


def resize(browser, width, height):
    metrics = {'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': width < 500}
    browser.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', metrics)


def wait(browser, script, *args):
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, 30, 0.05).until(lambda b: b.execute_script(script, *args))


def keys(browser, *names):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    for name in names:
        ActionChains(browser).send_keys(getattr(Keys, name, name)).perform()


def column(browser, table, at):
    script = 'return [...document.querySelector(arguments[0]).tBodies[0].rows]'
    script += '.filter((r) => !r.hidden).map((r) => r.cells[arguments[1]].textContent.trim())'
    return browser.execute_script(script, table, at)


def click(browser, selector):
    browser.execute_script('document.querySelector(arguments[0]).click()', selector)


# it opens, whole, alone


@pytest.mark.parametrize('name', ('run', 'fleet'))
def test_it_opens_without_a_word_on_the_console_and_without_any_request(visit, pages, name):
    browser = visit(name)
    assert [e for e in browser.get_log('browser')] == []
    messages = [json.loads(e['message'])['message'] for e in browser.get_log('performance')]
    asked = [m['params']['request']['url'] for m in messages
             if m['method'] == 'Network.requestWillBeSent']  # fmt: skip
    assert asked, 'the log of requests holds not even the page'
    others = {url for url in asked if not url.startswith(('data:', 'blob:'))}
    assert others == {pages[name].as_uri()}


@pytest.mark.parametrize(
    'name, least, marks', (('run', 10, 'path[aria-roledescription]'), ('fleet', 1, 'canvas, path'))
)
def test_every_figure_is_drawn_with_its_marks(visit, name, least, marks):
    browser = visit(name)
    figures = browser.execute_script(
        """return [...document.querySelectorAll('figure')].map((f) => {
        const live = f.querySelector('.live'), box = live.getBoundingClientRect();
        return { id: f.id, failed: f.classList.contains('failed'), width: box.width,
          height: box.height, marks: live.querySelectorAll(arguments[0]).length,
          caption: f.querySelector('figcaption')?.textContent ?? '',
          section: f.closest('section').id,
          said: live.querySelector('[aria-label]')?.getAttribute('aria-label') };
        })""",
        marks,
    )
    assert len(figures) >= least
    for figure in figures:
        assert not figure['failed'], figure
        assert figure['width'] > 300 and figure['height'] > 100, figure
        assert figure['marks'] >= 1, figure
    said = [(figure['section'], figure['caption']) for figure in figures if figure['caption']]
    assert len(set(said)) == len(said)  # once a section is enough
    assert {section for section, _ in said} == {figure['section'] for figure in figures}
    assert all(text.startswith('How to read: ') for _, text in said)


def test_a_picture_that_is_not_drawn_yet_stands_there_as_on_paper(visit):
    """Thumbnails, mail previews and `chromium --screenshot` showed blank places."""
    browser = visit('run', whole=False)
    last = "const f = [...document.querySelectorAll('figure')].filter((f) => f.checkVisibility())"
    shown = browser.execute_script(
        f"{last}.pop(); return [f.classList.contains('drawn'), "
        "f.querySelector('.paper').getBoundingClientRect().height > 100]"
    )
    assert shown == [False, True]


def test_the_verdict_comes_first(visit):
    browser = visit('run', whole=False)
    seen = browser.execute_script(
        "const box = document.querySelector('.verdict').getBoundingClientRect();"
        'return [box.bottom < innerHeight, document.title]'
    )
    assert seen == [True, 'FAIL · Memory bandwidth of synthetic']


# it can be used


def test_a_table_is_sorted_by_a_click_both_ways(visit):
    browser = visit('run', whole=False)
    head = '#bandwidth > .scroll thead th:nth-child(7) button'
    assert (
        browser.execute_script(f"return document.querySelector('{head}').textContent") == 'Triad'
    )
    for order in (1, -1):
        click(browser, head)
        found = [float(t) for t in column(browser, '#bandwidth > .scroll table', 6) if t != '-']
        assert len(found) == 15 and found == sorted(found)[::order]
    said = "return document.querySelector('#bandwidth th:nth-child(7)').getAttribute('aria-sort')"
    assert browser.execute_script(said) == 'descending'


def test_a_filter_leaves_the_rows_with_all_its_words(visit):
    browser = visit('run', whole=False)
    browser.find_element('css selector', '#bandwidth .row-filter').send_keys('icx-nt pass')
    assert column(browser, '#bandwidth > .scroll table', 0) == ['icx-nt'] * 4
    assert browser.find_element('css selector', '#bandwidth output').text == '4 of 16'


def dialog(browser):
    return browser.execute_script(
        "const d = document.getElementById('whence'); return d.open ? d.innerText : ''"
    )


def test_a_click_on_a_figure_shows_its_provenance_and_escape_closes_it(visit):
    browser = visit('run', whole=False)
    link = browser.find_elements('css selector', '#bandwidth td.number a.whence')[5]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", link)
    link.click()
    assert 'binary sha256' in dialog(browser) and 'bbbb-' in dialog(browser)
    keys(browser, 'ESCAPE')
    assert dialog(browser) == ''


def test_a_click_on_a_mark_of_a_chart_shows_its_provenance(visit):
    browser = visit('run')
    marks = '#numa path[aria-roledescription="point"]'
    mark = browser.find_elements('css selector', marks)[0]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", mark)
    mark.click()
    assert 'numa_scan' in dialog(browser)


def test_the_theme_is_toggled_and_remembered(visit):
    browser = visit('run')
    paper = "return getComputedStyle(document.querySelector('#bandwidth')).backgroundColor"
    drawn = "return document.querySelector('.live').dataset.drawn.split(' ')[0]"
    light = browser.execute_script(paper)
    assert browser.execute_script(drawn) == 'light'
    browser.find_element('id', 'theme').click()
    dark = browser.execute_script(paper)
    assert dark != light
    wait(browser, drawn + " === 'dark'")
    browser.refresh()
    assert browser.execute_script(paper) == dark
    assert browser.find_element('id', 'theme').text.endswith('light')


def test_it_is_dark_where_the_system_is_dark(visit):
    browser = visit('run', dark=True)
    back = "return getComputedStyle(document.querySelector('#bandwidth')).backgroundColor"
    assert browser.execute_script(back) == 'rgb(22, 27, 34)'
    assert (
        browser.execute_script("return document.querySelector('.live').dataset.drawn")[:4]
        == 'dark'
    )


def test_nodes_are_found_by_name_by_verdict_and_page_by_page(visit):
    browser = visit('fleet', whole=False)
    slow = [fleets.name(n) for n in SLOW]
    assert sorted(column(browser, '#node-table', 0)[:3]) == slow
    assert column(browser, '#node-table', 0)[3] == fleets.name(FAST)
    assert column(browser, '#node-table', 1)[2:4] == ['✕ FAIL', '△ SUSPECT']
    count = browser.find_element('id', 'node-count')
    assert count.text == '1 to 50 of 1,001'
    click(browser, '#node-next')
    assert count.text == '51 to 100 of 1,001' and len(column(browser, '#node-table', 0)) == 50
    browser.execute_script(
        "const s = document.getElementById('node-verdict'); s.value = 'FAIL';"
        "s.dispatchEvent(new Event('change'))"
    )
    assert sorted(column(browser, '#node-table', 0)) == slow
    browser.find_element('id', 'node-query').send_keys('00501')
    assert column(browser, '#node-table', 0) == ['n00501']
    browser.find_element('css selector', '#node-table tbody a').click()
    assert 'Synthetic 9000' in dialog(browser) and 'fleet.jsonl' in dialog(browser)


def test_the_ranking_follows_kernel_and_order(visit):
    browser = visit('fleet')
    drawn = "return document.querySelector('.live').dataset.drawn === arguments[0]"
    click(browser, '[name=kernel][value=copy]')
    wait(browser, drawn, 'light place copy')
    click(browser, '[name=order][value=name]')
    wait(browser, drawn, 'light name copy')
    assert browser.get_log('browser') == []


def test_it_is_used_by_keyboard_alone(visit):
    """Tab reaches everything that can be used, the focus is seen, and it opens, sorts, closes."""
    browser = visit('run', whole=False)
    usable = (
        "return [...document.querySelectorAll('a[href], button, input, select, summary, "
        '[tabindex="0"]\')].filter((e) => e.tabIndex >= 0 && e.checkVisibility()).length'
    )
    here = """const e = document.activeElement, s = getComputedStyle(e);
        return [e.tagName, e.textContent.trim().slice(0, 40), s.outlineStyle, s.outlineWidth,
                e.closest('table') !== null && e.tagName === 'BUTTON']"""
    reached, sorted_by = [], None
    for _ in range(browser.execute_script(usable)):
        keys(browser, 'TAB')
        tag, text, style, width, head = browser.execute_script(here)
        assert tag != 'BODY' and style != 'none' and float(width[:-2]) >= 2, (tag, text)
        reached.append((tag, text))
        if head and text == 'Triad' and sorted_by is None:
            keys(browser, 'ENTER')
            sorted_by = [t for t in column(browser, '#bandwidth > .scroll table', 6) if t != '-']
    assert sorted_by == sorted(sorted_by, key=float) and len(sorted_by) == 15
    assert reached[0] == ('A', 'to the summary')
    assert any(tag == 'BUTTON' and 'dark' in text for tag, text in reached)
    assert any(tag == 'SUMMARY' for tag, _ in reached)
    browser.execute_script("document.querySelector('#bandwidth a.whence').focus()")
    keys(browser, 'ENTER')
    assert 'binary sha256' in dialog(browser)
    keys(browser, 'ENTER')  # the button that closes it has the focus
    assert dialog(browser) == ''
    assert browser.execute_script(here)[0] == 'A'


# on a phone, on paper, without JavaScript


@pytest.mark.parametrize('width', (PHONE, 320))
@pytest.mark.parametrize('name', ('run', 'fleet'))
def test_a_phone_shows_it_without_sideways_scrolling(visit, name, width):
    browser = visit(name, width=width)
    assert browser.execute_script('return innerWidth') == width
    wide = browser.execute_script(
        "return [...document.querySelectorAll('main *')].filter((e) => !e.closest('.scroll, svg')"
        '&& e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 90))'
    )
    assert wide == []
    assert browser.execute_script('return document.documentElement.scrollWidth') <= width
    table = {'run': '#bandwidth > .scroll table', 'fleet': '#node-table'}[name]
    verdict = f"return document.querySelector('{table} .badge').getBoundingClientRect().right"
    assert browser.execute_script(verdict) <= width  # and the verdict without scrolling either


def test_a_phone_shows_the_whole_legend_of_a_picture(visit):
    """Vega cuts off what is wider than the picture."""
    browser = visit('pairs', width=PHONE)
    room = browser.execute_script(
        """return [...document.querySelectorAll('.live svg')].flatMap((svg) =>
        [...svg.querySelectorAll('.role-legend text')].map((text) =>
          svg.getBoundingClientRect().right - text.getBoundingClientRect().right))"""
    )
    assert len(room) > 10 and min(room) > -1


def test_on_paper_stand_the_figures_in_light_colours(visit):
    browser = visit('run', dark=True)
    browser.execute_cdp_cmd('Emulation.setEmulatedMedia', {'media': 'print'})
    shown = browser.execute_script(
        """const all = (s) => [...document.querySelectorAll(s)];
        const seen = (s) => all(s).filter((e) => e.checkVisibility());
        return [seen('figure').length, seen('.paper svg').length, seen('.live').length,
                seen('nav, #theme, input').length,
                getComputedStyle(document.querySelector('h2')).color]"""
    )
    assert shown[0] == shown[1] >= 10 and shown[2:4] == [0, 0]
    assert shown[4] == 'rgb(27, 31, 36)'
    pdf = base64.b64decode(browser.print_page())
    assert pdf.startswith(b'%PDF') and len(re.findall(rb'/Type\s*/Page\b', pdf)) >= 2


def test_without_javascript_the_figures_and_the_worst_nodes_are_there(visit, chromium, pages):
    chromium.execute_cdp_cmd('Emulation.setScriptExecutionDisabled', {'value': True})
    chromium.get(pages['fleet'].as_uri())
    source = chromium.find_elements('css selector', '.paper svg')
    assert len(source) == 1 and source[0].is_displayed()
    rows = chromium.find_elements('css selector', '#node-table tbody th')
    assert len(rows) == page.FIRST_NODES
    assert not chromium.find_element('css selector', '.controls').is_displayed()
