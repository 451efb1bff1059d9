// Text that was typed and not sent. It survives a change of the view, a reload, and an unavailable server.
import { useRef, useState } from "preact/hooks";

const prefix = "holdfast.inspector.draft.";

function read(name: string): string {
	try {
		return sessionStorage.getItem(prefix + name) ?? "";
	} catch {
		return "";
	}
}

/**
 * Returns the draft of a field, a function that changes it, and one that removes it once it was sent. An empty text
 * removes it. A draft that was changed since it was sent stays.
 */
export function useDraft(
	name: string,
): readonly [text: string, set: (text: string) => void, sent: (text: string) => void] {
	const [text, setText] = useState(() => read(name));
	const current = useRef(text);
	const set = (next: string): void => {
		current.current = next;
		setText(next);
		try {
			if (next === "") sessionStorage.removeItem(prefix + name);
			else sessionStorage.setItem(prefix + name, next);
		} catch {
			// Without storage, the draft lasts as long as its field.
		}
	};
	return [
		text,
		set,
		(sent) => {
			if (current.current === sent) set("");
		},
	];
}
