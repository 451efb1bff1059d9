// The requests to models in order, each with its input and its answer.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { EntryDetails } from "./entry-details.tsx";
import { formatTime, summary } from "./format.ts";
import { useKeys } from "./keyboard.ts";
import type { SessionStore } from "./session-store.ts";
import { VirtualList } from "./virtual-list.tsx";

/** Returns the beginning of an answer: its text, otherwise the tools that it called. */
function saidIn(message: unknown): string {
	const { content = [], toolCalls = [] } = (message ?? {}) as {
		content?: readonly { readonly type: string; readonly text?: string }[];
		toolCalls?: readonly { readonly toolName: string }[];
	};
	const text = content.map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
	if (text.trim() !== "") return summary(text, 60);
	return toolCalls.length === 0 ? "" : `calls ${toolCalls.map(({ toolName }) => toolName).join(", ")}`;
}

export function StepsTab({ store }: { readonly store: SessionStore }): JSX.Element {
	void store.version.value;
	const answers = store.entries.filter(({ kind }) => kind === "assistant");
	const [chosen, choose] = useState<number | undefined>(undefined);
	const seq = chosen ?? answers.at(-1)?.seq;
	const index = answers.findIndex((each) => each.seq === seq);
	const move = (by: number): void =>
		choose(answers[Math.max(0, Math.min(answers.length - 1, index + by))]?.seq);
	useKeys({ j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1) });
	if (seq === undefined) return <p class="empty">No model has answered yet.</p>;
	return (
		<div class="split">
			<VirtualList
				label="Requests"
				class="steps"
				count={answers.length}
				lineHeight={44}
				version={`${answers.length} ${seq}`}
				keyOf={(at) => answers[at]?.seq ?? at}
				current={index}
				line={(at) => {
					const each = answers[at];
					return each === undefined ? null : (
						<button
							type="button"
							class="step"
							aria-pressed={each.seq === seq}
							onClick={() => choose(each.seq)}
						>
							<span>
								step {String(each.body.step)} · {String(each.body.modelId)}
							</span>
							<time class="quiet">{formatTime(each.at)}</time>
							<span class="quiet step-said">{saidIn(each.body.message)}</span>
						</button>
					);
				}}
			/>
			<EntryDetails store={store} seq={seq} />
		</div>
	);
}
