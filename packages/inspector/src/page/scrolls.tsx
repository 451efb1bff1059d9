// A scrollable area.
import type { ComponentChildren, JSX } from "preact";

/** A scrollable area with a name, reachable by keyboard. */
export function Scrolls(props: {
	readonly label: string;
	readonly class: string;
	readonly children: ComponentChildren;
}): JSX.Element {
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys
		<section class={props.class} tabIndex={0} aria-label={props.label}>
			{props.children}
		</section>
	);
}
