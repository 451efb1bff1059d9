// A scrollable area.
import type { ComponentChildren, JSX } from "preact";

/**
 * An element with a role that HTML has no fitting element for: rows of a virtual list are placed by their offset, which
 * `<tr>` cannot be, and a group that scrolls is no landmark of the page.
 */
export function Box({ as, ...rest }: { readonly as: string } & JSX.IntrinsicElements["div"]): JSX.Element {
	return <div role={as as "table"} {...rest} />;
}

/** A scrollable area with a name, reachable by keyboard. */
export function Scrolls(props: {
	readonly label: string;
	readonly class: string;
	readonly children: ComponentChildren;
}): JSX.Element {
	return (
		<Box as="group" class={props.class} tabIndex={0} aria-label={props.label}>
			{props.children}
		</Box>
	);
}
