// Erases types without moving a line or dropping an import. If only types are erased, columns stay too; enums, parameter
// properties and the like require generated code, which stays on its line: a map contains the original columns.
import { SourceMap } from "node:module";
import amaro from "amaro";
import { transform } from "sucrase";

/** The result of erasing types. */
export type Erased =
	| { readonly kind: "code"; readonly code: string; readonly columns?: OriginalColumns }
	| { readonly kind: "error"; readonly message: string; readonly line?: number; readonly column?: number }
	/** The parser is unusable from now on, and so is this thread. */
	| { readonly kind: "broken"; readonly message: string };

/** Maps a column of the code to the column in its source; lines are the same, and all numbers start at 1. */
export type OriginalColumns = (line: number, column: number) => number;

/** Converts TypeScript to JavaScript. */
export function eraseTypes(source: string): Erased {
	if (source.trim() === "") return { kind: "code", code: source };
	try {
		return { kind: "code", code: amaro.transformSync(source, { mode: "strip-only" }).code };
	} catch (error) {
		const { code, message, startLine, startColumn } = error as Partial<ParseError>;
		if (code === "InvalidSyntax" && startLine !== undefined && startColumn !== undefined)
			return { kind: "error", message: message ?? "", line: startLine, column: startColumn + 1 };
		if (code !== "UnsupportedSyntax")
			return { kind: "broken", message: "The source is nested too deeply to be parsed" };
	}
	try {
		return { kind: "code", code: transform(source, withCode).code, columns: columnsOf(source) };
	} catch (error) {
		const message = error instanceof Error ? error.message : String(error);
		const place = /\((\d+):(\d+)\)\s*$/.exec(message);
		if (place === null) return { kind: "error", message };
		return { kind: "error", message, line: Number(place[1]), column: Number(place[2]) };
	}
}

const withCode: Parameters<typeof transform>[1] = {
	transforms: ["typescript"],
	disableESTransforms: true,
	keepUnusedImports: true,
	preserveDynamicImport: true,
};

/** The map is parsed when the first column is requested: most runs have no errors. */
function columnsOf(source: string): OriginalColumns {
	let read: SourceMap | undefined;
	return (line, column) => {
		const asked = { ...withCode, filePath: "source", sourceMapOptions: { compiledFilename: "code" } };
		read ??= new SourceMap(
			transform(source, asked).sourceMap as unknown as ConstructorParameters<typeof SourceMap>[0],
		);
		const entry = read.findEntry(line - 1, column - 1);
		if (!("originalColumn" in entry) || entry.generatedLine !== line - 1) return column;
		return entry.originalColumn + (column - entry.generatedColumn);
	};
}

/** The parser's error; anything else is a bug. */
interface ParseError {
	readonly code: string;
	readonly message: string;
	readonly startLine: number;
	readonly startColumn: number;
}
