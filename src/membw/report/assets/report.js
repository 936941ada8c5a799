'use strict';
// Sorts and filters the long tables; the page is whole without it.
for (const box of document.querySelectorAll('.find')) {
	const body = box.querySelector('tbody'), rows = [...body.rows];
	const text = row => row.textContent.toLowerCase();
	const words = [...new Set(rows.map(row => row.querySelector('.badge')?.textContent ?? ''))];
	const tools = document.createElement('p');
	tools.innerHTML = '<label>Find <input type="search"></label> ' +
		'<label>verdict <select><option value="">all</option></select></label> <output></output>';
	const [find, verdict, count] = tools.querySelectorAll('input, select, output');
	verdict.append(...words.filter(Boolean).map(word => new Option(word, word)));
	const show = () => {
		const names = new Set();
		for (const row of rows) {
			const word = row.querySelector('.badge')?.textContent;
			row.hidden = !text(row).includes(find.value.trim().toLowerCase()) ||
				Boolean(verdict.value) && word !== verdict.value;
			if (!row.hidden) names.add(row.cells[0].textContent);
		}
		const shown = rows.filter(row => !row.hidden).length;
		count.textContent = `${shown} of ${rows.length} rows`;
		for (const title of document.querySelectorAll('g > title')) // the same nodes in the pictures
			title.parentNode.classList.toggle('hit', shown < rows.length &&
				names.has(title.textContent.split(':')[0]));
	};
	tools.oninput = show;
	box.prepend(tools);
	show();
	for (const head of box.querySelectorAll('th')) {
		const key = row => row.cells[head.cellIndex].textContent.trim();
		const number = row => parseFloat(key(row).replace(/^[≥≤~] /, ''));
		const button = document.createElement('button');
		button.append(...head.childNodes);
		head.append(button);
		button.onclick = () => {
			const up = head.getAttribute('aria-sort') !== 'ascending' ? 1 : -1;
			const by = head.className === 'number'
				? (a, b) => (isNaN(number(a)) - isNaN(number(b))) || up * (number(a) - number(b))
				: (a, b) => up * key(a).localeCompare(key(b), 'en', { numeric: true });
			for (const other of box.querySelectorAll('th')) other.removeAttribute('aria-sort');
			head.setAttribute('aria-sort', up > 0 ? 'ascending' : 'descending');
			body.append(...rows.sort((a, b) => by(a, b) || 0));
		};
	}
}
// browsers that cannot open them by style
addEventListener('beforeprint', () => {
	for (const fold of document.querySelectorAll('#provenance details')) fold.open = true;
});
