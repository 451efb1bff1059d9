// Masked secrets in what the server shows. The mask itself must never be sent: a model would receive it as text.

const mask = /\[REDACTED:[\w-]+\]/;
const allMasks = new RegExp(mask, "g");

/** Whether a text or value contains a masked secret. */
export function hasMask(value: unknown): boolean {
	return mask.test(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
}

/** Why a changed text cannot be sent; undefined if it can. */
export function maskProblem(value: unknown): string | undefined {
	if (!hasMask(value)) return undefined;
	return "It contains a masked secret, such as [REDACTED:key]. Replace the mask, or undo the change to send the original.";
}

/** Quotes text for a shell. Masks become variables that the reader must set, so that they are never sent as text. */
export function shellText(text: string): string {
	let count = 0;
	const quoted = text.replaceAll("'", "'\\''");
	return `'${quoted.replaceAll(allMasks, () => `'"\${SECRET_${++count}:?is masked, set it}"'`)}'`;
}
