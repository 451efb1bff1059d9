// The values that a thread stores.
import type { JSX } from "preact";
import { publicPath } from "./acts.ts";
import { useAnswer } from "./entry-details.tsx";
import { Value } from "./parts.tsx";
import { Scrolls } from "./scrolls.tsx";
import type { SessionStore } from "./session-store.ts";

export function ValuesTab({ store }: { readonly store: SessionStore }): JSX.Element {
	const look = store.version.value;
	const { value, problem } = useAnswer<{ readonly values: Readonly<Record<string, unknown>> }>(
		publicPath(store.sessionId, "/kv"),
		look,
	);
	if (problem !== undefined) return <p class="notice is-error">{problem}</p>;
	if (value === undefined) return <p class="empty">Reading…</p>;
	const values = Object.entries(value.values);
	if (values.length === 0) return <p class="empty">No values yet. Tools write them with setValue.</p>;
	return (
		<Scrolls class="scrolls" label="Values">
			<dl class="values">
				{values.map(([key, kept]) => (
					<div key={key}>
						<dt>
							<code>{key}</code>
						</dt>
						<dd>
							<Value of={kept} label={`Value of ${key}`} />
						</dd>
					</div>
				))}
			</dl>
		</Scrolls>
	);
}
