// The page's own script, a module: the charts' library before it has names of its own.
const report = JSON.parse(document.getElementById('report-data').textContent);
const $ = (selector, from = document) => from.querySelector(selector);
const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];

// --- light and dark: the reader's choice, else the system's

const system = matchMedia('(prefers-color-scheme: dark)');
const root = document.documentElement;
const theme = () => root.dataset.theme || (system.matches ? 'dark' : 'light');

function showTheme() {
	const other = theme() === 'dark' ? 'light' : 'dark';
	$('#theme').textContent = `${other === 'dark' ? '☾' : '☀'} ${other}`;
	$('#theme').setAttribute('aria-label', `change to ${other} colours`);
	redraw();
}

$('#theme').addEventListener('click', () => {
	root.dataset.theme = theme() === 'dark' ? 'light' : 'dark';
	try { localStorage.setItem('membw-theme', root.dataset.theme); } catch (e) { /* private mode */ }
	showTheme();
});
system.addEventListener('change', showTheme);

function paint(part, colors) {
	if (typeof part === 'string') return part[0] === '@' ? colors[part.slice(1)] ?? part : part;
	if (Array.isArray(part)) return part.map((item) => paint(item, colors));
	if (part === null || typeof part !== 'object') return part;
	return Object.fromEntries(Object.entries(part).map(([key, item]) => [key, paint(item, colors)]));
}

// --- charts: drawn when they come near, and again when colours or the question change; until
// then, and in pictures of the page that nobody scrolls, those for paper stand in their places

const drawn = new Map(); // element -> what Vega gave
let variant = 'place';
let kernel = '';

function chartOf(place) {
	const { group, charts } = report.charts[place.dataset.chart];
	const chart = { ...(charts[variant] || charts.only), width: 'container' };
	return group ? { ...chart, datasets: { nodes: rankPoints(group, kernel, variant, place.clientWidth) } } : chart;
}

const waiting = new Map(); // element -> the drawing under way, so that two never mix

function draw(place) {
	const next = (waiting.get(place) || Promise.resolve()).then(() => drawNow(place));
	waiting.set(place, next);
	return next;
}

async function drawNow(place) {
	const colors = report.themes[theme()];
	const chart = chartOf(place);
	const many = chart.datasets && chart.datasets.nodes.length > 1500;
	try {
		const result = await vegaEmbed(place, paint(chart, colors), {
			actions: false, renderer: many ? 'canvas' : 'svg', config: paint(report.config, colors),
			tooltip: { theme: theme() },
		});
		if (drawn.has(place)) drawn.get(place).finalize();
		drawn.set(place, result);
		result.view.addEventListener('click', (event, item) => item && item.datum && tellOfMark(item.datum));
		place.dataset.drawn = `${theme()} ${variant} ${kernel}`;
		place.closest('figure').classList.add('drawn'); // what was there for paper goes
	} catch (problem) {
		place.closest('figure').classList.add('failed');
		console.error(`the chart ${place.dataset.chart} cannot be drawn:`, problem);
	}
}

function redraw() {
	for (const place of drawn.keys()) draw(place);
}

const near = new IntersectionObserver((entries) => {
	for (const entry of entries.filter((e) => e.isIntersecting)) {
		near.unobserve(entry.target);
		draw(entry.target);
	}
}, { rootMargin: '800px' });

// --- provenance: a click on a figure or on a mark

function tell(title, known) {
	$('#whence-title').textContent = title;
	$('#whence dl').replaceChildren(...Object.entries(known).map(([name, text]) => {
		const line = document.createElement('div');
		line.append(element('dt', name), element('dd', text));
		return line;
	}));
	$('#whence').showModal();
}

function element(tag, text, classes = '') {
	const made = document.createElement(tag);
	made.textContent = text;
	if (classes) made.className = classes;
	return made;
}

function tellOf(id, more = {}) {
	const known = report.provenance[id];
	if (known) tell(`${known['display name'] || id} ${known.environ || known.nights || ''}`, { ...more, ...known });
}

function tellOfMark(datum) {
	const time = datum.t ? { at: new Date(datum.t).toLocaleString(), 'GB/s': datum.g } : {};
	if (datum.provenance) tellOf(datum.provenance, time);
	else if (datum.n) tellOfNode(datum.n);
}

document.addEventListener('click', (event) => {
	const link = event.target.closest('[data-whence]');
	if (!link) return;
	event.preventDefault();
	if (link.dataset.node) tellOfNode(link.dataset.node);
	else tellOf(link.dataset.whence);
});
$('#whence').addEventListener('click', (event) => {
	if (event.target === $('#whence')) $('#whence').close(); // outside of what it holds
});

// --- tables: sorted by a button in each head, filtered by words

function compare(a, b) {
	if (a === null || b === null) return (a === null) - (b === null);
	if (typeof a === 'number' && typeof b === 'number') return a - b;
	return String(a).localeCompare(String(b), 'en', { numeric: true });
}

function turn(head) { // the next order of a column: 1 or -1
	const down = head.getAttribute('aria-sort') === 'ascending';
	for (const other of $$('th', head.parentNode)) other.removeAttribute('aria-sort');
	head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
	return down ? -1 : 1;
}

const cellKey = (row, column) => {
	const key = row.cells[column].dataset.key;
	return key !== '' && !isNaN(key) ? Number(key) : key;
};

for (const head of $$('table.sortable thead th')) {
	head.firstElementChild.addEventListener('click', () => {
		const order = turn(head);
		const body = head.closest('table').tBodies[0];
		const at = head.cellIndex;
		body.append(...[...body.rows].sort((a, b) => order * compare(cellKey(a, at), cellKey(b, at))));
	});
}

for (const input of $$('.row-filter')) {
	input.addEventListener('input', () => {
		const rows = [...$('tbody', input.closest('.filter').nextElementSibling).rows];
		const words = input.value.toLowerCase().split(/\s+/);
		for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
		$('output', input.closest('.filter')).textContent =
			`${rows.filter((row) => !row.hidden).length} of ${rows.length}`;
	});
}
