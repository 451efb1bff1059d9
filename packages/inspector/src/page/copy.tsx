// A button that copies a text, and a command with such a button.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

export function Copy(props: {
	readonly text: string | (() => string | Promise<string>);
	readonly label?: string;
	readonly name?: string;
}): JSX.Element {
	const { text, label = "Copy", name = label } = props;
	const [state, setState] = useState<"ready" | "copied" | "failed">("ready");
	useEffect(() => {
		if (state === "ready") return;
		const timer = setTimeout(() => setState("ready"), 1_600);
		return () => clearTimeout(timer);
	}, [state]);
	return (
		<button
			type="button"
			class="small"
			aria-label={name}
			onClick={async () => {
				try {
					await navigator.clipboard.writeText(typeof text === "string" ? text : await text());
					setState("copied");
				} catch {
					setState("failed");
				}
			}}
		>
			<span aria-live="polite">
				{state === "copied" ? "Copied" : state === "failed" ? "Not allowed" : label}
			</span>
		</button>
	);
}

export function Command({ text, name }: { readonly text: string; readonly name: string }): JSX.Element {
	return (
		<div class="command">
			<pre>{text}</pre>
			<Copy text={text} name={name} />
		</div>
	);
}
