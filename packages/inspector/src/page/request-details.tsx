// The request behind an answer: whether it is the one that was sent, what fills it, and copies of it.
import type { JSX } from "preact";
import type { ShownStep } from "../wire/index.ts";
import { Copy } from "./copy.tsx";
import { formatCount, formatShare } from "./format.ts";
import { hasMask } from "./masks.ts";
import { Value } from "./parts.tsx";
import { type ContextPart, contextOf, requestCurlOf, verdictOf } from "./request-model.ts";

const verdictNames = { verified: "Verified", differs: "Differs", unknown: "Not verified" } as const;

const partNames: Readonly<Record<ContextPart["name"], string>> = {
	instructions: "instructions",
	tools: "tools",
	user: "messages of the user",
	model: "answers and calls",
	results: "tool results",
};

/** Shows whether the request is what was sent. */
export function RequestVerdict({ of }: { readonly of: ShownStep }): JSX.Element {
	const { state, text } = verdictOf(of);
	return (
		<p class={`verdict verdict-${state}`}>
			<strong>{verdictNames[state]}.</strong> {text}{" "}
			{hasMask(of.request)
				? "Masked secrets such as [REDACTED:key] stand for what was sent."
				: "Nothing in it is masked."}{" "}
			HTTP headers are not recorded.
		</p>
	);
}

/** What fills the request, as a bar and a list. `tokens`: those of the whole request, as the provider counted them. */
export function ContextBar(props: {
	readonly of: ShownStep["request"];
	readonly tokens: number;
}): JSX.Element {
	const { of, tokens } = props;
	const parts = contextOf(of);
	const total = parts.reduce((sum, { characters }) => sum + characters, 0);
	return (
		<section class="context" aria-label="What fills the context">
			<div class="context-bar" aria-hidden="true">
				{parts.map(({ name, characters }) => (
					<span key={name} class={`context-${name}`} style={{ flexGrow: characters }} />
				))}
			</div>
			<ul>
				{parts.map(({ name, count, characters }) => (
					<li key={name}>
						<span class={`context-key context-${name}`} aria-hidden="true" /> {partNames[name]}{" "}
						<span class="quiet">
							{name === "instructions" ? "" : `${formatCount(count)} · `}
							{formatShare(characters, total)}
							{tokens * characters < total
								? ""
								: ` · about ${formatCount(Math.round((tokens * characters) / total))} tokens`}
						</span>
					</li>
				))}
			</ul>
		</section>
	);
}

export function RequestView(props: {
	readonly of: ShownStep | undefined;
	/** Where the request can be tried. */
	readonly tryAt: string | undefined;
}): JSX.Element {
	const { of, tryAt } = props;
	if (of === undefined) return <p class="quiet">Reading…</p>;
	return (
		<>
			<Value of={of.request} label="Request" />
			<p class="acts">
				{tryAt === undefined ? null : <a href={tryAt}>Try it in the playground</a>}
				<Copy text={() => requestCurlOf(of.request)} label="Copy the request as curl" />
			</p>
		</>
	);
}
