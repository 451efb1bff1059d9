// Measures and cuts a value of the guest inside the worker: the memory that the host will require, and pieces that the
// host reads one at a time, so that no value blocks its event loop. Takes linear time.

/** The measured memory of a node on the host in bytes, by the letter of the guest's marshaller. */
const nodeBytes: Readonly<Record<string, number>> = {
	__proto__: null as never,
	...{ a: 32, b: 40, B: 150, d: 110, e: 1024, m: 200, o: 56, r: 230, s: 32, S: 170, t: 150, w: 32 },
};
const tokenBytes = 8;
/** Bytes of an element, a key or a value, and of a string's header. */
const entryBytes = 24;
const [quote, comma, open, openBrace, close, closeBrace, backslash] = [34, 44, 91, 123, 93, 125, 92];
/** Nesting levels of the wire format: its outer object, the list of nodes, a node. */
const [inWire, inNodes, inNode] = [1, 2, 3];

/** A value ready to be sent. */
export interface Pieces {
	/** The pieces; the last one may be the only one. */
	readonly texts: readonly string[];
	/** Approximate bytes that the host requires to hold the value. */
	readonly size: number;
}

/** Cuts the text of a value, `{"r":…,"n":[…]}`, into pieces of about this many characters, and measures it. */
export function piecesOf(text: string, pieceLength: number = 128 * 1024): Pieces {
	const texts: string[] = [];
	let [size, level, start, before] = [text.length, 0, 0, ""];
	let isWide = false;
	const cut = (at: number, after: string, next: string, skipped: number): void => {
		texts.push(before + text.slice(start, at) + after);
		[start, before] = [at + skipped, next];
	};
	for (let at = 0; at < text.length; at++) {
		const code = text.charCodeAt(at);
		const isDue = at - start >= pieceLength;
		if (code === quote) {
			size += entryBytes;
			let from = at;
			for (at++; text.charCodeAt(at) !== quote && at < text.length; at++) {
				const inside = text.charCodeAt(at);
				isWide ||= inside > 255;
				if (inside === backslash) at += text[at + 1] === "u" ? 5 : 1;
				if (at - Math.max(start, from) < pieceLength || (level !== inNode && level !== inWire)) continue;
				from = at + 1;
				if (level === inNode) cut(from, '"]]}', '{"n":[["*","', 0);
				else cut(from, '","n":[]}', '{"*":"', 0);
			}
		} else if (code === comma) {
			size += entryBytes;
			if (!isDue) continue;
			if (level === inNodes) cut(at, "]}", '{"n":[', 1);
			else if (level === inNode) cut(at, "]]}", '{"n":[["+",', 1);
		} else if (code === open || code === openBrace) {
			level++;
			if (level < inNode) continue;
			const kind = text[at + 2] ?? "";
			size += nodeBytes[kind] ?? tokenBytes;
			// An array without elements takes its full length.
			if (kind === "s" && level === inNode)
				size += 8 * (Number.parseInt(text.slice(at + 5, at + 20), 10) || 0);
		} else if (code === close || code === closeBrace) level--;
	}
	texts.push(before + text.slice(start));
	return { texts, size: isWide ? size + text.length : size };
}
