// Removes registered secrets from deltas: text that arrives in pieces is held while it may be the start of a secret, and
// released when it is not, or when its source has ended. Pieces are joined only with those of the same text.
import type { Redactor } from "@holdfast/redaction";
import type { Delta, DeltaSource, DeltaStage } from "holdfast/middleware";

/** A text in progress, and its last delta, which is replaced by the held text. */
interface Text {
	readonly source: string;
	readonly stream: ReturnType<Redactor["stream"]>;
	/** Returns the delta with another piece. */
	last: (piece: string) => Delta;
}

/** A position in a delta that contains a piece of a text. */
interface Piece {
	readonly key: string;
	readonly text: string;
	with(piece: string): unknown;
}

type Data = Readonly<Record<string, unknown>>;

const model = "model";
/** The fields that identify the text that a piece belongs to. */
const identity = ["type", "runId", "step", "tag", "index", "toolCallId"] as const;

/** Returns a stage that masks registered secrets. */
export function maskedDeltas(redactor: Redactor): DeltaStage {
	const texts = new Map<string, Text>();

	const released = (delta: Delta, source: string): readonly Delta[] => {
		const piece = pieceOf(delta as unknown as Data, "");
		if (piece === undefined) {
			const ended = blockEnd(delta);
			return [
				...(ended === undefined
					? []
					: flushed((text, key) => text.source === source && key.startsWith(ended))),
				masked(delta),
			];
		}
		const key = `${source} ${piece.key}`;
		let text = texts.get(key);
		if (text === undefined) {
			text = { source, stream: redactor.stream({ only: "secrets" }), last: () => delta };
			texts.set(key, text);
		}
		text.last = (shown) => masked(piece.with(shown) as Delta);
		const shown = text.stream.push(piece.text);
		return shown === "" && piece.text !== "" ? [] : [text.last(shown)];
	};

	const masked = (delta: Delta): Delta => {
		if (delta.type === "tool_delta") return delta;
		return { ...delta, event: redactor.maskSecrets(delta.event) } as Delta;
	};

	const flushed = (isEnded: (text: Text, key: string) => boolean): Delta[] => {
		const rest: Delta[] = [];
		for (const [key, text] of texts) {
			if (!isEnded(text, key)) continue;
			texts.delete(key);
			const shown = text.stream.flush();
			if (shown !== "") rest.push(text.last(shown));
		}
		return rest;
	};

	return {
		push: (delta) => released(delta, delta.type === "model" ? model : delta.toolCallId),
		flush: (source: DeltaSource) => {
			const ended = "model" in source ? model : source.toolCallId;
			return flushed((text) => text.source === ended);
		},
	};
}

/** Returns the common key prefix of a block of the model's answer that ends with this delta. */
function blockEnd(delta: Delta): string | undefined {
	if (delta.type !== "model" || delta.event.type !== "content_block_stop") return undefined;
	return `${model} ${keyOf({ ...delta } as unknown as Data)}|${delta.event.index}|`;
}

/** Returns the piece in a delta or in an event, which may be nested in others. */
function pieceOf(event: Data, before: string): Piece | undefined {
	const key = `${before}${keyOf(event)}|`;
	const { delta, event: inner } = event;
	if (typeof delta === "string") return { key, text: delta, with: (piece) => ({ ...event, delta: piece }) };
	if (isData(delta))
		for (const name of ["text", "argumentsJson"]) {
			const text = delta[name];
			if (typeof text === "string")
				return {
					key: `${before}${String(event.index)}|${String(event.type)}|${name}`,
					text,
					with: (piece) => ({ ...event, delta: { ...delta, [name]: piece } }),
				};
		}
	if (!isData(inner)) return undefined;
	const below = pieceOf(inner, key);
	return below === undefined
		? undefined
		: { ...below, with: (piece) => ({ ...event, event: below.with(piece) }) };
}

function keyOf(event: Data): string {
	return identity.map((name) => String(event[name] ?? "")).join(",");
}

function isData(value: unknown): value is Data {
	return typeof value === "object" && value !== null;
}
