// --- nodes of the fleet: the points of the ranking, the table, and what stands behind a node

const fleet = report.fleet;
const PAGE = 50;
const nodes = fleet.nodes.map(([name, verdict, group, rates, reason, file, time, traits, z, q]) => {
	const median = (fleet.groups[group] || { median: {} }).median;
	const ratios = fleet.kernels.map((k, i) => {
		if (!rates[i] || !median[k]) return null;
		return (fleet.lower[i] ? median[k] / rates[i] : rates[i] / median[k]) - 1; // below 0 is slower
	});
	const known = ratios.filter((ratio) => ratio !== null);
	return { name, verdict, group, rates, reason, file, time, traits, z, q, ratios, low: known.length ? Math.min(...known) : null };
});
kernel = ($('#by-kernel input:checked') || {}).value || fleet.kernels[fleet.kernels.length - 1];

function rankPoints(group, by, order, width) {
	const at = fleet.kernels.indexOf(by);
	const members = nodes.filter((node) => node.group === group && node.ratios[at] !== null);
	const named = [...members].sort((a, b) => compare(a.name, b.name));
	const places = new Map(named.map((node, i) => [node, i + 1]));
	members.sort((a, b) => a.ratios[at] - b.ratios[at]);
	return label(members.map((node, i) => {
		const percent = 100 * node.ratios[at];
		const low = node.verdict === 'PASS' && percent < -fleet.margin;
		return {
			n: node.name, place: i + 1, name: places.get(node), g: node.rates[at], l: '',
			p: Math.round(percent * 1000) / 1000, v: low ? fleet.low : node.verdict,
		};
	}), order, width);
}

function label(points, order, width) { // the slowest by name, where there is room
	const log = order === 'place' && points.length > fleet.many;
	const taken = [];
	const level = fleet.higher_up * (points.at(-1).p - points[0].p);
	for (const point of points.filter((p) => p.v === 'FAIL' || p.v === 'SUSPECT')) {
		const share = log ? Math.log(point.place) / Math.log(points.length) : point[order] / points.length;
		const x = share * width;
		const near = taken.filter((other) => Math.abs(other.x - x) < fleet.apart
			&& Math.abs(other.point.p - point.p) <= level).pop();
		if (near) {
			near.names.push(point.n);
			near.point.l = near.names.slice(0, 3).join(' ') + (near.names.length > 3 ? ' …' : '');
		} else if (taken.length < fleet.named) {
			taken.push({ x, point, names: [point.n] });
			point.l = point.n;
		}
	}
	return points;
}

for (const input of $$('#by-kernel input, #by-order input')) {
	input.addEventListener('change', () => {
		if (input.name === 'kernel') kernel = input.value;
		else variant = input.value;
		for (const place of drawn.keys()) if (report.charts[place.dataset.chart].group) draw(place);
	});
}

function tellOfNode(name) {
	const of = nodes.filter((node) => node.name === name);
	const known = {};
	of.forEach((node, i) => {
		const label = of.length > 1 ? ` (${i + 1})` : '';
		known[`verdict${label}`] = [node.verdict, node.reason].filter(Boolean).join(': ');
		fleet.kernels.forEach((k, at) => {
			const ratio = node.ratios[at] === null ? '' : `, ${(100 * node.ratios[at]).toFixed(2)} % to the median of group ${node.group}`;
			if (node.rates[at]) known[k + label] = `${node.rates[at]} ${fleet.units[at]}${ratio}`;
		});
		if (node.file === undefined) return;
		known[`measured${label}`] = new Date(node.time * 1000).toISOString();
		known[`record${label}`] = fleet.files[node.file];
		known[`sure${label}`] = `z ${node.z}, q ${node.q}`;
		for (const [trait, value] of Object.entries(fleet.traits[node.traits])) known[trait.replaceAll('_', ' ') + label] = value;
	});
	if (of.length) tell(name, known);
}

if ($('#node-table')) {
	// the filter lists the verdicts, worst first, each with its sign
	const SIGNS = Object.fromEntries([...$('#node-verdict').options].map((o) => [o.value, o.dataset.sign]));
	const RANK = Object.keys(SIGNS);
	const keys = {
		name: (node) => node.name, group: (node) => node.group || null, low: (node) => node.low,
		verdict: (node) => RANK.indexOf(node.verdict), reason: (node) => node.reason || null,
	};
	const rowOf = new Map();
	let shown = [];
	let first = 0;

	function row(node) {
		const made = document.createElement('tr');
		const name = element('th', '');
		name.scope = 'row';
		name.append(whence(node, node.name));
		const rates = node.rates.map((gbs) => number(gbs ? whence(node, gbs.toFixed(1), -1) : '-'));
		const low = number(node.low === null ? '-' : `${(100 * node.low).toFixed(1)} %`);
		const verdict = element('td', '');
		verdict.append(badge(node.verdict));
		made.append(name, verdict, number(node.group || '-'), ...rates, low, element('td', node.reason));
		return made;
	}

	function number(content) {
		const cell = element('td', '', 'number');
		cell.append(content);
		return cell;
	}

	function whence(node, text, tab = 0) {
		const link = element('a', text, 'whence');
		Object.assign(link, { href: '#node-table', tabIndex: tab });
		Object.assign(link.dataset, { whence: '', node: node.name });
		return link;
	}

	function badge(word) {
		const made = element('span', '', `badge ${word.toLowerCase()}`);
		const sign = element('span', SIGNS[word]);
		sign.setAttribute('aria-hidden', 'true');
		made.append(sign, ` ${word}`);
		return made;
	}

	function show() {
		const page = shown.slice(first, first + PAGE);
		for (const node of page) if (!rowOf.has(node)) rowOf.set(node, row(node));
		$('#node-table').tBodies[0].replaceChildren(...page.map((node) => rowOf.get(node)));
		$('#node-count').textContent = shown.length
			? `${first + 1} to ${first + page.length} of ${shown.length.toLocaleString('en')}` : 'none';
		$('#node-back').disabled = first === 0;
		$('#node-next').disabled = first + PAGE >= shown.length;
	}

	function filter() {
		const word = $('#node-query').value.trim().toLowerCase();
		const verdict = $('#node-verdict').value;
		shown = nodes.filter((node) => (!verdict || node.verdict === verdict)
			&& (node.name.toLowerCase().includes(word) || node.reason.toLowerCase().includes(word)));
		first = 0;
		show();
	}

	for (const button of $$('#node-table thead button')) {
		button.addEventListener('click', () => {
			const by = button.dataset.sort;
			const key = keys[by] || ((node) => node.rates[by]);
			const order = turn(button.closest('th'));
			nodes.sort((a, b) => {
				const [x, y] = [key(a), key(b)];
				return x === null || y === null ? compare(x, y) : order * compare(x, y);
			});
			filter();
		});
	}
	$('#node-query').addEventListener('input', filter);
	$('#node-verdict').addEventListener('change', filter);
	$('#node-back').addEventListener('click', () => { first -= PAGE; show(); });
	$('#node-next').addEventListener('click', () => { first += PAGE; show(); });
	nodes.sort((a, b) => keys.verdict(a) - keys.verdict(b) || compare(a.low, b.low));
	filter();
}

showTheme();
for (const place of $$('.live')) near.observe(place);
