// As much of a browser's document as report.js needs: elements, text, five kinds of selectors.
class Element {
	constructor(tagName, attributes = '', parentNode = null) {
		Object.assign(this, { tagName, parentNode, childNodes: [], hidden: false });
		this.attributes = Object.fromEntries([...attributes.matchAll(/([\w-]+)="([^"]*)"/g)].map(m => [m[1], m[2]]));
	}
	get className() { return this.attributes.class ?? ''; }
	get classList() {
		return { toggle: (name, on) => {
			const others = this.className.split(' ').filter(word => word && word !== name);
			this.attributes.class = (on ? [...others, name] : others).join(' ');
		} };
	}
	getAttribute(name) { return this.attributes[name] ?? null; }
	setAttribute(name, value) { this.attributes[name] = value; }
	removeAttribute(name) { delete this.attributes[name]; }
	get textContent() { return this.childNodes.map(node => node.textContent).join(''); }
	set textContent(text) { this.childNodes = [{ textContent: text }]; }
	get children() { return this.childNodes.filter(node => node instanceof Element); }
	get rows() { return this.children; }
	get cells() { return this.children; }
	get cellIndex() { return this.parentNode.children.indexOf(this); }
	add(nodes, at) {
		for (const node of nodes) {
			const from = node.parentNode?.childNodes ?? [];
			if (from.includes(node)) from.splice(from.indexOf(node), 1);
			node.parentNode = this;
		}
		this.childNodes.splice(at, 0, ...nodes);
	}
	append(...nodes) { this.add(nodes, Infinity); }
	prepend(...nodes) { this.add(nodes, 0); }
	all() { return this.children.flatMap(one => [one, ...one.all()]); }
	matches(selector) { // tag, .class, #id; 'outer > inner', 'outer inner'
		const [last, ...before] = selector.trim().split(/\s+(?:>\s+)?/).reverse();
		const [, id, name, tag] = last.match(/^(?:#([\w-]+)|\.(\w+)|(\w+))$/);
		const is = id ? this.attributes.id === id
			: name ? this.className.split(' ').includes(name) : this.tagName === tag;
		const holds = one => one && (one.matches(before[0]) || holds(one.parentNode));
		return is && (!before.length || Boolean(selector.includes('>')
			? this.parentNode?.matches(before[0]) : holds(this.parentNode)));
	}
	querySelectorAll(text) {
		return this.all().filter(one => text.split(',').some(part => one.matches(part)));
	}
	querySelector(text) { return this.querySelectorAll(text)[0] ?? null; }
	set innerHTML(html) {
		let at = this;
		for (const [, close, tag, more, own, text] of html.matchAll(
			/<(\/?)([a-z]\w*)((?:\s[^<>]*?)?)(\/?)>|([^<]+)|<![^>]*>/gi)) {
			if (text !== undefined) at.append({ textContent: text });
			else if (close) at = at.parentNode;
			else if (tag) {
				const made = new Element(tag, more);
				at.append(made);
				if (!own && !['meta', 'input'].includes(tag)) at = made;
				if (tag === 'input' || tag === 'select') made.value = '';
			}
		}
	}
}
class Option extends Element {
	constructor(text, value) { super('option'); this.append({ textContent: text }); this.value = value; }
}
const document = new Element('document');
document.createElement = tag => new Element(tag);
const addEventListener = (name, act) => { document[`on${name}`] = act; };
