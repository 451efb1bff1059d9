// Content of messages as attribute text, masked and shortened. Absent unless requested.
import { createRedactor } from "@holdfast/redaction";
import { cutText } from "@holdfast/upp";

/** The content of runs that is reported. */
export interface ContentOptions {
	/** Values that are masked wherever they occur. Use secrets of 8 characters or more. */
	readonly secrets?: readonly string[] | undefined;
	/** Longer texts are cut after this many characters, with a mark. Default 4,000. */
	readonly maxTextLength?: number | undefined;
	/** Called with data that is already masked, to mask more of it. Must not throw. */
	readonly mask?: ((data: unknown) => unknown) | undefined;
}

/** Maximum number of levels of data included. */
const deepest = 20;
/** Maximum number of members of an array or object included. */
const most = 1_000;

export class Content {
	readonly #redact: (data: unknown) => unknown;
	readonly #longest: number;

	constructor({ secrets = [], maxTextLength = 4_000, mask = (data) => data }: ContentOptions) {
		const redactor = createRedactor({ secrets });
		this.#redact = (data) => mask(redactor.redact(data));
		this.#longest = maxTextLength;
	}

	/** Masked before it is cut, so that no half of a secret remains. */
	masked(data: unknown): unknown {
		return shortened(this.#redact(data), this.#longest, deepest);
	}

	/** Serialises a value as JSON; reports a value that JSON cannot express. */
	json(data: unknown): string {
		try {
			return JSON.stringify(this.masked(data)) ?? "null";
		} catch {
			return '"[not JSON]"';
		}
	}
}

function shortened(data: unknown, longest: number, levels: number): unknown {
	if (typeof data === "string") return shortText(data, longest);
	if (typeof data === "bigint") return String(data);
	if (typeof data !== "object" || data === null) return data;
	if (data instanceof Uint8Array) return `[${data.byteLength} bytes]`;
	if (levels === 0) return "[nested deeper]";
	if (Array.isArray(data)) return data.slice(0, most).map((each) => shortened(each, longest, levels - 1));
	if (typeof (data as { toJSON?: unknown }).toJSON === "function") return shortText(String(data), longest);
	return Object.fromEntries(
		Object.entries(data)
			.slice(0, most)
			.map(([name, value]) => [shortText(name, longest), shortened(value, longest, levels - 1)]),
	);
}

function shortText(text: string, longest: number): string {
	if (text.length <= longest) return text;
	const shown = cutText(text, longest);
	return `${shown}… (${text.length - shown.length} more characters)`;
}
