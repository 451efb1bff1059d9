// Converts the sources of a run to JavaScript, with column maps if columns changed.
import { eraseTypes, type OriginalColumns } from "./erase-types.ts";
import { type Failure, linkFailure } from "./failure.ts";
import type { RunOrder } from "./protocol.ts";

/** The converted sources by name. */
interface Read {
	readonly sources: Map<string, string>;
	readonly columns: Map<string, OriginalColumns | undefined>;
}

/** Fills `into` until a source fails or the run must stop. `isBroken`: the eraser itself failed. */
export function readSources(
	{ filename, source, modules, language }: RunOrder,
	{ sources, columns }: Read,
	isStopRequested: () => boolean,
): { readonly failure?: Failure; readonly isBroken: boolean } {
	for (const [name, text] of [...modules, [filename, source] as const]) {
		if (isStopRequested()) break;
		columns.set(name, undefined);
		if (language === "javascript") {
			sources.set(name, text);
			continue;
		}
		const erased = eraseTypes(text);
		if (erased.kind === "code") {
			sources.set(name, erased.code);
			columns.set(name, erased.columns);
			continue;
		}
		const place = erased.kind === "error" ? { line: erased.line, column: erased.column } : {};
		const failure = linkFailure("SyntaxError", erased.message, name, place);
		return { failure, isBroken: erased.kind === "broken" };
	}
	return { isBroken: false };
}
