// Reads server-sent events in tests: plainly, a record at a time.

/** A record as it came. */
export interface Received {
	readonly id: string;
	readonly event: { readonly type: string; readonly [member: string]: unknown };
}

/** A reader of one response. */
export interface SseReader {
	/** The next record; undefined at the end. Heartbeats are counted and passed over. */
	next(): Promise<Received | undefined>;
	/** All that is left. */
	rest(): Promise<readonly Received[]>;
	/** Closes the connection. */
	close(): Promise<void>;
	readonly heartbeats: number;
}

/** Reads a response's body. */
export function readSse(response: Response): SseReader {
	if (response.body === null) throw new Error("The response has no body.");
	const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
	let text = "";
	let heartbeats = 0;
	const next = async (): Promise<Received | undefined> => {
		for (;;) {
			const end = text.indexOf("\n\n");
			if (end < 0) {
				const { done, value } = await reader.read();
				if (done) {
					if (text !== "") throw new Error(`The stream ended inside a record: ${text}`);
					return undefined;
				}
				text += value;
				continue;
			}
			const record = text.slice(0, end);
			text = text.slice(end + 2);
			if (record === ": ping") {
				heartbeats++;
				continue;
			}
			const [, id, data] = /^id: (\S+)\ndata: (.*)$/.exec(record) ?? [];
			if (id === undefined || data === undefined) throw new Error(`This is no record: ${record}`);
			return { id, event: JSON.parse(data) };
		}
	};
	return {
		next,
		async rest() {
			const all: Received[] = [];
			for (let one = await next(); one !== undefined; one = await next()) all.push(one);
			return all;
		},
		close: () => reader.cancel(),
		get heartbeats() {
			return heartbeats;
		},
	};
}

/** Waits until something holds, for at most twenty seconds. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
	const deadline = performance.now() + 20_000;
	while (!(await holds())) {
		if (performance.now() > deadline) throw new Error(`It never came true: ${what}.`);
		await new Promise((resolve) => setTimeout(resolve, 2));
	}
}
