import type { UIMessage } from "ai";
import { getToolName, isToolUIPart } from "ai";

interface Decision {
	readonly id: string;
	readonly approved: boolean;
}

/** A part of a message: text, or a tool call with its input and output. */
export function Part({
	part,
	onDecision,
}: {
	readonly part: UIMessage["parts"][number];
	readonly onDecision: (decision: Decision) => unknown;
}) {
	if (part.type === "text") return <p>{part.text}</p>;
	if (!isToolUIPart(part)) return null;
	const name = getToolName(part);
	if (part.state === "approval-requested") {
		const decide = (approved: boolean) => () => onDecision({ id: part.approval.id, approved });
		return (
			<div className="tool">
				May <code>{name}</code> run with <code>{JSON.stringify(part.input)}</code>?
				<button type="button" onClick={decide(true)}>
					Yes
				</button>
				<button type="button" onClick={decide(false)}>
					No
				</button>
			</div>
		);
	}
	return (
		<details className="tool">
			<summary>
				{name}: {part.state === "output-available" ? "done" : part.state.replaceAll("-", " ")}
			</summary>
			<pre>{JSON.stringify(part.state === "output-available" ? part.output : part.input, null, 2)}</pre>
		</details>
	);
}
