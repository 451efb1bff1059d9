// The entry point of streams: the events of a model's answer, and the stream that carries them.

export { EventStream } from "./event-stream.ts";
export type { StreamDelta, StreamEvent, StreamEventType } from "./stream-event.ts";
