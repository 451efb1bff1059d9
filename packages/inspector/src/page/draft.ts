// Text that was typed and not sent. It survives a change of the view, a reload, and an unavailable server.
import { useState } from "preact/hooks";

const prefix = "holdfast.inspector.draft.";

function read(name: string): string {
	try {
		return sessionStorage.getItem(prefix + name) ?? "";
	} catch {
		return "";
	}
}

/** Returns the draft of a field, and a function that changes it; an empty text removes it. */
export function useDraft(name: string): readonly [text: string, set: (text: string) => void] {
	const [text, setText] = useState(() => read(name));
	return [
		text,
		(next) => {
			setText(next);
			try {
				if (next === "") sessionStorage.removeItem(prefix + name);
				else sessionStorage.setItem(prefix + name, next);
			} catch {
				// Without storage, the draft lasts as long as its field.
			}
		},
	];
}
