// A stream of server-sent events ends at `data: [DONE]`, even if the service sends more.

const mark = "data: [DONE]";

/** Returns a `fetch` whose streamed responses end at their mark. */
export function untilDone(inner: typeof fetch = fetch): typeof fetch {
	return async (input, init) => {
		const response = await inner(input, init);
		const type = response.headers.get("content-type") ?? "";
		if (response.body === null || !type.includes("text/event-stream")) return response;
		const { status, statusText, headers } = response;
		return new Response(response.body.pipeThrough(cutAtMark()), { status, statusText, headers });
	};
}

function cutAtMark(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
	const decoder = new TextDecoder();
	const encoder = new TextEncoder();
	/** The start of a line that may be the mark. */
	let line = "";
	return new TransformStream({
		transform(chunk, controller) {
			const text = line + decoder.decode(chunk, { stream: true });
			const at = text.startsWith(mark) ? 0 : text.indexOf(`\n${mark}`) + 1;
			if (at > 0 || text.startsWith(mark)) {
				controller.enqueue(encoder.encode(`${text.slice(0, at)}${mark}\n\n`));
				controller.terminate();
				return;
			}
			const start = text.lastIndexOf("\n") + 1;
			const last = text.slice(start);
			line = mark.startsWith(last) ? last : "";
			const out = line === "" ? text : text.slice(0, start);
			if (out !== "") controller.enqueue(encoder.encode(out));
		},
		flush(controller) {
			if (line !== "") controller.enqueue(encoder.encode(line));
		},
	});
}
