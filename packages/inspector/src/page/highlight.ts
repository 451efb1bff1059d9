// Highlights code. A file of its own that is loaded with the first code that is shown.
import { common, createLowlight } from "lowlight";

const lowlight = createLowlight(common);

/** A piece of code: text, or pieces with a class. */
export type Piece = string | { readonly class: string; readonly pieces: readonly Piece[] };

/** Returns the pieces of code; undefined if the language is not known. */
export function highlight(code: string, language: string): readonly Piece[] | undefined {
	if (!lowlight.registered(language)) return undefined;
	return piecesOf(lowlight.highlight(language, code).children);
}

function piecesOf(nodes: ReturnType<typeof lowlight.highlight>["children"]): readonly Piece[] {
	return nodes.flatMap((node): readonly Piece[] => {
		if (node.type === "text") return [node.value];
		if (node.type !== "element") return [];
		const { className } = node.properties;
		const names = Array.isArray(className) ? className.join(" ") : "";
		return [{ class: names, pieces: piecesOf(node.children as typeof nodes) }];
	});
}
