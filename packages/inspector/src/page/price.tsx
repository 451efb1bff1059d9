// A cost, or the note that it is unknown, with a hint on what to do about it.
import type { JSX } from "preact";
import { formatCost } from "./format.ts";

const hint =
	'The model has no price. Add one to the agent: prices: { "MODEL": { input: 3, output: 15 } }, in US dollars per million tokens.';

export function Price({ cost, unpriced }: { readonly cost: number; readonly unpriced: number }): JSX.Element {
	if (unpriced === 0) return <>{formatCost(cost)}</>;
	return (
		<span class="unpriced" title={hint}>
			{cost === 0 ? "unknown" : `${formatCost(cost)}+`}
		</span>
	);
}
