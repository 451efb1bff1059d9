// A text in which the words of a search are marked.
import type { JSX } from "preact";

export function Marked({ text, words }: { readonly text: string; readonly words: string }): JSX.Element {
	const all = words.split(/\s+/).filter((word) => word !== "");
	if (all.length === 0) return <>{text}</>;
	const pattern = all.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
	return (
		<>
			{text
				.split(new RegExp(`(${pattern})`, "gi"))
				.map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part))}
		</>
	);
}
