// Code with highlighting and a button that copies it. The highlighter is loaded with the first code that is shown.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Copy } from "./copy.tsx";
import type { Piece } from "./highlight.ts";
import { Scrolls } from "./scrolls.tsx";

/** Longer code is shown without colours, so that it does not block the page. */
const mostCharacters = 40_000;

type Highlight = (code: string, language: string) => readonly Piece[] | undefined;
let highlight: Highlight | undefined;
let loading: Promise<void> | undefined;

function load(): Promise<void> {
	loading ??= import("./highlight.ts").then(
		(module) => {
			highlight = module.highlight;
		},
		() => {
			// The server was unavailable: the next code block tries again.
			loading = undefined;
		},
	);
	return loading;
}

/** Code in its colours. */
export function Highlighted({
	code,
	language,
}: {
	readonly code: string;
	readonly language: string;
}): JSX.Element {
	const [, loaded] = useState(false);
	const isPlain = language === "" || code.length > mostCharacters;
	useEffect(() => {
		if (isPlain || highlight !== undefined) return;
		let isOver = false;
		void load().then(() => {
			if (!isOver) loaded(true);
		});
		return () => {
			isOver = true;
		};
	}, [isPlain]);
	const pieces = isPlain ? undefined : highlight?.(code, language.toLowerCase());
	return <code>{pieces === undefined ? code : pieces.map(drawn)}</code>;
}

function drawn(piece: Piece, index: number): ComponentChildren {
	if (typeof piece === "string") return piece;
	return (
		<span key={index} class={piece.class}>
			{piece.pieces.map(drawn)}
		</span>
	);
}

/** A block of code. */
export function Code(props: {
	readonly code: string;
	readonly language: string;
	readonly label?: string;
}): JSX.Element {
	const { code, language, label = "Code" } = props;
	return (
		<div class="code">
			<div class="code-head">
				<span>{language}</span>
				<Copy text={code} name={`Copy: ${label}`} />
			</div>
			<Scrolls class="code-body" label={label}>
				<pre>
					<Highlighted code={code} language={language} />
				</pre>
			</Scrolls>
		</div>
	);
}
