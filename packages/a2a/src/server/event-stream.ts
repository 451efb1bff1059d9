// Server-sent events of a call, written as they arrive.

/** How to write events and failures. */
export interface EventFormat<Event> {
	shown(event: Event): string;
	failed(error: unknown): string;
}

/** Converts events to bytes; the next one is read when there is room for it. `gone` is aborted when the reader leaves. */
export function eventStream<Event>(
	events: AsyncGenerator<Event, void, undefined>,
	gone: AbortController,
	{ shown, failed }: EventFormat<Event>,
): ReadableStream<Uint8Array> {
	const encoder = new TextEncoder();
	let isLeft = false;
	return new ReadableStream({
		async pull(controller) {
			try {
				const { done, value } = await events.next();
				if (isLeft) return;
				if (done === true) controller.close();
				else controller.enqueue(encoder.encode(shown(value)));
			} catch (error) {
				if (isLeft) return;
				controller.enqueue(encoder.encode(failed(error)));
				controller.close();
			}
		},
		cancel() {
			isLeft = true;
			gone.abort("gone");
			void events.return();
		},
	});
}
